"""The tournament job: replay, resumption, limits, both orders, invalid verdicts, byes, extra rounds, grades."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotate.calls.log import CallLog
from annotate.calls.policy import Policy
from annotate.judges.asking import Asking
from annotate.judges.base import Judge
from annotate.judges.ordinal import PLACES as ORDINAL_PLACES
from annotate.judges.ordinal import OrdinalJudge
from annotate.judges.pairwise import PLACES as PAIRWISE_PLACES
from annotate.judges.pairwise import PairwiseJudge
from annotate.prompts import parse_prompt
from annotate.providers.base import Reply, Request
from annotate.tournament.asking import Asker, Provenance
from annotate.tournament.field import Field, LandedVerdicts, read_landed
from annotate.tournament.job import Job, Options, Outcome
from annotate.tournament.keys import hash_keys, round_keys
from annotate.tournament.state import Entrants, Tournament
from annotate.tournament.swiss import pair_round
from warehouse.identity import content_hash, pair_hash
from warehouse.landing import Landing

SEED = 4
Script = Callable[[Request], Reply | None]


class ScriptedProvider:
    """Prefers the longer solution; a script may answer otherwise, or raise."""

    name, model, endpoint = "server", "m", "http://scripted"
    policy = Policy(concurrency=4, attempts=1, service_attempts=1, backoff_s=0.0, given_up_in_a_row=1000)

    def __init__(self, script: Script | None = None) -> None:
        self.script = script
        self.asked: list[dict[str, Any]] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append({**request.about, "sample": request.sample})
        if self.script is not None and (scripted := self.script(request)) is not None:
            return scripted
        lengths = [int(n) for n in re.findall(r"strength=(\d+)", request.messages[-1]["content"])]
        if "document_id" in request.about:
            return answer(rf"\boxed{{{lengths[-1]}}}")
        return answer(rf"\boxed{{{1 if lengths[1] > lengths[2] else 2}}}")


def answer(text: str | None, finish: str = "stop", error: str | None = None) -> Reply:
    return Reply(text, finish, "m", None, 10, 10, 0.0, error)


def make_field(sizes: list[int], text: str = "") -> Field:
    problems, entrants = {}, []
    for q, n in enumerate(sizes):
        ids = [f"q{q}", *(f"q{q}d{d:02d}" for d in range(n))]
        for d, name in enumerate(ids):
            solution = f"strength={(7 * d) % 101}{text}"
            problems[name] = {
                "problem_id": name,
                "statement": name,
                "solution": solution,
                "metadata": None,
                "content_hash": content_hash(name, solution),
                "topics": [],
            }
        entrants.append(Entrants(ids[0], tuple(ids[1:])))
    return Field("bench", "v0", tuple(entrants), problems)


def judge_of(kind: str) -> Judge:
    places = ORDINAL_PLACES if kind == "ordinal" else PAIRWISE_PLACES
    prompt = parse_prompt("## user\n" + "\n".join(f"{{{{ {p} }}}}" for p in places), f"{kind}@1", places, "it")
    if kind == "ordinal":
        return OrdinalJudge("ordinal", Asking(prompt))
    return PairwiseJudge(kind, Asking(prompt), votes=5 if kind == "majority" else 1)


def play(
    home: Path,
    field: Field,
    provider: ScriptedProvider,
    *,
    schedule: str = "swiss",
    rounds: int = 4,
    judge: str = "pairwise",
    **options: Any,
) -> tuple[Outcome, LandedVerdicts, Tournament]:
    landing = Landing(home)
    judges = [judge_of(judge)] * len(field.entrants)
    names = [one.name for one in judges]
    landed = read_landed(landing, field, names, schedule, "v1")
    tournament = Tournament(field.entrants, schedule, rounds, SEED, landed.results)
    asker = Asker(field, judges, Provenance("bench", schedule, "v1", "server", "m"), landed.grades)
    log = CallLog(landing, provider, "job", validate=asker.validate, progress=False)
    job = Job(tournament, asker, landed, log, landing, "job", Options(SEED, **options), lambda line: None)
    outcome = asyncio.run(job.play())
    return outcome, read_landed(landing, field, names, schedule, "v1"), tournament


def table(home: Path, name: str = "judgments") -> list[dict[str, Any]]:
    return Landing(home).read(name).to_pylist()


def essence(home: Path) -> list[tuple[Any, ...]]:
    keys = ("query_id", "first_id", "second_id", "kind", "vote", "round", "verdict", "score", "call_id")
    return sorted((tuple(str(row[key]) for key in keys) for row in table(home)), key=str)


def test_swiss_job_plays_the_rule(tmp_path: Path) -> None:
    """Replayed one query at a time by the plain rule, from the landed verdicts alone."""
    field = make_field([8, 5, 2, 1])
    provider = ScriptedProvider()
    outcome, _, _ = play(tmp_path, field, provider, rounds=5)
    rows = table(tmp_path)
    assert outcome.asked == len(rows) == len(provider.asked)
    assert not outcome.unfinished
    sat_out = {(r["query_id"], r["document_id"], r["round"]) for r in table(tmp_path, "byes")}
    for entrants in field.entrants:
        n = len(entrants.document_ids)
        keys = hash_keys(SEED, [entrants.query_id] * n, entrants.document_ids)
        wins: dict[int, float] = defaultdict(float)
        met: dict[int, set[int]] = defaultdict(set)
        for number in range(1, 6):
            order = [int(d) for d in np.argsort(round_keys(keys, number), kind="stable")]
            pairing = pair_round(order, defaultdict(float, wins), met)
            landed = {
                frozenset((r["first_id"], r["second_id"])): r["verdict"]
                for r in rows
                if r["query_id"] == entrants.query_id and r["round"] == number
            }
            ids = entrants.document_ids
            assert set(landed) == {frozenset((ids[i], ids[j])) for i, j in pairing.pairs}
            assert {d for q, d, k in sat_out if q == entrants.query_id and k == number} == {
                ids[d] for d in pairing.sat_out
            }
            for i, j in pairing.pairs:
                met[i].add(j)
                met[j].add(i)
                wins[max(i, j, key=lambda d: (7 * (d + 1)) % 101)] += 1


def test_rows_say_where_they_come_from(tmp_path: Path) -> None:
    field = make_field([4])
    play(tmp_path, field, ScriptedProvider(), rounds=1)
    calls = {row["call_id"]: row for row in table(tmp_path, "llm_calls")}
    for row in table(tmp_path):
        assert calls[row["call_id"]]["error"] is None
        hashes = [field.problems[row[c]]["content_hash"] for c in ("query_id", "first_id", "second_id")]
        assert row["content_hash"] == pair_hash(*hashes)
        assert (row["judge"], row["schedule"], row["variant"], row["provider"]) == (
            "pairwise",
            "swiss",
            "v1",
            "server",
        )
        assert (row["kind"], row["vote"], row["prompt_version"]) == ("pair", 0, "pairwise@1")


def test_presentation_order_is_a_fair_recorded_coin(tmp_path: Path) -> None:
    play(tmp_path, make_field([24]), ScriptedProvider(), schedule="exhaustive")
    shown = [row["first_id"] < row["second_id"] for row in table(tmp_path)]
    assert len(shown) == 276
    assert abs(sum(shown) - 138) < 4 * np.sqrt(276) / 2


def test_second_run_asks_and_lands_nothing(tmp_path: Path) -> None:
    field = make_field([7, 6])
    play(tmp_path, field, ScriptedProvider())
    files = sorted(p.name for p in (tmp_path / "landing").rglob("*.parquet"))
    again = ScriptedProvider()
    outcome, _, _ = play(tmp_path, field, again)
    assert (outcome.asked, again.asked) == (0, [])
    assert outcome.from_landing == len(table(tmp_path))
    assert sorted(p.name for p in (tmp_path / "landing").rglob("*.parquet")) == files


@pytest.mark.parametrize("kill_at", [2, 9, 23])
def test_kill_and_run_again_gives_the_undisturbed_tables(tmp_path: Path, kill_at: int) -> None:
    field = make_field([8, 7])
    play(tmp_path / "whole", field, ScriptedProvider(), rounds=5)
    program = (
        "import os, sys; from pathlib import Path; sys.path.insert(0, sys.argv[1])\n"
        "import test_tournament_job as job\n"
        "provider = job.ScriptedProvider()\n"
        "provider.script = lambda request: os._exit(9) if len(provider.asked) == int(sys.argv[3]) else None\n"
        "job.play(Path(sys.argv[2]), job.make_field([8, 7]), provider, rounds=5)\n"
    )
    here = Path(__file__).parent
    command = [sys.executable, "-c", program, str(here), str(tmp_path / "cut"), str(kill_at)]
    assert subprocess.run(command, cwd=here.parent, check=False).returncode == 9
    resumed = ScriptedProvider()
    play(tmp_path / "cut", field, resumed, rounds=5)
    assert essence(tmp_path / "cut") == essence(tmp_path / "whole")


def test_verdicts_lost_between_reply_and_landing_cost_no_call(tmp_path: Path) -> None:
    """Only the parsed rows are gone: the log answers, nothing is sent, and the tables are equal."""
    field = make_field([6])
    play(tmp_path, field, ScriptedProvider())
    before = essence(tmp_path)
    for path in (tmp_path / "landing" / "judgments").glob("*.parquet"):
        path.unlink()
    provider = ScriptedProvider()
    play(tmp_path, field, provider)
    assert provider.asked == []
    assert essence(tmp_path) == before


def test_limit_in_pieces_equals_one_run(tmp_path: Path) -> None:
    field = make_field([8, 5])
    play(tmp_path / "whole", field, ScriptedProvider())
    while True:
        outcome, _, _ = play(tmp_path / "pieces", field, ScriptedProvider(), limit=4)
        assert outcome.asked <= 4
        if outcome.asked < 4:
            break
    assert essence(tmp_path / "pieces") == essence(tmp_path / "whole")


def test_more_rounds_extend_a_tournament(tmp_path: Path) -> None:
    field = make_field([8])
    play(tmp_path / "whole", field, ScriptedProvider(), rounds=6)
    play(tmp_path / "grown", field, ScriptedProvider(), rounds=2)
    play(tmp_path / "grown", field, ScriptedProvider(), rounds=6)
    assert essence(tmp_path / "grown") == essence(tmp_path / "whole")


def test_invalid_verdicts_are_played_and_recorded(tmp_path: Path) -> None:
    """Nothing q0d03 takes part in has an answer: rounds go on, no rematch, no win from it."""

    def mute(request: Request) -> Reply | None:
        return answer("I cannot decide.") if "q0d03" in request.about.values() else None

    outcome, _, tournament = play(tmp_path, make_field([8]), ScriptedProvider(mute), rounds=5)
    rows = table(tmp_path)
    invalid = [row for row in rows if row["verdict"] == "invalid"]
    assert len(invalid) == outcome.invalid >= 4
    assert all("q0d03" in (row["first_id"], row["second_id"]) for row in invalid)
    assert {row["reason"] for row in invalid} == {"no_boxed_answer"}
    assert {row["round"] for row in rows} == set(range(1, 6))
    assert len({frozenset((row["first_id"], row["second_id"])) for row in rows}) == len(rows)
    assert tournament.standings.points[0, 3] == 0
    assert tournament.standings.points.sum() == len(rows) - len(invalid)
    assert tournament.standings.n_valid[0, 3] == 0
    # Left alone by a plain second run, asked again on demand.
    quiet = ScriptedProvider()
    play(tmp_path, make_field([8]), quiet, rounds=5)
    assert quiet.asked == []


def test_invalid_verdicts_asked_again_on_demand(tmp_path: Path) -> None:
    def mute(request: Request) -> Reply | None:
        return answer("Hm.") if request.about["first_id"] == "q0d01" else None

    field = make_field([6])
    outcome, _, _ = play(tmp_path, field, ScriptedProvider(mute), rounds=3)
    assert outcome.invalid > 0
    provider = ScriptedProvider()
    provider.policy = replace(provider.policy, retry_quarantined=True)
    again, _, _ = play(tmp_path, field, provider, rounds=3, retry_invalid=True)
    assert len(provider.asked) >= outcome.invalid
    assert again.invalid == 0
    assert not [row for row in table(tmp_path) if row["verdict"] == "invalid"]


def test_service_failures_are_asked_again_by_the_next_run(tmp_path: Path) -> None:
    """A verdict the service did not give is no invalid verdict; only its query waits."""
    field = make_field([6, 6])
    play(tmp_path / "whole", field, ScriptedProvider())
    failing = {"left": 1}

    def shaky(request: Request) -> Reply | None:
        if request.about["query_id"] == "q1" and failing["left"]:
            failing["left"] -= 1
            return answer(None, error="dropped")
        return None

    outcome, _, _ = play(tmp_path / "shaky", field, ScriptedProvider(shaky))
    assert (outcome.unanswered, outcome.unfinished) == (1, True)
    rounds = {q: {r["round"] for r in table(tmp_path / "shaky") if r["query_id"] == q} for q in ("q0", "q1")}
    assert rounds == {"q0": {1, 2, 3, 4}, "q1": {1}}
    play(tmp_path / "shaky", field, ScriptedProvider())
    assert essence(tmp_path / "shaky") == essence(tmp_path / "whole")


def test_both_orders(tmp_path: Path) -> None:
    """A judge that always says 1 gives every pair half a win each way: all points stay equal."""
    partial = ScriptedProvider(lambda request: answer(r"\boxed{1}"))
    field = make_field([6])
    _, _, tournament = play(tmp_path, field, partial, rounds=2, both_orders=True)
    orders = {(row["first_id"], row["second_id"]) for row in table(tmp_path)}
    assert len(orders) == 12
    assert {(b, a) for a, b in orders} == orders
    np.testing.assert_allclose(tournament.standings.points, [[1.0] * 6])
    assert tournament.standings.n_valid.tolist() == [[2] * 6]


def test_both_orders_later_asks_only_the_other_order(tmp_path: Path) -> None:
    field = make_field([6])
    play(tmp_path, field, ScriptedProvider(), rounds=3)
    once = {(row["first_id"], row["second_id"]) for row in table(tmp_path)}
    provider = ScriptedProvider()
    play(tmp_path, field, provider, rounds=3, both_orders=True)
    assert {(a["first_id"], a["second_id"]) for a in provider.asked} == {(b, a) for a, b in once}


def test_changed_text_is_judged_again_and_other_verdicts_stand(tmp_path: Path) -> None:
    field = make_field([6])
    play(tmp_path, field, ScriptedProvider(), schedule="exhaustive")
    changed = dict(field.problems)
    changed["q0d02"] = {**changed["q0d02"], "solution": "strength=90", "content_hash": content_hash("q0d02", "new")}
    provider = ScriptedProvider()
    play(tmp_path, replace(field, problems=changed), provider, schedule="exhaustive")
    assert len(provider.asked) == 5
    assert all("q0d02" in asked.values() for asked in provider.asked)


def test_new_candidates_keep_landed_verdicts(tmp_path: Path) -> None:
    """One late-comer among an even field sits out every round until it is finished."""
    play(tmp_path, make_field([10]), ScriptedProvider(), rounds=2)
    before = set(essence(tmp_path))
    provider = ScriptedProvider()
    _, _, tournament = play(tmp_path, make_field([11]), provider, rounds=2)
    assert provider.asked == []
    assert tournament.standings.n_valid[0].tolist() == [2] * 10 + [0]
    finished = ScriptedProvider()
    outcome, _, _ = play(tmp_path, make_field([11]), finished, rounds=2, finish=True)
    assert before < set(essence(tmp_path))
    assert len(finished.asked) == 2, "as many verdicts as the others have"
    assert all("q0d10" in asked.values() for asked in finished.asked)
    assert not outcome.unfinished
    again = ScriptedProvider()
    play(tmp_path, make_field([11]), again, rounds=2, finish=True)
    assert again.asked == []


def test_finish_links_late_comers_that_met_only_each_other(tmp_path: Path) -> None:
    """Six late-comers play their rounds among themselves: links join the two graphs."""
    play(tmp_path, make_field([6]), ScriptedProvider(), rounds=2)
    play(tmp_path, make_field([12]), ScriptedProvider(), rounds=2)
    rows = table(tmp_path)
    assert not [r for r in rows if (r["first_id"] < "q0d06") != (r["second_id"] < "q0d06")], "two separate graphs"
    provider = ScriptedProvider()
    play(tmp_path, make_field([12]), provider, rounds=2, finish=True)
    links = [(a["first_id"], a["second_id"]) for a in provider.asked]
    assert links, "nobody is short of verdicts, the graphs are apart"
    assert all((a < "q0d06") != (b < "q0d06") for a, b in links)


def test_finish_makes_up_for_invalid_verdicts(tmp_path: Path) -> None:
    hopeless = {"q0d01"}

    def mute(request: Request) -> Reply | None:
        return answer("?") if hopeless & set(request.about.values()) else None

    play(tmp_path, make_field([9]), ScriptedProvider(mute), rounds=3)
    hopeless.clear()
    play(tmp_path, make_field([9]), ScriptedProvider(), rounds=3, finish=True)
    valid = Counter(d for r in table(tmp_path) if r["verdict"] != "invalid" for d in (r["first_id"], r["second_id"]))
    assert min(valid.values()) >= 3
    assert len(valid) == 9


def test_verdicts_of_extra_rounds_count_for_who_is_unjudged(tmp_path):
    """A run without --finish counted the scheduled rounds alone and told of candidates without a rating."""
    field = make_field([9])
    play(tmp_path, field, ScriptedProvider(), schedule="random", rounds=1)
    play(tmp_path, field, ScriptedProvider(), schedule="random", rounds=1, finish=True)
    landing, provider, judges = Landing(tmp_path), ScriptedProvider(), [judge_of("pairwise")]
    for results, expected in ((True, 0), (False, 9)):
        landed = read_landed(landing, field, ["pairwise"], "random", "v1" if results else "none")
        tournament = Tournament(field.entrants, "random", 1, SEED, landed.results)
        asker = Asker(field, judges, Provenance("bench", "random", "v1", "server", "m"), landed.grades)
        log = CallLog(landing, provider, "job", validate=asker.validate, send=False)
        job = Job(tournament, asker, landed, log, landing, "job", Options(SEED, limit=1), lambda line: None)
        assert job.unjudged() == expected
        if results:
            asyncio.run(job.play())
            assert job.unjudged() == expected
    assert provider.asked == []


def test_finish_ends_when_nothing_helps(tmp_path: Path) -> None:
    outcome, _, _ = play(
        tmp_path, make_field([5]), ScriptedProvider(lambda request: answer("?")), rounds=2, finish=True
    )
    assert len(table(tmp_path)) == 10, "every pair was tried once"
    assert outcome.invalid == 10


def test_random_schedule_has_as_many_pairs(tmp_path: Path) -> None:
    play(tmp_path, make_field([9, 3]), ScriptedProvider(), schedule="random", rounds=4)
    pairs = Counter((r["query_id"], frozenset((r["first_id"], r["second_id"]))) for r in table(tmp_path))
    assert set(pairs.values()) == {1}
    assert Counter(query for query, _ in pairs) == {"q0": 16, "q1": 3}
    assert table(tmp_path, "byes") == []


def test_exhaustive_schedule(tmp_path: Path) -> None:
    play(tmp_path, make_field([5, 4]), ScriptedProvider(), schedule="exhaustive")
    pairs = Counter(frozenset((r["first_id"], r["second_id"])) for r in table(tmp_path))
    expected = [
        frozenset(p) for q, n in ((0, 5), (1, 4)) for p in combinations([f"q{q}d{d:02d}" for d in range(n)], 2)
    ]
    assert pairs == Counter(expected)
    assert len(table(tmp_path, "byes")) == 5


def test_majority_lands_five_ballots_and_the_decision(tmp_path: Path) -> None:
    def split(request: Request) -> Reply | None:
        return answer(r"\boxed{1}" if request.sample < 3 else r"\boxed{2}")

    outcome, landed, _ = play(tmp_path, make_field([4]), ScriptedProvider(split), rounds=1, judge="majority")
    rows = table(tmp_path)
    assert Counter(row["vote"] for row in rows) == dict.fromkeys(range(6), 2)
    decisions = [row for row in rows if row["vote"] == 0]
    assert [(row["verdict"], row["reason"], row["call_id"]) for row in decisions] == [("tie", "3:2", None)] * 2
    assert len({row["call_id"] for row in rows if row["vote"]}) == 10
    assert outcome.verdicts == {"tie": 2}
    assert sorted(landed.results.share) == [0.5, 0.5]


def test_ordinal_grades_each_document_once(tmp_path: Path) -> None:
    provider = ScriptedProvider()
    field = make_field([6, 4])
    outcome, _, _ = play(tmp_path, field, provider, rounds=3, judge="ordinal")
    assert len(provider.asked) == 10
    grades = {row["first_id"]: row["score"] for row in table(tmp_path) if row["kind"] == "score"}
    assert grades == {d: 7.0 * (int(d[-2:]) + 1) for e in field.entrants for d in e.document_ids}
    pairs = [row for row in table(tmp_path) if row["kind"] == "pair"]
    assert len(pairs) == outcome.asked >= 9 + 4
    for row in pairs:
        expected = "first" if grades[row["first_id"]] > grades[row["second_id"]] else "second"
        assert row["verdict"] == expected
    again = ScriptedProvider()
    play(tmp_path, field, again, rounds=3, judge="ordinal", schedule="exhaustive")
    assert again.asked == [], "another schedule of the same grades costs nothing"


def test_ordinal_without_a_grade_is_invalid(tmp_path: Path) -> None:
    def mute(request: Request) -> Reply | None:
        return answer("?") if request.about["document_id"] == "q0d00" else None

    play(tmp_path, make_field([4]), ScriptedProvider(mute), rounds=3, judge="ordinal", schedule="exhaustive")
    invalid = [row for row in table(tmp_path) if row["kind"] == "pair" and row["verdict"] == "invalid"]
    assert len(invalid) == 3
    assert all("q0d00" in (row["first_id"], row["second_id"]) for row in invalid)
    provider = ScriptedProvider()
    play(tmp_path, make_field([4]), provider, rounds=3, judge="ordinal", schedule="exhaustive")
    assert provider.asked == []
