"""``--batch write|submit|collect`` of the commands: rounds of files give the tables that calls give."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.servers.batches import Service
from tests.servers.chat import ChatServer
from tests.test_ratings_job import build
from tests.test_topics_command import EDGES, SOLUTION
from warehouse.cli import main
from warehouse.identity import content_hash
from warehouse.landing import Landing

IDEA = "Apply the lemma on prime divisors to both factors."


def words(prompt: str) -> str:
    """Answer as a fair model would: labels by their words, a fixed summary, the candidate of longer solution."""
    if "BEGIN CANDIDATE 1" in prompt:
        first, second = re.findall(r"BEGIN CANDIDATE \d(.*?)END CANDIDATE", prompt, re.DOTALL)
        return r"\boxed{1}" if (len(first), first) > (len(second), second) else r"\boxed{2}"
    labels = re.findall(r"^(\d+)\. (.+)$", prompt, re.MULTILINE)
    if labels:
        wanted = ("Number Theory", "Prime Numbers") if "prime" in prompt else ("Geometry", "Circles")
        return json.dumps({number: 1.0 if label in wanted else 0.1 for number, label in labels})
    return summary("word " * 31 if "too long" in prompt and "breaks a rule" not in prompt else IDEA)


def summary(idea: str) -> str:
    keys = {"noCoreIdea": False, "supportingIdeas": [], "keywords": [], "confidence": 1}
    return json.dumps({**keys, "coreIdea": idea})


class Job:
    """One command on one home and one service."""

    def __init__(self, capsys: pytest.CaptureFixture[str], home: Path, url: str, *command: str) -> None:
        self.capsys, self.home = capsys, home
        self.command = [*command, "--home", str(home), "--provider", "server", "--model", "m", "--base-url", url]

    def run(self, *flags: str) -> tuple[int, dict[str, Any], str]:
        code = main([*self.command, *flags, "--json"])
        printed = self.capsys.readouterr()
        return code, json.loads(printed.out), printed.err

    def rounds(self, *flags: str) -> list[int]:
        """Write, submit and collect until nothing is left to write; return the calls of each round."""
        calls: list[int] = []
        while True:
            code, written, _ = self.run("--batch", "write", *flags)
            if not written.get("calls"):
                assert code == 0
                return calls
            calls.append(written["calls"])
            assert self.run("--batch", "submit", *flags)[:1] == (0,)
            assert self.run("--batch", "collect", *flags)[0] == 0

    def table(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        rows = Landing(self.home).read(name).to_pylist()
        return sorted((tuple(row[column] for column in columns) for row in rows), key=str)


def corpus(home: Path) -> Path:
    landing = Landing(home)
    landing.append("ontology_edges", [{"ontology": "o", "parent": p, "child": c, "label": c} for p, c in EDGES], "j")
    rows = [
        {"problem_id": f"p{n}", "source": "s", "statement": text, "solution": SOLUTION}
        for n, text in enumerate(["A prime.", "Two circles touch; too long.", '{{ x }} "quoted" <b>\'; drop'])
    ]
    hashed = [{**row, "content_hash": content_hash(row["statement"], row["solution"])} for row in rows]
    landing.append("problems", hashed, "j")
    return home


@pytest.fixture
def service():
    scripted = Service(words)
    with ChatServer(scripted) as server:
        scripted.url = server.url
        yield scripted


TABLES = {
    "topics": ("topic_scores", "problem_id", "visited_topic_id", "topic_id", "score", "assigned", "call_id"),
    "summaries": ("summaries", "problem_id", "core_idea", "confidence", "call_id"),
}


@pytest.mark.parametrize(("stage", "calls"), [("topics", [3, 3]), ("summaries", [3, 1])])
def test_rounds_of_batches_give_the_rows_that_calls_give(tmp_path, capsys, service, stage, calls):
    """Two levels of topics are two rounds; a summary that broke a rule is asked for once more in the second."""
    by_files = Job(capsys, corpus(tmp_path / "files"), service.url, "annotate", stage)
    assert by_files.rounds() == calls
    assert service.chat == 0
    by_calls = Job(capsys, corpus(tmp_path / "calls"), service.url, "annotate", stage)
    assert by_calls.run()[0] == 0
    assert by_files.table(*TABLES[stage]) == by_calls.table(*TABLES[stage])
    assert len(by_files.table("llm_calls", "call_id")) == sum(calls)


def test_each_step_says_what_comes_next(tmp_path, capsys, service):
    job = Job(capsys, corpus(tmp_path), service.url, "annotate", "topics")
    code, written, said = job.run("--batch", "write")
    assert (code, written["calls"], written["files"], written["job_problems"]) == (0, 3, 1, 0)
    assert "--batch submit" in said
    assert "level by level" in said
    assert "wait for --batch submit" in job.run("--batch", "write")[2]  # nothing is written twice
    assert "--batch collect" in job.run("--batch", "submit")[2]
    assert "Nothing to submit" in job.run("--batch", "submit")[2]
    service.status = "in_progress"
    code, collected, said = job.run("--batch", "collect")
    assert (code, collected["waiting"], collected["good"]) == (1, 3, 0)
    assert "collect again later" in said
    service.status = "completed"
    code, collected, said = job.run("--batch", "collect")
    assert (code, collected["good"], collected["job_problems"]) == (0, 3, 0)
    assert "--batch write" in said
    jobs = Landing(tmp_path).read("jobs").to_pylist()
    assert {row["command"] for row in jobs} == {"annotate topics"}
    assert {json.loads(row["arguments"])["batch"] for row in jobs} == {"write", "submit", "collect"}


def test_replies_that_fail_are_rows_and_are_written_again_until_quarantined(tmp_path, capsys, service):
    service.words = lambda prompt: "no JSON at all" if "circles" in prompt else words(prompt)
    job = Job(capsys, corpus(tmp_path), service.url, "annotate", "summaries")
    for attempt, calls in enumerate((3, 1, 1), start=1):
        assert job.run("--batch", "write")[1]["calls"] == calls
        job.run("--batch", "submit")
        code, collected, _ = job.run("--batch", "collect")
        assert (code, collected["failures"]) == (1, {"invalid_json": 1})
        assert len([row for row in job.table("llm_calls", "error") if row[0]]) == attempt
    code, written, said = job.run("--batch", "write")
    assert (code, written["calls"], written["job_calls"]["quarantined"]) == (1, 0, 1)
    assert "--retry-quarantined" in said
    service.words = words
    assert job.rounds("--retry-quarantined") == [1, 1]  # once more, and its broken rule mended
    assert len(job.table("summaries", "problem_id")) == 3


@pytest.mark.parametrize(("schedule", "files"), [("swiss", 3), ("random", 1)])
def test_a_tournament_in_files_is_the_tournament_in_calls(tmp_path, capsys, service, schedule, files):
    """A Swiss round follows from the last one's verdicts; the pairs of a random schedule are known beforehand."""
    command = ("judge", "--schedule", schedule, "--rounds", "3")
    columns = ("query_id", "first_id", "second_id", "round", "verdict", "call_id")
    for name in ("files", "calls"):
        (tmp_path / name).mkdir()
        build(tmp_path / name, 6)
    by_files = Job(capsys, tmp_path / "files", service.url, *command)
    calls = by_files.rounds()
    assert len(calls) == files
    assert service.chat == 0
    by_calls = Job(capsys, tmp_path / "calls", service.url, *command)
    assert by_calls.run()[0] == 0
    assert by_files.table("judgments", *columns) == by_calls.table("judgments", *columns)
    assert len(by_calls.table("judgments", *columns)) == sum(calls)


def test_files_are_for_servers(tmp_path, capsys):
    corpus(tmp_path)
    assert main(["annotate", "topics", "--home", str(tmp_path), "--batch", "write"]) == 1
    assert "Batch files are for servers" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["annotate", "topics", "--home", str(tmp_path), "--batch", "write", "--dry-run"])
