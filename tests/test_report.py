"""The report: every text is escaped, figures by hand, what a build lacks is named, and numbers are the views'."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from snapshot_home import SnapshotHome

from warehouse.cli import main
from warehouse.report import collect, make_report, tables
from warehouse.report.distinctions import distinctions
from warehouse.report.figures import Point, curves, intervals, limits
from warehouse.report.markup import Markup, clean, join, tag
from warehouse.report.provenance import commit
from warehouse.settings import load_settings

ATTACK = "<script>window.hacked = 1</script>\"'><img src=x onerror=window.hacked=2>\u202eevil\x00</title></style>"
COLUMNS = """
    benchmark varchar, variant varchar, setting varchar, scope varchar, system varchar, overall double, alpha double,
    beta double, ndcg_lin_10 double, n_queries bigint, n_missing bigint, n_degenerate bigint, n_tied_at_cutoff bigint,
    share_judged double, judge varchar, idf varchar, run_id varchar, build_id varchar
"""


def hostile_home(path, judge="offline-similarity"):
    """A home whose system, source, licence, judge and job names attack the page."""
    problems = {f"{ATTACK}/{n}": (f"{ATTACK} {n}", ATTACK) for n in range(1, 9)}
    relevances = {
        f"{ATTACK}/1": {f"{ATTACK}/{n}": float(n - 3) for n in range(3, 9)},
        f"{ATTACK}/2": {f"{ATTACK}/{n}": float(8 - n) for n in range(3, 9)},
    }
    home = SnapshotHome(path, problems, relevances, {f"{ATTACK}/1": ["Alpha"]}, judge=judge)
    build_id = home.landing.read("builds")["build_id"][0].as_py()
    measured = (2, 0, 0, 0, 1.0, judge, "none")
    rows = [
        ("b", "v", setting, "candidates", name, score, score, None, score, *measured, f"{name}.{setting}", build_id)
        for setting in ("statement-full", "full-full")
        for name, score in ((ATTACK, 0.25), ("zebra", 0.75), ("Äpfel", 0.5), ("without", None))
    ]
    with duckdb.connect(str(home.path / "snapshot.duckdb")) as connection:
        connection.execute(f"create table evaluation.leaderboard ({COLUMNS})")
        connection.executemany(f"insert into evaluation.leaderboard values ({', '.join('?' * 18)})", rows)
        connection.execute("create table analysis.corpus_counts (source varchar, state varchar, n_problems bigint)")
        connection.executemany(
            "insert into analysis.corpus_counts values (?, ?, ?)", [(ATTACK, "eligible", 6), (ATTACK, ATTACK, 2)]
        )
    return home


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return hostile_home(tmp_path_factory.mktemp("hostile"))


class Seen(HTMLParser):
    """Counts elements and collects attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.tags.append(name)
        self.attributes += attributes

    def handle_data(self, data):
        self.text.append(data)


# --- mark-up -----------------------------------------------------------------------------------------------


@given(st.text(), st.text())
def test_whatever_a_text_says_it_stays_a_text(text, value):
    page = str(tag("p", text, title=value))
    seen = Seen(page)
    assert seen.tags == ["p"]
    assert seen.attributes == [("title", clean(value))]
    assert "".join(seen.text).replace("\r", "") == clean(text).replace("\r", "")


def test_marks_that_reorder_text_and_control_characters_are_shown():
    assert clean("a\u202eb\u2066c\x00d\x1be\ud800f") == "a�b�c�d�e�f"
    assert clean("tab\tline\n日本") == "tab\tline\n日本"


def test_mark_up_is_not_escaped_twice_and_nothing_is_left_out():
    assert join("<", Markup("<b>"), None, [1, "&"]) == "&lt;<b>1&amp;"
    assert tag("td", "x", class_=None, hidden=True, data_value='a"b') == '<td hidden data-value="a&quot;b">x</td>'


# --- figures -----------------------------------------------------------------------------------------------


def test_an_interval_plot_by_hand():
    """The axis from 0.2 to 0.8 spans 204 units from 112 to 316: 0.5 stands in the middle."""
    figure = str(intervals("t", [Point("a", 0.5, (0.2, 0.8)), Point("b", None)], 0.2, 0.8, chance=0.35))
    assert 'cx="214"' in figure
    assert 'x1="112" x2="316"' in figure
    assert 'x1="163" x2="163"' in figure
    assert figure.count("<circle") == 1
    assert "a: 0.500 [0.200, 0.800]" in figure


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("bm25", "bm25"),
        ("n" * 300, "n" * 12 + "…"),
        ("系" * 300, "系" * 8 + "…"),
        ("jaccard-math-abcd", "jaccard-math-a…"),
    ],
)
def test_labels_of_figures_fit_their_room(name, shown):
    assert f">{shown}<" in intervals("t", [Point(name, 0.5)], 0, 1)  # the first letters of wide names were cut off


def test_a_name_of_the_leaderboard_takes_a_few_lines():
    assert tables._named("n" * 300) == "n" * 119 + "…"
    assert tables._named(" ") == "(blank)"


def test_limits_are_tenths_around_the_values_within_0_and_1():
    assert limits([]) == (0.0, 1.0)
    assert limits([0.384, 0.724]) == (0.3, 0.8)
    assert limits([0.01, 0.99]) == (0.0, 1.0)


def test_a_curve_begins_at_nothing_and_ends_at_all():
    figure = str(curves("t", [("both", [(1, 0.5), (2, 1.0)])], "x", "y"))
    points = re.search(r'points="([^"]+)"', figure)[1]
    assert points == "40,200 194,105 348,10"


# --- facts -------------------------------------------------------------------------------------------------


def test_the_ablation_by_hand(hostile):
    """All candidates are of one class; each rank holds one of twelve."""
    facts = collect(hostile.settings)
    assert [(row["rank"], row["share"]) for row in facts.ablation] == [(n, pytest.approx(n / 6)) for n in range(1, 7)]
    assert facts.classes[0]["mean_relevance"] == pytest.approx(2.5)
    assert facts.flatters
    assert any("bootstrap_intervals" in line for line in facts.missing)


def test_the_page_of_the_sample_shows_the_numbers_of_the_views(sample_home, tmp_path):
    out = tmp_path / "report.html"
    assert sample_home.saber("report", str(out)).returncode == 0
    page = out.read_text("utf-8")
    shown = {(row[0], row[1]) for row in re.findall(r'title="([^"]+\.[0-9a-f]{8})".*?data-value="([0-9.]+)"', page)}
    expected = {
        (run, repr(score)) for run, score in sample_home.rows("select run_id, overall from evaluation.leaderboard")
    }
    assert shown == expected
    facts = collect(load_settings(sample_home.landing.home, path=sample_home.settings_file))
    for column in ("corpus", "queries", "candidates"):
        assert sum(row[column] for row in facts.composition) == pytest.approx(1)
    assert facts.counts["n_judgments"] == sample_home.rows("select count(*) from staging.stg_judgments")[0][0]
    assert "No model has judged." in page
    assert sample_home.rows("select distinct build_id from evaluation.leaderboard")[0][0] in page


def test_runs_of_one_system_are_told_apart_by_what_differs():
    """A dense system with and without a prefix stood twice under one name."""

    def row(run_id, params, **given):
        place = {
            "benchmark": "b",
            "scope": "candidates",
            "setting": "statement-full",
            "system": "dense",
            "idf": "none",
        }
        return {**place, "run_id": run_id, "params": params, **given}

    rows = [
        row("dense.1", '{"model": "m", "query_prefix": "Query: "}'),
        row("dense.2", '{"model": "m", "query_prefix": ""}'),
        row("bm25.3", "{}", system="bm25", idf="corpus"),
        row("bm25.4", None, system="bm25", idf="candidates"),
        row("tfidf.5", "no JSON", system="tfidf"),
        row("same.6", "[1]", system="same"),
        row("same.7", "[2]", system="same"),
    ]
    assert distinctions(rows) == {
        "dense.1": 'query_prefix "Query: "',
        "dense.2": "query_prefix none",
        "bm25.3": 'idf "corpus"',
        "bm25.4": 'idf "candidates"',
        "same.6": "6",
        "same.7": "7",
    }


def test_the_policy_allows_only_the_page_own_style_and_script(hostile):
    page = make_report(hostile.settings)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1].replace("&#x27;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.S)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.findall(r"https?://", page)
    assert " style=" not in page


def test_hostile_names_make_no_element(hostile):
    seen = Seen(make_report(hostile.settings))
    assert seen.tags.count("script") == 1
    assert "img" not in seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]


def test_the_flattering_judge_is_told_of_and_a_model_is_not(tmp_path, hostile):
    assert "flatters lexical systems" in make_report(hostile.settings)
    honest = make_report(hostile_home(tmp_path, judge="pairwise").settings)
    assert "flatters lexical systems" not in honest
    assert "No model has judged" not in honest


def test_the_command_writes_the_home_report_whole(hostile, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("SABER_SETTINGS", str(hostile.settings_file))
    assert main(["report", "--home", str(hostile.path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["report"] == str(hostile.path / "report.html")
    assert (hostile.path / "report.html").stat().st_size == told["bytes"]
    assert main(["report", str(tmp_path), "--home", str(hostile.path)]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert main(["report", "--home", str(tmp_path / "nowhere")]) == 1
    assert "Make it: dbt build" in capsys.readouterr().err


def test_the_commit_is_that_of_the_checkout():
    found = commit()
    assert found is None or re.fullmatch(r"[0-9a-f]{40}( \+ changes)?", found)
