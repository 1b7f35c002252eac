"""The report in a real browser: sorting, a phone's width, hostile names, no network."""

from __future__ import annotations

import pytest
from browser_fixtures import PHONE, chromium  # noqa: F401
from test_report import ATTACK, hostile_home

from warehouse.report import make_report

pytestmark = pytest.mark.browser
ROWS = "return Array.from(document.querySelectorAll('.board tbody tr')).filter(r => !r.hidden)"
SYSTEMS = ROWS + ".map(r => r.children[0].textContent)"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The address of a report full of hostile names."""
    folder = tmp_path_factory.mktemp("report")
    path = folder / "report.html"
    path.write_text(make_report(hostile_home(folder).settings), "utf-8")
    return path.as_uri()


def press(browser, title):
    script = "Array.from(document.querySelectorAll('thead button')).find(b => b.textContent === arguments[0]).click()"
    browser.run(script, title)


def scores(browser):
    return browser.run(ROWS + ".map(r => r.children[1].dataset.value ?? null)")


def test_columns_sort_and_sort_back(chromium, page):  # noqa: F811
    chromium.open(page)
    press(chromium, "nDCG@10")
    assert scores(chromium) == ["0.75", "0.75", "0.5", "0.5", "0.25", "0.25", None, None]
    header = "return document.querySelectorAll('.board th')[1].getAttribute('aria-sort')"
    assert chromium.run(header) == "descending"
    press(chromium, "nDCG@10")
    assert scores(chromium) == ["0.25", "0.25", "0.5", "0.5", "0.75", "0.75", None, None]
    assert chromium.run(header) == "ascending"
    press(chromium, "System")
    assert chromium.run(SYSTEMS)[-2:] == ["zebra", "zebra"]
    assert chromium.run(header) == "none"
    chromium.screenshot("report_sorted")


def test_settings_filter(chromium, page):  # noqa: F811
    chromium.open(page)
    chromium.run("document.querySelector('[data-filter=\"full-full\"]').click()")
    assert chromium.run(ROWS + ".map(r => r.dataset.setting)") == ["full-full"] * 4
    chromium.run("document.querySelector('[data-filter=\"\"]').click()")
    assert len(chromium.run(SYSTEMS)) == 8


def test_hostile_names_are_shown_and_do_nothing(chromium, page):  # noqa: F811
    chromium.open(page)
    assert chromium.run("return window.hacked") is None
    assert chromium.run("return document.images.length + document.scripts.length") == 1
    shown = ATTACK.replace("\u202e", "\ufffd").replace("\x00", "\ufffd")
    assert chromium.run("return document.querySelector('.board td.system bdi').textContent") in (
        shown,
        "zebra",
        "Äpfel",
    )
    assert shown in chromium.run(SYSTEMS)
    assert shown in chromium.run("return document.querySelector('#corpus').textContent")
    assert chromium.console() == []


def test_the_policy_stops_scripts_that_get_in_all_the_same(chromium, page):  # noqa: F811
    chromium.open(page)
    chromium.run(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 3'; document.body.append(s)"
    )
    assert chromium.run("return window.hacked") is None
    assert any("Content Security Policy" in line or "Content-Security-Policy" in line for line in chromium.console())


def test_a_phone_shows_it_without_sideways_scrolling(chromium, page):  # noqa: F811
    chromium.open(page, PHONE)
    assert not chromium.scrolls_sideways()
    width = chromium.run(
        "const all = Array.from(document.querySelectorAll('main *:not(.frame *)'));"
        "return Math.max(...all.map(e => e.getBoundingClientRect().right))"
    )
    assert width <= PHONE[0] + 1
    smallest = chromium.run(
        "const labels = Array.from(document.querySelectorAll('.figure .label'));"
        "return Math.min(...labels.map(e => e.getBoundingClientRect().height))"
    )
    assert smallest >= 10
    chromium.screenshot("report_phone")


@pytest.mark.parametrize("name", ["n" * 300, "bm25.statement-full.candidates.corpus.1d625e33"])
def test_a_long_name_stays_in_its_cell(chromium, page, name):  # noqa: F811
    chromium.open(page)
    widths = """
        const row = document.querySelector('main').appendChild(document.createElement('table')).insertRow();
        row.closest('table').className = 'heatmap';
        row.append(document.createElement('th'), document.createElement('td'));
        row.cells[0].scope = 'row';
        return [row.cells[0], document.querySelector('.board td.system')].map(cell => {
            cell.textContent = arguments[0];
            return cell.scrollWidth - cell.clientWidth;
        })
    """.replace("arguments[0]", f"'{name}'")
    assert max(chromium.run(widths)) <= 0  # it lay over the scores beside it


def test_nothing_is_loaded(chromium, page):  # noqa: F811
    chromium.open(page)
    assert chromium.run("return performance.getEntriesByType('resource').length") == 0


def test_the_sample_report_in_both_sizes(chromium, sample_home, tmp_path):  # noqa: F811
    out = tmp_path / "report.html"
    assert sample_home.saber("report", str(out)).returncode == 0
    chromium.open(out.as_uri())
    assert chromium.console() == []
    assert len(chromium.run(SYSTEMS)) == sample_home.rows("select count(*) from evaluation.leaderboard")[0][0]
    chromium.screenshot("report_sample")
    chromium.resize(PHONE)
    assert not chromium.scrolls_sideways()
    chromium.screenshot("report_sample_phone")
