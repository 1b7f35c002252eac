"""``saber judge`` against a server that misbehaves: nothing invalid is parsed, nothing is lost, failures are rows."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotate.tournament.reparse import reparse_judgments
from annotate.tournament.setup import Choice, prepare
from tests.servers.chat import Act, ChatServer, Seen, busy
from tests.servers.chat import reply as chat_reply
from tests.test_ratings_job import build, run
from warehouse.cli import main
from warehouse.identity import pair_hash
from warehouse.landing import Landing
from warehouse.settings import load_settings
from warehouse.variants import ontology_in_use, selected_variants

KEY = "sk-very-secret-0123456789"


def reply(text: str, **changes: Any) -> Act:
    """Answer with as many prompt tokens as the prompt may have: fewer would look like a cut prompt."""
    usage = {"prompt_tokens": 1500, "completion_tokens": 7, "total_tokens": 1507}
    return chat_reply(text, usage=usage, **changes)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The warehouse of the rating tests, and a provider that waits for nothing."""
    own = tmp_path / "own.toml"
    text = (Path(__file__).parent.parent / "saber.toml").read_text("utf-8")
    table = '\n[providers.quick]\nmodel = "m"\nattempts = 2\nbackoff_s = 0.0\nkey_variable = "QUICK_KEY"\n'
    table += "price_in = 2.0\nprice_out = 10.0\n"
    own.write_text(text + table, encoding="utf-8")
    monkeypatch.setenv("SABER_SETTINGS", str(own))
    monkeypatch.setenv("SABER_HOME", str(tmp_path))
    monkeypatch.setenv("QUICK_KEY", KEY)
    build(tmp_path, 6)
    return tmp_path


def flags(server: ChatServer) -> list[str]:
    return ["judge", "--provider", "quick", "--base-url", server.url, "--rounds", "3"]


def judgments(home: Path) -> list[dict[str, Any]]:
    return Landing(home).read("judgments").to_pylist()


def test_misbehaving_server(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut off, refused and answerless replies are tried twice and recorded as invalid; 429 costs nothing."""

    def script(seen: Seen) -> Act:
        if seen.number in (1, 5):
            return busy("0")
        if "2x^{1}" in seen.prompt or "$2x^2$" in seen.prompt:  # q0d0 among the candidates of q0
            return reply(r"Profile: \boxed{1} and", finish_reason="length")
        if "$3x^3$" in seen.prompt:
            return reply(r"Both are fine. \boxed{1} \boxed{both}")
        return reply(r"<think>\boxed{1}</think> Compared. \boxed{2}")

    with ChatServer(script) as server:
        code, judged, err = run(capsys, *flags(server))
        rows = judgments(home)
        assert code == 1
        assert "--retry-quarantined" in err
        assert judged["unanswered"] == 0
        by_reason = Counter(row["reason"] for row in rows if row["verdict"] == "invalid")
        assert set(by_reason) == {"length", "boxed_answer_of_wrong_form"}
        assert judged["invalid"] == sum(by_reason.values())
        assert {row["verdict"] for row in rows} == {"second", "invalid"}
        asked = len(server.seen)
        code, again, _ = run(capsys, *flags(server), "--accept-invalid")
        assert (code, again["asked"], len(server.seen)) == (0, 0, asked)
    for path in home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()
    assert KEY not in err


def test_invalid_verdicts_can_be_asked_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = {"is": True}

    def script(seen: Seen) -> Act:
        return reply("I would rather not say." if broken["is"] else r"\boxed{1}")

    with ChatServer(script) as server:
        code, judged, _ = run(capsys, *flags(server))
        assert (code, judged["verdicts"]) == (1, {"invalid": len(judgments(home))})
        broken["is"] = False
        code, judged, _ = run(capsys, *flags(server), "--retry-quarantined")
    assert code == 0
    assert judged["invalid"] == 0
    assert {row["verdict"] for row in judgments(home)} == {"first"}


def selected(home: Path, **judging: Any) -> str:
    """Return the variant of judgments that the marts read under these settings."""
    overrides = {f"judging.{name}": value for name, value in judging.items()}
    settings = load_settings(home, overrides=overrides)
    return selected_variants(settings, ontology_in_use(settings, Landing(home))).judgments


def test_the_settings_select_each_way_of_asking(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(lambda seen: reply(r"\boxed{2}")) as server:
        _, only, _ = run(capsys, *flags(server), "--answer-only")
        _, whole, _ = run(capsys, *flags(server), "--no-answer-only")
    assert only["variant"] == selected(home, provider="quick", model="m", answer_only=True)
    assert whole["variant"] == selected(home, provider="quick", model="m")
    assert selected(home) == selected(home, answer_only=True)  # offline there is one way only


def test_a_dry_run_learns_from_a_pilot(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eighteen verdicts are due, four are the pilot: 1,500 tokens in and 7 out each, says the server."""
    with ChatServer(lambda seen: reply(r"\boxed{1}")) as server:
        run(capsys, *flags(server), "--limit", "4")
        asked = len(server.seen)
        code, planned, _ = run(capsys, *flags(server), "--dry-run", "--concurrency", "1")
        _, wider, _ = run(capsys, *flags(server), "--dry-run", "--concurrency", "4")
        assert len(server.seen) == asked
    assert (code, planned["calls"], planned["pilot_calls"], planned["verdicts_landed"]) == (0, 14, 4, 4)
    assert planned["tokens_out"] == 14 * 7
    assert planned["tokens_in"] == pytest.approx(14 * 1500, rel=0.1)  # by the prompts that are left
    assert planned["cost"] == pytest.approx((2.0 * planned["tokens_in"] + 10.0 * planned["tokens_out"]) / 1e6)
    assert planned["hours"] == pytest.approx(4 * wider["hours"])


def test_an_answer_at_the_end_of_a_longer_reply_counts(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server without structured output was asked for the answer alone and every longer reply was refused."""
    with ChatServer(lambda seen: reply(r"The second shares the lemma. \boxed{2}")) as server:
        code, judged, _ = run(capsys, *flags(server), "--answer-only")
    assert code == 0
    assert judged["verdicts"] == {"second": judged["asked"]}


def test_answer_only_asks_for_the_choice(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(lambda seen: reply(r"\boxed{2}")) as server:
        code, judged, _ = run(capsys, *flags(server), "--answer-only")
        plain = prepare(load_settings(home), Choice(provider="quick", base_url=[server.url])).provenance.variant
        assert code == 0
        assert {row["variant"] for row in judgments(home)} == {judged["variant"]} != {plain}
        assert {row["verdict"] for row in judgments(home)} == {"second"}


def test_reparse_restores_what_the_replies_say(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows that an older reading got wrong are landed anew from the raw replies; nothing is sent."""
    with ChatServer(lambda seen: reply(r"\boxed{1}")) as server:
        run(capsys, *flags(server))
        setup = prepare(load_settings(home), Choice(provider="quick", base_url=[server.url]))
        wrong = [
            {k: v for k, v in row.items() if k not in ("job_id", "sequence", "schema_version")}
            for row in judgments(home)[:5]
        ]
        Landing(home).append("judgments", [{**row, "verdict": "second"} for row in wrong], "older")
        sent = len(server.seen)
        done = asyncio.run(reparse_judgments(setup, Landing(home), "reparse"))
        assert (done.pairs, done.rows_changed, done.not_in_log) == (len(judgments(home)), 5, 0)
        assert len(server.seen) == sent
        assert {row["verdict"] for row in judgments(home)} == {"first"}
        again = asyncio.run(reparse_judgments(setup, Landing(home), "reparse"))
        assert again.rows_changed == 0


def test_reparse_reads_every_round_again_after_verdicts_were_asked_again(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verdicts put right later change the standings: rounds played anew went to pairs that nobody had asked about."""

    def script(seen: Seen) -> Act:
        broken = len(server.seen) < 12
        return reply("no answer") if broken else reply(rf"\boxed{{{1 + len(seen.prompt) % 2}}}")

    with ChatServer(script) as server:
        given = flags(server)
        assert run(capsys, *given)[0] == 1
        assert run(capsys, *given, "--retry-quarantined")[0] == 0
        before = judgments(home)
        assert max(row["round"] for row in before) > 1
        wrong = [
            {k: v for k, v in row.items() if k not in ("job_id", "sequence", "schema_version")} for row in before
        ]
        Landing(home).append(
            "judgments", [{**row, "verdict": "invalid", "reason": "older"} for row in wrong], "older"
        )
        sent = len(server.seen)
        assert main(["reparse", "judge", "--json", "--home", str(home)]) == 0
        assert len(server.seen) == sent
    done = json.loads(capsys.readouterr().out)["replayed"]
    assert [(line["rows"], line["missing"], line["failed"]) for line in done] == [(len(before), 0, 0)]
    kept = ("query_id", "first_id", "second_id", "round", "verdict", "call_id")

    def essence(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return sorted(tuple(row[name] for name in kept) for row in rows)

    assert essence(judgments(home)) == essence(before)


def test_reparse_leaves_verdicts_without_replies(home: Path) -> None:
    setup = prepare(load_settings(home), Choice())
    hashes = [setup.field.problems[p]["content_hash"] for p in ("q0", "q0d0", "q0d1")]
    source = setup.provenance
    row = {
        "benchmark": source.benchmark,
        "query_id": "q0",
        "first_id": "q0d0",
        "second_id": "q0d1",
        "kind": "pair",
        "vote": 0,
        "judge": setup.judge_names[0],
        "schedule": "swiss",
        "round": 1,
        "verdict": "first",
        "content_hash": pair_hash(*hashes),
        "variant": source.variant,
    }
    Landing(home).append("judgments", [row], "imported")
    done = asyncio.run(reparse_judgments(setup, Landing(home), "reparse"))
    assert (done.pairs, done.rows_changed, done.not_in_log) == (1, 0, 1)
