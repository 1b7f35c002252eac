"""The page in headless Chromium: judged by keyboard, saved, removed, reloaded; hostile texts stay texts."""

from __future__ import annotations

import argparse
import threading
import time
from contextlib import contextmanager

import pytest
from browser_fixtures import DESK, PHONE, Browser, chromium  # noqa: F401
from web_home import QUERIES, TEXTS, WebHome, make_home

from annotate.web.app import make_app
from annotate.web.judgments import HumanJudgments
from annotate.web.server import listen, make_server
from annotate.web.workbench import Plan, Workbench
from warehouse.cli.common import Job

pytestmark = pytest.mark.browser
TOKEN = "t0ken-of-this-start"
WAIT_SECONDS = 20


@contextmanager
def served(home: WebHome, plan: Plan | None = None):
    """Serve the page on a free port; yield its address."""
    settings, landing = home.settings, home.landing
    bench = Workbench(settings, plan or Plan(tasks=6, overlap=2, seed=7))
    record = Job(landing, settings, "annotate web", argparse.Namespace())
    with listen(0) as bound:
        port = bound.getsockname()[1]
        judgments = HumanJudgments(landing, bench.pool.benchmark, bench.variant, record)
        server = make_server(make_app(bench, judgments, TOKEN, port))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/?token={TOKEN}"
        finally:
            server.should_exit = True
            thread.join(WAIT_SECONDS)


class Desk:
    """The page as an annotator uses it."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.run = browser.run

    def until(self, script: str, *arguments):
        """Wait until an expression is true in the page, and return its value."""
        end = time.monotonic() + WAIT_SECONDS
        while not (value := self.run(f"return {script}", *arguments)):
            assert time.monotonic() < end, f"The page never came to: {script}\n{self.text('body')}"
            time.sleep(0.02)
        return value

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def click(self, selector: str) -> None:
        self.browser.driver.find_element("css selector", selector).click()

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        for key in keys:
            ActionChains(self.browser.driver).send_keys(getattr(Keys, key, key)).perform()
            self.settle()

    def settle(self) -> None:
        """Wait until no request is under way (Remove and Save are off meanwhile)."""
        self.until("document.body.getAttribute('aria-busy') === 'false'")

    def enter(self, name: str) -> None:
        self.until("document.getElementById('names').open")
        self.browser.driver.find_element("id", "name").send_keys(name)
        self.press("ENTER")
        self.until("!document.getElementById('desk').hidden")
        self.settle()

    def open_each(self):
        """Show one task after the other; yield their numbers."""
        for number in range(1, self.run("return document.querySelectorAll('#list button').length") + 1):
            if number > 1:
                self.press("ARROW_RIGHT")
            self.until("document.getElementById('number').textContent === arguments[0]", f"Task {number}")
            self.settle()
            yield number

    @property
    def green(self) -> list[int]:
        script = "return [...document.querySelectorAll('#list button.done')].map(b => +b.textContent)"
        return self.run(script)

    def clean(self) -> None:
        """Check that nothing was blocked, missing or fetched from elsewhere."""
        assert self.browser.console() == []
        assert self.browser.foreign_resources() == []


def show_every_text(desk: Desk) -> str:
    """Return all the texts of all tasks as they stand in the page."""
    return "\n".join(desk.run("return document.getElementById('desk').textContent") for _ in desk.open_each())


def test_judging_by_keyboard_saving_removing_and_reloading(chromium, tmp_path):  # noqa: F811
    home = make_home(tmp_path)
    with served(home) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        assert "token" not in chromium.driver.current_url
        assert desk.text("#done") == "0 of 6 finished"
        desk.press("1")
        assert desk.text("#state") == "not saved"
        assert desk.run("return document.querySelector('[aria-pressed=true]').dataset.verdict") == "first"
        assert home.landing.read("judgments").num_rows == 0
        desk.press("ENTER", "2", "ENTER", "t", "ENTER", "0", "ENTER")
        assert desk.green == [1, 2, 3, 4]
        assert desk.text("#number") == "Task 5"
        colours = desk.run(
            "return [1, 5].map(n => getComputedStyle(document.querySelector(`#list li:nth-child(${n}) button`)))"
            ".map(s => s.color)"
        )
        red, green, blue = (int(part) for part in colours[0].strip("rgb()").split(","))
        assert green > red
        assert green > blue
        assert colours[1] != colours[0]
        verdicts = home.landing.read("judgments")["verdict"].to_pylist()
        assert verdicts == ["first", "second", "tie", "tie"]
        chromium.screenshot("web-desk")
        # Arrows move, and do not judge; the choice that has landed is shown.
        desk.press("ARROW_LEFT", "ARROW_LEFT", "ARROW_LEFT")
        assert (desk.text("#number"), desk.text("#state")) == ("Task 2", "finished: Candidate 2")
        desk.click("#remove")
        desk.until("document.getElementById('confirm').open")
        chromium.screenshot("web-confirm")
        desk.click("#confirm [value=keep]")
        assert desk.green == [1, 2, 3, 4]
        desk.click("#remove")
        desk.until("document.getElementById('confirm').open")
        desk.click("#confirm [value=remove]")
        desk.until("document.getElementById('state').textContent === 'open'")
        assert desk.green == [1, 3, 4]
        # After a click on a tile the keys judge: Enter once opened the tile again.
        desk.click("#list li:nth-child(6) button")
        desk.until("document.getElementById('number').textContent === 'Task 6'")
        desk.press("1", "ENTER")
        assert desk.green == [1, 3, 4, 6]
        chromium.driver.refresh()
        desk.until("document.querySelectorAll('#list .done').length")
        desk.settle()
        assert desk.green == [1, 3, 4, 6]
        assert (desk.text("#annotator"), desk.text("#number")) == ("Ada", "Task 2")
        desk.press("1", "ENTER", "2", "ENTER")
        assert desk.text("#done") == "6 of 6 finished"
        assert "thank you" in desk.text("#message")
        desk.clean()
    rows = home.landing.read("judgments", latest=False).to_pylist()
    landed = " ".join(row["verdict"] for row in rows)
    assert landed == "first second tie tie invalid first first second"
    assert {row["annotator"] for row in rows} == {"Ada"}
    assert len({(row["query_id"], row["first_id"], row["second_id"]) for row in rows}) == 6


def test_a_second_annotator_starts_with_open_tasks(chromium, tmp_path):  # noqa: F811
    with served(make_home(tmp_path)) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        desk.press("1", "ENTER")
        desk.click("#show-names")
        desk.until("document.getElementById('names').open")
        assert desk.run("return [...document.querySelectorAll('#known button')].map(b => b.textContent)") == ["Ada"]
        desk.browser.driver.find_element("id", "name").send_keys("../<b>")
        desk.press("ENTER")
        desk.until("document.getElementById('name-error').textContent.includes('Choose another name')")
        chromium.screenshot("web-names")
        desk.run("document.getElementById('name').value = ''")
        desk.enter("O'Brien")
        desk.until("document.getElementById('annotator').textContent === \"O'Brien\"")
        assert desk.green == []


def test_dollars_that_are_money_or_stray_leave_the_formulas_alone(chromium, tmp_path):  # noqa: F811
    home = make_home(tmp_path, documents=2)
    home.texts["s/q1"] = (
        r"A pen costs \$3, a book \$12: $x=2$ pens cost $\text{\$}6$ \\ in all.",
        r"$\frac{1}{$ is broken, \( is open, $y^2$ is not; $\nosuchmacro+1$ nearly.",
    )
    home.texts["s/q2"] = home.texts["s/q1"]
    with served(home.write()) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        counts = (
            "return [...document.querySelectorAll('#target .passage')].map(t => t.querySelectorAll('.katex').length)"
        )
        assert desk.run(counts) == [2, 2]
        prose = desk.run(
            "return [...document.querySelectorAll('#target .prose')].map(t => {"
            "const copy = t.cloneNode(true); copy.querySelectorAll('.katex').forEach(k => k.replaceWith('#'));"
            "return copy.textContent; })"
        )
        assert prose == [
            r"A pen costs $3, a book $12: # pens cost # \\ in all.",
            r"$\frac{1}{$ is broken, \( is open, # is not; # nearly.",
        ]
        assert "$6" in desk.run("return document.querySelectorAll('#target .katex-html')[1].textContent")
        chromium.screenshot("web-dollars")
        desk.clean()


def test_formulas_are_rendered_in_all_delimiters(chromium, tmp_path):  # noqa: F811
    home = make_home(tmp_path, documents=2)
    home.texts["s/q1"] = (
        r"A $a^2$ b \(b^2\) c $$c^2$$ d \[d^2\] e \begin{align*}e&=2\\f&=3\end{align*} f "
        r"\begin{aligned}x&=\mbox{if}\end{aligned}",
        "[asy]draw(x);[/asy]",
    )
    with served(home.write()) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        shown = {}
        for _ in desk.open_each():
            count = "return ['.katex', '.katex-display', '.figure'].map(s => at.querySelectorAll(s).length)"
            shown[desk.text("#target")[:30]] = desk.run("const at = document.getElementById('target');" + count)
        assert sorted(shown.values()) == [[2, 1, 0], [6, 4, 1]]
        assert desk.run("return document.fonts.check('16px KaTeX_Main')")
        # The source of a formula is read out to nobody: it is MathML.
        assert desk.run("return document.querySelectorAll('#target math').length") > 0
        desk.clean()


HOSTILE = {
    "s/q1": ("<script>window.owned = 1</script>", "<img src=x onerror='window.owned = 1'>"),
    "s/q2": ("{{constructor.constructor('window.owned = 1')()}}", "${window.owned = 1} `${window.owned = 1}`"),
    "s/d00": (
        r"$\href{javascript:window.owned=1}{click}$ $\url{javascript:window.owned=1}$",
        r"$\htmlData{x=1}{y}$ $\htmlStyle{position:fixed}{y}$ $\includegraphics{http://evil.example/x.png}$",
    ),
    "s/d01": (r"\" ' ` \' onmouseover=alert(1) \u0022 &lt;b&gt; $\text{<b>bold</b>}$", "'; drop table judgments; --"),
    "s/d02": (
        "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd $x$",
        "\u0645\u0631\u062d\u0628\u0627 $\\frac{1}{2}$ \u0000\u0007",
    ),
    "s/d03": (
        r"$\def\a{\a\a}\a$ $\rule{9999em}{9999em}$ $\kern-9999em x$ $\raisebox{9999em}{x}$",
        r"$" + "{" * 20_000,
    ),
    "s/d04": ("word " * 20_000 + "END-OF-LONG", "x" * 100_000),
    "s/d05": (r"$\frac{1}{$ $\unknowncommand{3}$ $" + "x+" * 6000 + "1$", r"$\gdef\frac{OWNED}$ and $\frac{3}{4}$"),
}


@pytest.fixture
def hostile(tmp_path) -> WebHome:
    home = make_home(tmp_path, documents=0)
    home.texts = dict(HOSTILE)
    return home.write()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_hostile_texts_stay_texts_and_stay_in_their_place(chromium, hostile, size):  # noqa: F811
    with served(hostile, Plan(30, 0, 7)) as url:
        chromium.open(url, size)
        desk = Desk(chromium)
        desk.enter("Ada")
        everything = []
        for number in desk.open_each():
            everything.append(desk.run("return document.getElementById('desk').textContent"))
            # The buttons are where they were, and nothing lies on top of them.
            script = (
                "return [...document.querySelectorAll('.choice')].every(b => { const r = b.getBoundingClientRect();"
                "return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2) === b; })"
            )
            assert desk.run(script), number
            assert not chromium.scrolls_sideways(), number
            made = "#desk a, #desk img, #desk script, #desk b, #desk [style*=fixed]"
            assert desk.run("return document.querySelectorAll(arguments[0]).length", made) == 0
            if number in (3, 12):
                chromium.screenshot(f"web-hostile-{size[0]}-{number}")
        for written in ("<script>window.owned = 1</script>", "<img src=x onerror='window.owned = 1'>", "END-OF-LONG"):
            assert any(written in text for text in everything)
        assert any("{{constructor.constructor('window.owned = 1')()}}" in text for text in everything)
        assert any("'; drop table judgments; --" in text for text in everything)
        # A macro of one formula does not reach the next.
        assert not any("OWNED4" in text for text in everything)
        assert desk.run("return window.owned === undefined && document.title.includes('saber')")
        assert len(chromium.driver.window_handles) == 1
        desk.press("1", "ENTER")
        assert len(desk.green) == 1
        desk.clean()


@pytest.mark.parametrize("size", [PHONE, (320, 640)], ids=["phone", "small phone"])
def test_a_phone_shows_the_texts_stacked_and_never_scrolls_sideways(chromium, tmp_path, size):  # noqa: F811
    home = make_home(tmp_path)
    wide = (
        r"\[ a_{1}+a_{2}+a_{3}+a_{4}+a_{5}+a_{6}+a_{7}+a_{8}+a_{9}+a_{10}+a_{11}+a_{12} = b \] $\underbrace{"
        + "x" * 90
        + "}_{y}$"
    )
    for query in QUERIES:
        home.texts[query] = (TEXTS[query][0], wide)
    with served(home.write()) as url:
        chromium.open(url, size)
        desk = Desk(chromium)
        desk.enter("Ada")
        assert not chromium.scrolls_sideways()
        tops = desk.run("return [...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().top)")
        lefts = desk.run("return [...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().left)")
        assert tops == sorted(set(tops))
        assert len(set(lefts)) == 1
        assert desk.run("return document.querySelectorAll('#target .wide').length") == 2
        chromium.screenshot(f"web-phone-{size[0]}")
        sizes = "return [...document.querySelectorAll('.choice, #save, .tools button')].map(b => b.offsetHeight)"
        assert min(desk.run(sizes)) >= 44
        desk.click(".choice.tie")
        desk.click("#save")
        desk.until("document.querySelectorAll('#list .done').length")
        desk.click("#show-tasks")
        chromium.screenshot(f"web-phone-{size[0]}-tasks")
        assert not chromium.scrolls_sideways()
        desk.clean()


def test_a_desk_shows_all_three_side_by_side(chromium, tmp_path):  # noqa: F811
    with served(make_home(tmp_path)) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        for size, columns in ((DESK, 3), ((1000, 800), 2)):
            chromium.resize(size)
            places = desk.run(
                "return [...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().toJSON())"
            )
            assert places[1]["top"] == places[2]["top"]
            assert places[1]["right"] <= places[2]["left"]
            assert len({place["left"] for place in places}) == columns
            assert max(place["bottom"] for place in places) <= size[1]
            assert not chromium.scrolls_sideways()


def test_a_choice_outlives_a_server_that_went_away(chromium, tmp_path):  # noqa: F811
    home = make_home(tmp_path)
    with served(home) as url:
        chromium.open(url)
        desk = Desk(chromium)
        desk.enter("Ada")
        desk.press("2")
    desk.press("ENTER")
    desk.until("document.getElementById('message').textContent.includes('does not answer')")
    assert (desk.green, desk.text("#state")) == ([], "not saved")
    assert home.landing.read("judgments").num_rows == 0
    desk.press("ESCAPE")
    chromium.console()
