"""``saber annotate`` from end to end: offline, and against a chat server that misbehaves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.servers.chat import Act, ChatServer, Seen, reply
from warehouse.cli import main
from warehouse.identity import content_hash
from warehouse.landing import Landing

EDGES = [
    (None, "Mathematics"),
    ("Mathematics", "Geometry"),
    ("Mathematics", "Number Theory"),
    ("Geometry", "Triangles"),
    ("Geometry", "Circles"),
    ("Number Theory", "Prime Numbers"),
    ("Number Theory", "Congruences"),
]
SOLUTION = "We apply the lemma on prime divisors to both factors of the product."


@pytest.fixture
def home(tmp_path: Path) -> Path:
    landing = Landing(tmp_path)
    landing.append("ontology_edges", [{"ontology": "o", "parent": p, "child": c, "label": c} for p, c in EDGES], "j")
    texts = ["Show that this prime number divides the product.", "Two circles touch {{ here }}.", "Unsolved primes."]
    for number, statement in enumerate(texts):
        solution = SOLUTION if number < 2 else ""
        row = {"problem_id": f"p{number}", "source": "s", "statement": statement, "solution": solution}
        landing.append("problems", [{**row, "content_hash": content_hash(statement, solution)}], "j")
    return tmp_path


def saber(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any], str]:
    code = main(["annotate", *arguments, "--json"])
    captured = capsys.readouterr()
    return code, json.loads(captured.out) if captured.out else {}, captured.err


def test_offline(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, result, _ = saber(capsys, "topics", "--home", str(home))
    assert code == 0
    assert (result["problems"], result["without_solution"], result["provider"]) == (2, 1, "offline")
    rows = Landing(home).read("topic_scores").to_pylist()
    assigned = {(row["problem_id"], row["topic_id"]) for row in rows if row["assigned"]}
    assert ("p0", "Number Theory/Prime Numbers") in assigned
    assert {row["provider"] for row in rows} == {"offline"}
    code, result, _ = saber(capsys, "summaries", "--home", str(home))
    assert (code, result["problems"]) == (0, 2)
    ideas = {row["core_idea"] for row in Landing(home).read("summaries").to_pylist()}
    assert ideas == {"Apply the lemma on prime divisors to both factors of the product."}
    for stage in ("topics", "summaries"):
        code, result, _ = saber(capsys, stage, "--home", str(home))
        assert (code, result["problems"], result["done_before"]) == (0, 0, 2)


def test_the_rows_bear_the_variant_that_the_marts_select(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from warehouse.settings import load_settings
    from warehouse.variants import ontology_in_use, selected_variants

    saber(capsys, "topics", "--home", str(home))
    saber(capsys, "summaries", "--home", str(home))
    settings = load_settings(home=home)
    selected = selected_variants(settings, ontology_in_use(settings, Landing(home)))
    for table, variant in (("topic_scores", selected.topics), ("summaries", selected.summaries)):
        assert set(Landing(home).read(table)["variant"].to_pylist()) == {variant}


def test_limit_and_dry_run(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, planned, _ = saber(capsys, "topics", "--home", str(home), "--dry-run")
    assert (code, planned["problems"], planned["pilot_calls"]) == (0, 2, 0)
    assert Landing(home).read("topic_scores").num_rows == 0
    assert saber(capsys, "topics", "--home", str(home), "--limit", "1")[1]["problems"] == 1
    code, planned, _ = saber(capsys, "topics", "--home", str(home), "--dry-run")
    assert (planned["problems"], planned["done"]) == (1, 1)
    assert planned["pilot_calls"] > 0
    assert planned["calls"] == planned["pilot_calls"]  # one problem left, as the pilot had


def model(seen: Seen) -> Act:
    """Answer as a fair model would: labels by their words, a fixed summary."""
    tokens = {"prompt_tokens": 2_000, "completion_tokens": 50, "total_tokens": 2_050}
    labels = re.findall(r"^(\d+)\. (.+)$", seen.prompt, re.MULTILINE)
    if labels:
        wanted = ("Number Theory", "Prime Numbers") if "prime" in seen.prompt else ("Geometry", "Circles")
        scores = {number: 1.0 if label in wanted else 0.1 for number, label in labels}
        return reply(json.dumps(scores), usage=tokens)
    summary = {
        "noCoreIdea": False, "coreIdea": "Use the lemma.", "supportingIdeas": [], "keywords": [], "confidence": 1,
    }  # fmt: skip
    return reply(json.dumps(summary), usage=tokens)


def flags(server: ChatServer, home: Path) -> list[str]:
    return ["--home", str(home), "--provider", "server", "--model", "m", "--base-url", server.url]


def test_a_server_is_asked_in_words_and_its_replies_land(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(model) as server:
        code, result, _ = saber(capsys, "topics", *flags(server, home))
        assert (code, result["problems"], result["failed"]) == (0, 2, 0)
        assert saber(capsys, "summaries", *flags(server, home))[0] == 0
        prompts = [seen.prompt for seen in server.seen if "messages" in seen.raw.decode()]
        # The same run again asks nothing.
        asked = len(server.seen)
        assert saber(capsys, "topics", *flags(server, home))[1]["problems"] == 0
        assert len(server.seen) == asked
    assert any("Two circles touch {{ here }}." in prompt for prompt in prompts)
    rows = Landing(home).read("topic_scores").to_pylist()
    assert {(r["problem_id"], r["topic_id"]) for r in rows if r["assigned"]} == {
        ("p0", "Number Theory/Prime Numbers"), ("p1", "Number Theory/Prime Numbers"),
    }  # fmt: skip
    versions = {row["prompt_version"] for row in rows}
    assert all(re.fullmatch(r"topics@[0-9a-f]{8}", version) for version in versions)


def test_a_dry_run_asks_nothing_and_learns_from_a_pilot(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(model) as server:
        code, planned, said = saber(capsys, "summaries", *flags(server, home), "--dry-run")
        assert (code, planned["calls"], planned["tokens_out"], server.seen) == (0, 2, None, [])
        assert 300 < planned["tokens_in"] < 2_000  # two prompts of about 300 tokens, by our estimate
        assert "--limit" in said
        saber(capsys, "summaries", *flags(server, home), "--limit", "1")
        asked = len(server.seen)
        code, planned, said = saber(capsys, "summaries", *flags(server, home), "--dry-run")
        # One call is left; the server counts 2,000 tokens for a prompt and 50 for a reply.
        assert (code, planned["calls"], planned["tokens_out"], len(server.seen)) == (0, 1, 50, asked)
        assert planned["tokens_in"] == pytest.approx(2_000, rel=0.1)
        assert "--limit" not in said


def test_invalid_replies_end_in_a_count_and_a_non_zero_exit(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(seen: Seen) -> Act:
        if "Two circles" in seen.prompt:
            return reply(
                '{"1": 0.5, "2": 7}', usage={"prompt_tokens": 2_000, "completion_tokens": 5, "total_tokens": 1}
            )
        return model(seen)

    with ChatServer(broken) as server:
        code, result, said = saber(capsys, "topics", *flags(server, home))
        assert code == 1
        assert (result["problems"], result["failed"], result["failures"]) == (1, 1, {"out_of_range": 1})
        assert result["calls"]["quarantined"] == 1
        assert "--retry-quarantined" in said
        assert {row["problem_id"] for row in Landing(home).read("topic_scores").to_pylist()} == {"p0"}
        server.script = model
        assert saber(capsys, "topics", *flags(server, home))[0] == 1  # not paid for again unasked
        assert saber(capsys, "topics", *flags(server, home), "--retry-quarantined")[0] == 0
    assert {row["problem_id"] for row in Landing(home).read("topic_scores").to_pylist()} == {"p0", "p1"}


@pytest.mark.parametrize("stage", ["topics", "summaries"])
def test_quarantined_problems_do_not_use_up_a_limit(
    home: Path, capsys: pytest.CaptureFixture[str], stage: str
) -> None:
    """The first problems were taken even when all of them were quarantined: a repeated run made no progress."""

    def broken(seen: Seen) -> Act:
        return reply("no JSON") if "this prime number" in seen.prompt else model(seen)

    with ChatServer(broken) as server:
        limited = (stage, *flags(server, home), "--limit", "1")
        code, result, _ = saber(capsys, *limited)
        assert (code, result["problems"], result["failed"]) == (1, 0, 1)
        tried = len([prompt for prompt in server.prompts if "this prime number" in prompt])
        code, result, said = saber(capsys, *limited)
        assert (code, result["problems"], result["failed"], result["calls"]["quarantined"]) == (1, 1, 1, 1)
        assert "--retry-quarantined" in said
        code, result, _ = saber(capsys, *limited)
        assert (code, result["problems"], result["failed"], result["calls"]["sent"]) == (1, 0, 1, 0)
        assert len([prompt for prompt in server.prompts if "this prime number" in prompt]) == tried


def test_an_unknown_provider_is_one_sentence(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = saber(capsys, "topics", "--home", str(home), "--provider", "nobody")
    assert code == 1
    assert "nobody" in said
    assert "Traceback" not in said
