"""The page's server: who may ask, what lands, what is taken back, and that texts and names stay inert."""

from __future__ import annotations

import argparse
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import pytest
from starlette.testclient import TestClient
from web_home import WebHome, make_home

from annotate.web.app import make_app
from annotate.web.judgments import HumanJudgments, instructions_version
from annotate.web.workbench import Plan, Workbench
from warehouse.cli import main
from warehouse.cli.common import Job
from warehouse.identity import variant_hash
from warehouse.variants import human_variant

TOKEN, PORT = "t0ken-of-this-start", 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
HOSTILE = {
    "script": "<script>document.title='owned'</script><img src=x onerror=alert(1)>",
    "template": "{{ 7*7 }} {% raw %} ${x} $\\href{javascript:alert(1)}{x}$",
    "sql": "'; drop table judgments; -- \" \\",
    "direction": "\u202eright to left\u202c \u0645\u0631\u062d\u0628\u0627 \u0000 \U0001f600",
    "long": "x" * 100_000,
}


@dataclass
class Page:
    home: WebHome
    client: TestClient

    def tasks(self, annotator="Ada"):
        return self.client.get("/api/tasks", params={"annotator": annotator}).json()["tasks"]

    def judge(self, task_id, verdict, annotator="Ada"):
        body = {"annotator": annotator, "verdict": verdict}
        return self.client.put(f"/api/tasks/{task_id}", json=body, headers={"Origin": ORIGIN})

    def remove(self, task_id, annotator="Ada"):
        address = f"/api/tasks/{task_id}"
        return self.client.delete(address, params={"annotator": annotator}, headers={"Origin": ORIGIN})

    def rows(self, latest=True):
        return self.home.landing.read("judgments", latest=latest).to_pylist()


def start(home: WebHome, annotator: str | None = None, plan: Plan | None = None) -> Page:
    """Start the server's application on a home, as a new process would."""
    settings, landing = home.settings, home.landing
    bench = Workbench(settings, plan or Plan(tasks=10, overlap=3, seed=7))
    record = Job(landing, settings, "annotate web", argparse.Namespace())
    judgments = HumanJudgments(landing, bench.pool.benchmark, bench.variant, record)
    client = TestClient(make_app(bench, judgments, TOKEN, PORT, annotator), base_url=ORIGIN)
    assert client.get("/", params={"token": TOKEN}).status_code == 200
    return Page(home, client)


@pytest.fixture
def page(tmp_path) -> Page:
    return start(make_home(tmp_path))


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Page:
    """A page on which nothing lands, for the many tests of what is refused."""
    page = start(make_home(tmp_path_factory.mktemp("shared")))
    yield page
    assert page.rows() == []


def test_a_judgment_lands_like_any_other(page):
    task = page.tasks()[0]
    assert page.judge(task["id"], "second").json() == {"id": task["id"], "verdict": "second"}
    (row,) = page.rows()
    expected = {
        "benchmark": "test",
        "kind": "human",
        "vote": 0,
        "judge": "human",
        "schedule": "human",
        "round": None,
        "verdict": "second",
        "score": None,
        "reason": None,
        "annotator": "Ada",
        "provider": "human",
        "model": None,
        "prompt_version": instructions_version(),
        "call_id": None,
        "variant": variant_hash({"stage": "human", "benchmark": "b1"}),
        "sequence": 1,
    }
    assert {name: row[name] for name in expected} == expected
    hashes = [page.home.hash_of(row[name]) for name in ("query_id", "first_id", "second_id")]
    in_sql = "select left(sha256(concat_ws(':', ?, ?, ?)), 32)"
    assert row["content_hash"] == duckdb.execute(in_sql, hashes).fetchall()[0][0]
    job = page.home.landing.read("jobs").to_pylist()
    assert [(one["command"], one["job_id"]) for one in job] == [("annotate web", row["job_id"])]


def test_what_is_shown_first_is_what_lands_first(page):
    for task in page.tasks()[:4]:
        shown = page.client.get(f"/api/tasks/{task['id']}", params={"annotator": "Ada"}).json()
        page.judge(task["id"], "first")
        row = page.rows(latest=False)[-1]
        texts = page.home.texts
        for role, problem in (("target", "query_id"), ("first", "first_id"), ("second", "second_id")):
            assert (shown[role]["statement"], shown[role]["solution"]) == texts[row[problem]]
            # Ids, sources and ratings could sway a judgment.
            assert set(shown[role]) == {"statement", "solution"}


def test_looking_leaves_no_trace(page):
    page.tasks()
    page.client.get("/api/session")
    assert page.rows() == []
    assert page.home.landing.read("jobs").num_rows == 0


def test_changing_and_removing_delete_nothing_and_the_latest_wins(page):
    task = page.tasks()[0]["id"]
    page.judge(task, "first")
    page.judge(task, "tie")
    assert page.tasks()[0]["verdict"] == "tie"
    assert page.remove(task).json() == {"id": task, "verdict": None}
    assert page.tasks()[0]["verdict"] is None
    assert [row["verdict"] for row in page.rows(latest=False)] == ["first", "tie", "invalid"]
    (row,) = page.rows()
    assert (row["verdict"], row["reason"]) == ("invalid", "removed by the annotator")
    page.judge(task, "second")
    assert [one["verdict"] for one in page.tasks()] == ["second"] + [None] * 9


def test_a_restart_goes_on_where_it_stopped(page):
    before = page.tasks()
    for task in before[2:5]:
        page.judge(task["id"], "tie")
    page.remove(before[3]["id"])
    again = start(page.home).tasks()
    assert [task["id"] for task in again] == [task["id"] for task in before]
    assert [task["verdict"] for task in again] == [None, None, "tie", None, "tie"] + [None] * 5
    # Another seed draws others, and what is judged stays.
    other = start(page.home, plan=Plan(10, 3, 8)).tasks()
    assert {before[2]["id"], before[4]["id"]} == {task["id"] for task in other if task["verdict"]}


def test_annotators_judge_apart_and_share_the_overlap(page):
    ada, emmy = page.tasks("Ada"), page.tasks("Emmy")
    page.judge(ada[0]["id"], "first", "Ada")
    assert all(task["verdict"] is None for task in page.tasks("Emmy"))
    for task in emmy:
        page.judge(task["id"], "second", "Emmy")
    pairs: dict[str, set] = {}
    for task in page.tasks("Ada"):
        page.judge(task["id"], "tie", "Ada")
    for row in page.rows():
        pair = (row["query_id"], *sorted((row["first_id"], row["second_id"])))
        pairs.setdefault(row["annotator"], set()).add(pair)
    assert len(pairs["Ada"]) == len(pairs["Emmy"]) == 10
    assert len(pairs["Ada"] & pairs["Emmy"]) >= 3
    session = page.client.get("/api/session").json()
    assert (session["annotator"], session["known"]) == (None, ["Ada", "Emmy"])
    # Capitals do not make another annotator.
    got = page.client.get("/api/tasks", params={"annotator": "emmy"}).json()
    assert got["annotator"] == "Emmy"
    assert all(task["verdict"] == "second" for task in got["tasks"])
    page.judge(emmy[0]["id"], "tie", "EMMY")
    assert {row["annotator"] for row in page.rows()} == {"Ada", "Emmy"}


def test_a_page_for_one_annotator_refuses_others(tmp_path):
    page = start(make_home(tmp_path), annotator="Ada")
    assert page.client.get("/api/session").json()["annotator"] == "Ada"
    task = page.tasks("ada")[0]
    assert page.client.get("/api/tasks", params={"annotator": "Emmy"}).status_code == 403
    assert page.judge(task["id"], "tie", "Emmy").status_code == 403
    assert page.remove(task["id"], "Emmy").status_code == 403
    assert page.rows() == []


def test_older_texts_are_asked_again_and_a_page_that_shows_them_cannot_save(page):
    tasks = page.tasks()
    page.judge(tasks[0]["id"], "first")
    (row,) = page.rows()
    page.home.texts[row["first_id"]] = ("A new statement.", "A new solution.")
    page.home.write()
    again = start(page.home)
    assert all(task["verdict"] is None for task in again.tasks())
    refused = again.judge(tasks[0]["id"], "first")
    assert (refused.status_code, "Reload" in refused.json()["error"]) == (404, True)
    assert len(page.rows(latest=False)) == 1


def test_a_benchmark_built_anew_stops_new_lists(page):
    page.home.variant = "b2"
    page.home.write()
    refused = page.client.get("/api/tasks", params={"annotator": "Late"})
    assert (refused.status_code, "built anew" in refused.json()["error"]) == (400, True)
    assert human_variant("b1") != human_variant("b2")


def test_the_snapshot_is_not_held(page):
    page.tasks()
    with duckdb.connect(str(page.home.path / "snapshot.duckdb")) as connection:
        connection.execute("create table written as select 1")


# ── who may ask

PLACES = ("GET /", "GET /static/app.js", "GET /api/session", "PUT /api/tasks/x", "GET /nowhere")
GOOD = {"Host": f"127.0.0.1:{PORT}", "Origin": ORIGIN, "X-Saber-Token": TOKEN}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "wrong",
    [
        {"X-Saber-Token": ""},
        {"X-Saber-Token": TOKEN + "x"},
        {"X-Saber-Token": "\u00e9".encode("latin-1")},
        {"Host": "evil.example"},
        {"Host": f"evil.example:{PORT}"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": f"127.0.0.1:{PORT}@evil.example"},
        {"Host": "0.0.0.0"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": f"https://127.0.0.1:{PORT}"},
        {"Origin": f"http://localhost:{PORT}"},
        {"Origin": "null"},
    ],
    ids=str,
)
def test_every_request_shows_host_origin_and_token(shared, place, wrong):
    method, path = place.split()
    client = TestClient(shared.client.app, base_url=ORIGIN)
    assert client.request(method, path, headers=GOOD).status_code != 403
    refused = client.request(method, path, headers={**GOOD, **wrong})
    assert refused.status_code == 403
    assert TOKEN not in refused.text + str(refused.headers)


def test_changes_name_their_origin_and_other_sites_cannot_even_read(shared):
    task = shared.tasks()[0]["id"]
    without = shared.client.put(f"/api/tasks/{task}", json={"annotator": "Ada", "verdict": "tie"})
    assert without.status_code == 403
    for site in ("cross-site", "same-site"):
        assert shared.client.get("/api/tasks?annotator=Ada", headers={"Sec-Fetch-Site": site}).status_code == 403
        # A link to the printed address may stand anywhere: the token is in it.
        address = f"/?token={TOKEN}"
        assert shared.client.get(address, headers={"Sec-Fetch-Site": site}).status_code == 200
    assert shared.client.get("/api/session", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_a_tunnel_may_change_the_port(shared):
    headers = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
    assert shared.client.get("/api/session", headers=headers).status_code == 200


def test_the_address_gives_a_strict_cookie_and_opens_the_page_alone(shared):
    client = TestClient(shared.client.app, base_url=ORIGIN)
    assert client.get("/", params={"token": "wrong"}).status_code == 403
    assert client.get("/api/session", params={"token": TOKEN}).status_code == 403
    opened = client.get("/", params={"token": TOKEN})
    cookie = opened.headers["set-cookie"]
    assert cookie == f"saber_{PORT}={TOKEN}; Path=/; HttpOnly; SameSite=Strict"
    assert TOKEN not in opened.text
    later = client.get("/")
    assert (later.status_code, "set-cookie" in later.headers) == (200, False)


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/api/session", "/api/tasks/none", "/nowhere"])
def test_every_answer_forbids_inline_code_framing_and_caching(shared, path):
    for headers in ({}, {"Host": "evil.example"}):
        answer = shared.client.get(path, headers=headers).headers
        policy = dict(part.split(" ", 1) for part in answer["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in answer["content-security-policy"]
        assert answer["x-content-type-options"] == "nosniff"
        assert answer["cache-control"] == "no-store"
        assert answer["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/static/"])
def test_only_the_front_end_is_served(shared, path):
    answer = shared.client.get(path)
    assert answer.status_code in (404, 405)
    assert "import" not in answer.text


# ── what is refused


@pytest.mark.parametrize("verdict", ["invalid", "FIRST", "", None, 1, ["first"], {"first": 1}])
def test_other_verdicts_are_refused(shared, verdict):
    assert shared.judge(shared.tasks()[0]["id"], verdict).status_code == 400


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 4000, "application/json", 400),
        (b" " * 5000, "application/json", 413),
        (b'{"annotator": "Ada", "verdict": "tie"}', "text/plain", 415),
        (b"verdict=tie", "application/x-www-form-urlencoded", 415),
    ],
    ids=["empty", "half", "list", "bytes", "deep", "long", "plain", "form"],
)
def test_other_bodies_are_refused(shared, body, kind, status):
    headers = {"Origin": ORIGIN, "Content-Type": kind}
    answer = shared.client.put(f"/api/tasks/{shared.tasks()[0]['id']}", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "'; drop table judgments; --", "<b>", "a" * 300, ""])
def test_other_names_are_refused(shared, name):
    task = shared.tasks()[0]["id"]
    answers = [
        shared.client.get("/api/tasks", params={"annotator": name}),
        shared.judge(task, "tie", name),
        shared.remove(task, name),
    ]
    assert [answer.status_code for answer in answers] == [400] * 3
    assert all("Choose another name" in answer.json()["error"] for answer in answers)


def test_a_name_with_a_quote_is_a_value(page):
    task = page.tasks("O'Brien")[0]["id"]
    assert page.judge(task, "tie", "O'Brien").status_code == 200
    assert [row["annotator"] for row in page.rows()] == ["O'Brien"]
    assert page.tasks("O'Brien")[0]["verdict"] == "tie"


def test_tasks_of_another_list_are_refused(page):
    page.tasks("Ada")
    for task in ("0" * 32, "..%2f..%2fsecret", page.tasks("Emmy")[0]["id"]):
        if task not in {one["id"] for one in page.tasks("Ada")}:
            assert page.judge(task, "tie", "Ada").status_code == 404
            assert page.remove(task, "Ada").status_code == 404
    # A list is made by asking for it, not by judging.
    assert page.judge(page.tasks("Ada")[0]["id"], "tie", "Nobody").status_code == 404
    assert page.rows() == []


def test_hostile_texts_reach_the_page_unharmed(tmp_path):
    home = make_home(tmp_path, documents=0)
    for name, text in HOSTILE.items():
        home.texts[f"s/{name}"] = (text, text[::-1])
    home.texts["s/q1"] = (HOSTILE["script"], HOSTILE["sql"])
    page = start(home.write())
    seen = set()
    for task in page.tasks():
        answer = page.client.get(f"/api/tasks/{task['id']}", params={"annotator": "Ada"})
        assert answer.headers["content-type"] == "application/json"
        seen |= {(text["statement"], text["solution"]) for text in answer.json().values()}
        assert page.judge(task["id"], "tie").status_code == 200
    assert seen <= set(home.texts.values())
    assert {(text, text[::-1]) for text in HOSTILE.values()} <= seen


# ── the command


def command(home: WebHome, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "warehouse.cli", "annotate", "web", "--home", str(home.path), *arguments]


@contextmanager
def running(arguments):
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=lambda ending: ending.name)
def test_the_command_serves_prints_its_address_and_ends_in_order(tmp_path, ending):
    home = make_home(tmp_path)
    arguments = command(home, "--port", "0", "--tasks", "5", "--overlap", "2", "--annotator", "Ada", "--json")
    with running(arguments) as process:
        shown = json.loads(process.stdout.readline())
        url, token = shown["url"].split("/?token=")
        assert url.startswith("http://127.0.0.1:")
        assert len(token) >= 40

        def ask(path, body=None):
            headers = {"X-Saber-Token": token, "Origin": url, "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            method = "GET" if body is None else "PUT"
            request = urllib.request.Request(url + path, data, headers, method=method)
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
                return json.load(answer)

        tasks = ask("/api/tasks?annotator=Ada")["tasks"]
        assert len(tasks) == shown["tasks"] == 5
        ask(f"/api/tasks/{tasks[0]['id']}", {"annotator": "Ada", "verdict": "first"})
        process.send_signal(ending)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "1 judgments, 0 removals landed" in errors
    assert token not in errors
    states = home.landing.read("jobs", latest=False)["state"].to_pylist()
    assert states == ["started", "done"]
    kept = json.dumps(home.landing.read("jobs").to_pylist())
    assert token not in kept


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tasks", "5", "--overlap", "6"], "Lower --overlap"),
        (["--tasks", "0", "--overlap", "0"], "at least one task"),
        (["--annotator", "../x"], "Choose another name"),
        (["--port", "70000"], "from 0 to 65535"),
        (["--overlap", "-1"], "must not be negative"),
    ],
)
def test_wrong_flags_are_refused(tmp_path, capsys, arguments, said):
    try:
        code = main(["annotate", "web", "--home", str(make_home(tmp_path).path), *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code not in (0, None)
    assert said in capsys.readouterr().err


def test_a_taken_port_is_named(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["annotate", "web", "--home", str(make_home(tmp_path).path), "--port", port]) == 1
    assert f"Port {port} of 127.0.0.1" in capsys.readouterr().err
