"""saber trace: the chain from a relevance to raw replies, and close ids for those that do not exist."""

from __future__ import annotations

import json

import pytest
from snapshot_home import SnapshotHome

from warehouse.cli import main
from warehouse.cli.trace import lines
from warehouse.errors import SaberError
from warehouse.trace import Chain, trace


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Query s/1: a majority judge compares s/4 with s/5 (two votes), an older verdict of another text, one grade."""
    made = SnapshotHome(tmp_path)
    monkeypatch.setenv("SABER_SETTINGS", str(made.settings_file))
    monkeypatch.setenv("SABER_HOME", str(made.path))
    base = {
        "benchmark": "test-bench", "query_id": "s/1", "kind": "pair", "vote": 0, "judge": "pairwise",
        "schedule": "swiss", "provider": "offline", "model": "lexical-1", "variant": made.variants.judgments,
        "prompt_version": "judge@1",
    }  # fmt: skip
    seen = made.pair("s/1", "s/5", "s/4")
    pair = {**base, "first_id": "s/5", "second_id": "s/4", "content_hash": seen}
    other = {"first_id": "s/4", "second_id": "s/6", "content_hash": "0" * 32}
    grade = {"kind": "score", "judge": "ordinal", "variant": "v-ordinal"}
    graded = {"score": 80.0, "call_id": "call-4", "content_hash": made.pair("s/1", "s/4")}
    worse = {"score": 20.0, "call_id": "call-7", "content_hash": made.pair("s/1", "s/7")}
    against = {"first_id": "s/4", "second_id": "s/7", "content_hash": made.pair("s/1", "s/4", "s/7")}
    rows = [
        {**pair, "verdict": "second", "round": 1},
        {**pair, "verdict": "second", "round": 1, "vote": 1, "call_id": "call-1"},
        {**pair, "verdict": "invalid", "round": 1, "vote": 2, "call_id": "call-2", "reason": "no box"},
        {**base, **other, "verdict": "first", "round": 2, "call_id": "call-3"},
        {**base, **grade, **graded, "first_id": "s/4", "round": 1},
        {**base, **grade, **worse, "first_id": "s/7", "round": 1},
        {**base, **grade, "kind": "pair", **against, "verdict": "first", "round": 1},
    ]
    made.landing.append("judgments", rows, "judge-1")
    bye = {"benchmark": "test-bench", "query_id": "s/1", "judge": "pairwise", "schedule": "swiss", "variant": "v"}
    made.landing.append("byes", [{**bye, "document_id": "s/4", "round": n} for n in (7, 3)], "judge-1")
    calls = [
        {"call_id": "call-1", "attempt": 1, "endpoint": "http://s/v1", "model": "m", "error": "timeout"},
        {"call_id": "call-1", "attempt": 2, "endpoint": "http://s/v1", "model": "m", "reply": r"It is \boxed{2}"},
        {"call_id": "call-2", "attempt": 1, "endpoint": "http://s/v1", "model": "m", "reply": "\x1b[2J neither"},
    ]
    made.landing.append("llm_calls", calls, "judge-1")
    rating = {
        "benchmark": "test-bench", "query_id": "s/1", "document_id": "s/4", "judge": "pairwise",
        "schedule": "swiss", "rating": 5.0, "log_strength": 0.75, "n_comparisons": 1, "ridge": 1.0,
        "variant": made.variants.ratings, "content_hash": made.pair("s/1", "s/4"),
    }  # fmt: skip
    made.landing.append("ratings", [rating], "rate-1")
    return made


def test_the_chain_by_hand(home):
    chain = trace(home.settings, "s/1", "s/4")
    assert chain.relevance["relevance"] == 5.0
    assert (chain.relevance["log_strength"], chain.relevance["n_comparisons"]) == (0.75, 1)
    by_opponent = {row["opponent_id"]: row for row in chain.judgments}
    assert by_opponent.keys() == {"s/5", "s/6", "s/7"}
    votes = by_opponent["s/5"]
    assert (votes["shown"], votes["verdict"], votes["outcome"]) == ("second", "second", "won")
    assert votes["call_ids"] == ["call-1", "call-2"]
    assert [(one["vote"], one["verdict"]) for one in votes["ballots"]] == [(1, "second"), (2, "invalid")]
    assert (votes["is_current"], votes["is_counted"]) == (True, True)
    older = by_opponent["s/6"]
    assert (older["outcome"], older["is_current"], older["is_counted"]) == ("won", False, False)
    graded = by_opponent["s/7"]
    assert [(one["first_id"], one["score"]) for one in graded["ballots"]] == [("s/4", 80.0), ("s/7", 20.0)]
    assert graded["is_counted"] is False
    assert [call["attempt"] for call in chain.calls["call-1"]] == [1, 2]
    assert chain.calls["call-1"][1]["reply"] == r"It is \boxed{2}"
    assert chain.calls["call-3"] == []


def test_the_other_side_lost(home):
    outcomes = {row["opponent_id"]: row["outcome"] for row in trace(home.settings, "s/1", "s/5").judgments}
    assert outcomes == {"s/4": "lost"}


def test_replies_cannot_drive_the_terminal(home, capsys):
    assert main(["trace", "s/1", "s/4"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"\x1b[2J neither" in out
    assert r"It is \boxed{2}" in out
    assert "FAILED timeout" in out
    assert "call-3  not in the call log" in out
    assert "[older text]" in out
    assert "sat out round 3, 7  pairwise swiss" in out


def test_long_texts_are_cut_in_the_middle_unless_asked_for_whole():
    problem = {"problem_id": "s/1", "statement": "x" * 5000}
    chain = Chain(problem, problem, {"relevance": 1.0, "origin": "elsewhere", "benchmark": "b"})
    shown, whole = "\n".join(lines(chain, 400)), "\n".join(lines(chain, None))
    assert "4900 characters left out" in shown
    assert whole.count("x") == 10_000


@pytest.mark.parametrize(
    ("query", "document", "words"),
    [
        ("s/11", "s/4", "No query 's/11' has candidates. Close queries: s/1"),
        ("1", "s/4", "Close queries: s/1"),
        ("s/1", "s/44", "'s/44' is no candidate of query 's/1'. Close candidates: s/4"),
        ("s/1'; drop table x; --", "s/4", "No query"),
    ],
)
def test_unknown_ids_are_answered_with_close_ones(home, query, document, words):
    with pytest.raises(SaberError, match=words.replace(".", r"\.")):
        trace(home.settings, query, document)


def test_a_pair_without_judgments_says_what_to_do(home, capsys):
    assert main(["trace", "s/3", "s/8"]) == 0
    assert "relevance none yet" in capsys.readouterr().out


def test_imported_relevances_are_traced_to_their_file(home, capsys):
    row = {
        "benchmark": "other",
        "query_id": "s/7",
        "document_id": "s/8",
        "relevance": 2.0,
        "origin": "q.txt@1",
        "variant": "v",
    }
    home.landing.append("qrels", [row], "import-1")
    home.build()
    assert main(["trace", "s/7", "s/8"]) == 0
    assert "relevance 2.0 imported from q.txt@1 (benchmark other)" in capsys.readouterr().out


def test_the_chain_of_the_sample_is_what_the_tables_say(sample_home):
    """One qrel of a real build against the staging views."""
    query, document, relevance = sample_home.rows(
        "select query_id, document_id, relevance from benchmark.qrels order by relevance desc, 1, 2 limit 1"
    )[0]
    result = sample_home.saber("trace", query, document, "--json")
    assert result.returncode == 0, result.stderr
    chain = json.loads(result.stdout)
    assert chain["relevance"]["relevance"] == relevance
    expected = sample_home.rows(
        f"""
        select round, case when first_id = '{document}' then second_id else first_id end, verdict, call_id
        from staging.stg_judgments
        where query_id = '{query}' and '{document}' in (first_id, second_id) and vote = 0 order by round
        """
    )
    found = [(row["round"], row["opponent_id"], row["verdict"], row["call_ids"][0]) for row in chain["judgments"]]
    assert found == expected
    assert len(found) == chain["relevance"]["n_comparisons"]
    assert all(row["is_counted"] and row["is_current"] for row in chain["judgments"])
    replies = dict(sample_home.rows("select call_id, reply from staging.stg_llm_calls where purpose = 'judge'"))
    assert {call: attempts[0]["reply"] for call, attempts in chain["calls"].items()} == {
        row[3]: replies[row[3]] for row in expected
    }
