"""``saber reparse``: parsed tables come back from the log alone, for every job that has run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest
from servers.chat import Act, ChatServer, Seen, reply

from annotate.calls.reparse import Replay, Replayed, past_jobs, register_parser
from warehouse.cli import main
from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT, load_settings
from warehouse.variants import benchmark_variant, ontology_in_use

EDGES = [
    (None, "Mathematics"),
    ("Mathematics", "Geometry"),
    ("Mathematics", "Number Theory"),
    ("Geometry", "Circles"),
]
NUMBERS = range(6)
USAGE = {"prompt_tokens": 2_000, "completion_tokens": 5}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with six problems (two with the same text) and a warehouse in which p0 is a query."""
    hurried = (ROOT / "saber.toml").read_text() + "\n[providers.server]\nbackoff_s = 0.001\n"
    (tmp_path / "saber.toml").write_text(hurried)
    monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
    landing = Landing(tmp_path)
    landing.append("ontology_edges", [{"ontology": "o", "parent": p, "child": c, "label": c} for p, c in EDGES], "j")
    rows = []
    for number in NUMBERS:
        texts = f"Two circles touch; number {min(number, 4)}.", f"Use the power of a point {min(number, 4)} times."
        rows.append({"problem_id": f"p{number}", "source": "s", "statement": texts[0], "solution": texts[1]})
        rows[-1]["content_hash"] = content_hash(*texts)
    landing.append("problems", rows, "j")
    settings = load_settings(home=tmp_path)
    variant = benchmark_variant(settings, ontology_in_use(settings, landing))
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as warehouse:
        warehouse.execute("create schema staging; create schema benchmark; create schema signals")
        warehouse.execute(f"create table staging.stg_problems as {landing.scan_sql('problems')}")
        warehouse.execute("create table signals.problem_topics (problem_id varchar, topic_id varchar)")
        warehouse.execute(
            "create table benchmark.candidates as select 'saber-math' as benchmark, 'p0' as query_id, "
            f"problem_id as document_id, '{variant}' as variant from staging.stg_problems where problem_id <> 'p0'"
        )
    return tmp_path


def model(seen: Seen) -> Act:
    """Score, summarise or judge; one summary stays bad for ever."""
    labels = re.findall(r"^(\d+)\. (?:Geometry|Circles|Number Theory)", seen.prompt, re.MULTILINE)
    if labels:
        return reply(json.dumps({label: 1.0 if label == labels[0] else 0.0 for label in labels}), usage=USAGE)
    if "oxed" in seen.prompt:
        return reply(rf"\boxed{{{1 + len(seen.prompt) % 2}}}", usage=USAGE)
    if "number 3" in seen.prompt:
        return reply("no JSON", usage=USAGE)
    summary = {"noCoreIdea": False, "coreIdea": "Use the power.", "supportingIdeas": [], "keywords": []}
    return reply(json.dumps({**summary, "confidence": 1}), usage=USAGE)


def saber(*arguments: str) -> int:
    return main([*arguments])


def essence(home: Path, table: str) -> list[str]:
    """Return the rows of a table without what says when and by which job they landed."""
    left_out = {"job_id", "sequence", "schema_version", "traversal_id"}
    rows = Landing(home).read(table).to_pylist()
    return sorted(repr(sorted((k, v) for k, v in row.items() if k not in left_out)) for row in rows)


TABLES = ("topic_scores", "summaries", "judgments", "byes")


def test_all_parsed_tables_come_back_without_a_single_request(home, capsys):
    with ChatServer(model) as server:
        asked = ["--provider", "server", "--model", "m", "--base-url", server.url, "--home", str(home)]
        assert saber("annotate", "topics", "--home", str(home)) == 0
        assert saber("annotate", "topics", *asked) == 0
        assert saber("annotate", "summaries", *asked) == 1  # one stays quarantined
        assert saber("judge", "--rounds", "2", *asked) == 0
        assert saber("judge", "--rounds", "3", *asked) == 0
        assert saber("judge", "--schedule", "exhaustive", *asked) == 0
        capsys.readouterr()
        calls = essence(home, "llm_calls")
        before = {table: essence(home, table) for table in TABLES}
        assert all(before.values())
        assert any("exhaustive" in row for row in before["judgments"])
        for table in TABLES:
            shutil.rmtree(Landing(home).folder(table))
        requests = len(server.seen)
        assert saber("reparse", "--json", "--home", str(home)) == 0
        assert len(server.seen) == requests
    done = json.loads(capsys.readouterr().out)["replayed"]
    assert [(line["purpose"], line["table"]) for line in done] == [
        ("topics", "topic_scores"),
        ("topics", "topic_scores"),
        ("summary", "summaries"),
        ("judge", "judgments"),
        ("judge", "judgments"),
    ]
    assert {table: essence(home, table) for table in TABLES} == before
    assert essence(home, "llm_calls") == calls
    assert [line["failed"] for line in done] == [0, 0, 1, 0, 0]


def test_rules_of_today_are_applied(home, capsys, monkeypatch):
    assert saber("annotate", "topics", "--home", str(home)) == 0
    before = essence(home, "topic_scores")
    from annotate.topics import traversal

    read = traversal.parse_scores
    monkeypatch.setattr(traversal, "parse_scores", lambda *given: 0.5 * read(*given))
    assert saber("reparse", "topics", "--home", str(home)) == 0
    after = essence(home, "topic_scores")
    assert len(after) == len(before)
    assert after != before
    jobs = Landing(home).read("jobs").to_pylist()
    assert [(row["command"], row["state"]) for row in jobs][-1] == ("reparse", "done")


def test_a_job_whose_words_have_changed_is_named(home, capsys, tmp_path):
    prompt = tmp_path / "summary.md"
    shutil.copy(ROOT / load_settings(home=home).prompts.summary, prompt)
    with ChatServer(model) as server:
        asked = ["--provider", "server", "--model", "m", "--base-url", server.url, "--home", str(home)]
        saber("annotate", "summaries", "--prompt", str(prompt), *asked)
    prompt.write_text(prompt.read_text().replace(".", "!"))
    capsys.readouterr()
    assert saber("reparse", "summary", "--home", str(home)) == 1
    assert "Nothing of summary" in capsys.readouterr().err


def test_an_empty_log_has_nothing_to_parse(tmp_path, capsys):
    assert saber("reparse", "--home", str(tmp_path)) == 0
    assert "No job has run yet" in capsys.readouterr().out
    assert saber("reparse", "tpoics", "--home", str(tmp_path)) == 2
    assert "Known: topics, summary, judge" in capsys.readouterr().err


def test_runs_of_one_job_are_replayed_once_at_their_widest(tmp_path):
    landing = Landing(tmp_path)
    settings = json.dumps({**load_settings(home=tmp_path).as_rows(), "judging.rounds": 7})

    def run(**given: Any) -> None:
        row = {"command": "judge", "arguments": json.dumps(given), "settings": settings, "state": "done"}
        landing.append("jobs", [row], f"job-{len(landing.files('jobs'))}")

    run(provider="a", rounds=3, both_orders=False, finish=True)
    run(provider="a", rounds=None, both_orders=False)
    run(provider="a", rounds=5, both_orders=True)
    run(provider="b", rounds=None)
    jobs = past_jobs(landing, "judge")
    assert [(given["provider"], given.get("rounds"), given.get("both_orders")) for _, given in jobs] == [
        ("a", 5, True),
        ("b", None, None),
    ]
    assert jobs[0][1]["finish"] is True
    assert {then.judging.rounds for then, _ in jobs} == {7}  # the settings of then, not of today


def test_a_purpose_has_one_parser(monkeypatch):
    monkeypatch.setattr("annotate.calls.reparse._PARSERS", {})

    def mine(work: Replay) -> Replayed:
        return Replayed("t", 0, 0, 0)

    register_parser("mine", "my command", mine)
    register_parser("mine", "my command", mine)
    with pytest.raises(ValueError, match="has a parser already"):
        register_parser("mine", "my command", lambda work: mine(work))
