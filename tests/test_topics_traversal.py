"""The traversal against the reference rules, and the rows and runs of the topic job."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.calls.log import CallLog
from annotate.calls.policy import Policy
from annotate.problems import PendingProblems
from annotate.providers.base import Reply, Request, failed
from annotate.topics.assignment import Batch, assign
from annotate.topics.job import Outcome, TopicJob, validate
from annotate.topics.traversal import CallFailed, Rules, Traversal, to_rows, traverse
from annotate.topics.tree import TopicTree, build_tree
from warehouse.errors import SaberError
from warehouse.identity import content_hash
from warehouse.landing import Landing
from warehouse.ontologies import Edge, unfold
from warehouse.settings import Settings

TAU = 0.85


def tree_of(paths: list[str]) -> TopicTree:
    nodes = sorted({"/".join(path.split("/")[:n]) for path in paths for n in range(1, path.count("/") + 2)})
    edges = [Edge(None, "root", "root")]
    edges += [Edge(node.rpartition("/")[0] or "root", node, node.rpartition("/")[2]) for node in nodes]
    return build_tree(unfold(edges))


TREE = tree_of(["a/x/p", "a/x/q", "a/y", "b/z", "c"])
PROBLEM = {"problem_id": "p1", "content_hash": "h1", "statement": "s", "solution": "t"}


def position(topic_id: str) -> int:
    return TREE.topic_ids.index(topic_id)


def reply(text: str | None, error: str | None = None) -> Reply:
    return Reply(text, "stop", "m", None, 1, 1, 0.0, error)


def answering(scores: Callable[[int, int], float], seen: list[Request] | None = None):
    """Return an ``ask`` that scores candidate t at visited topic v by ``scores(v, t)``."""

    async def ask(request: Request) -> tuple[str, Reply]:
        if seen is not None:
            seen.append(request)
        facts = request.payload
        values = {str(n): scores(facts["visited"], t) for n, t in enumerate(facts["candidates"], 1)}
        return f"call-{facts['visited']}-{facts['candidates'][-1]}", reply(json.dumps(values))

    return ask


def walk(tree: TopicTree, ask: Any, **changes: Any) -> Traversal:
    return asyncio.run(traverse(PROBLEM, tree, ask, Rules(TAU, None, **changes)))


# At the root a and b pass; at a only x; at x the node itself is best and q passes; at b nothing passes.
BY_HAND = {
    ("root", "a"): 1.0, ("root", "b"): 0.9, ("root", "c"): 0.0,
    ("a", "a"): 0.2, ("a", "a/x"): 0.8, ("a", "a/y"): 0.3,
    ("a/x", "a/x"): 1.0, ("a/x", "a/x/p"): 0.0, ("a/x", "a/x/q"): 0.9,
    ("b", "b"): 0.7, ("b", "b/z"): 0.1,
}  # fmt: skip


def by_hand(visited: int, topic: int) -> float:
    return BY_HAND[TREE.topic_ids[visited], TREE.topic_ids[topic]]


class TestTraverse:
    def test_by_hand(self) -> None:
        seen: list[Request] = []
        found = walk(TREE, answering(by_hand, seen))
        assert [TREE.topic_ids[topic] for topic in found.assigned] == ["a/x/q", "b"]
        assert [TREE.topic_ids[visited.topic] for visited in found.visits] == ["root", "a", "b", "a/x"]
        # The root is no candidate in its own call, every other visited topic is the first one.
        assert [request.payload["candidates"][0] for request in seen] == [
            position("a"), position("a"), position("b"), position("a/x"),
        ]  # fmt: skip

    def test_rows_by_hand(self) -> None:
        rows = to_rows([walk(TREE, answering(by_hand))], TREE, {"variant": "v"}).to_pylist()
        assert len(rows) == len(BY_HAND)
        shown = {(row["visited_topic_id"], row["topic_id"]): row for row in rows}
        assert {key: row["raw_score"] for key, row in shown.items()} == BY_HAND
        assert {key for key, row in shown.items() if row["kept"]} == {
            ("root", "a"), ("root", "b"), ("a", "a/x"), ("a/x", "a/x/q"),
        }  # fmt: skip
        assert {key for key, row in shown.items() if row["assigned"]} == {("a/x", "a/x/q"), ("root", "b")}
        assert shown["a", "a/y"]["score"] == pytest.approx(0.1 / 0.6)
        assert {row["variant"] for row in rows} == {"v"}
        assert shown["b", "b"]["call_id"] == f"call-{position('b')}-{position('b/z')}"

    def test_equal_scores_end_with_no_topic_and_no_score(self) -> None:
        found = walk(TREE, answering(lambda visited, topic: 0.4))
        assert found.assigned == ()
        assert {row["score"] for row in to_rows([found], TREE, {}).to_pylist()} == {None}

    @given(st.data())
    @settings(max_examples=40, deadline=None)
    def test_equals_the_reference_rules(self, data: st.DataObject) -> None:
        paths = data.draw(
            st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map("/".join), min_size=2, max_size=12)
        )
        tree = tree_of([*paths, "y", "z"])
        drawn = {
            (visited, topic): data.draw(st.integers(0, 10)) / 10
            for visited in range(len(tree))
            for topic in (visited, *tree.children[visited])
        }
        found = walk(tree, answering(lambda visited, topic: drawn[visited, topic]))
        batches = {
            visited: [
                Batch(
                    None if visited == 0 else drawn[visited, visited],
                    np.array([drawn[visited, child] for child in tree.children[visited]]),
                )
            ]
            for visited in range(len(tree))
        }
        children = dict(enumerate(tree.children))
        parent = dict(enumerate(tree.parent.tolist()))
        assert list(found.assigned) == assign(batches, 0, children, parent, TAU)

    def test_batches_are_brought_to_one_scale(self) -> None:
        # Four children in two calls. In the second the model scores everything twice as high, node included.
        tree = tree_of(["a/k", "a/l", "a/m", "a/n", "b"])
        a = tree.topic_ids.index("a")
        true = dict(zip(tree.children[a], (0.1, 0.5, 0.2, 0.3), strict=True))
        second = set(tree.children[a][2:])

        async def ask(request: Request) -> tuple[str, Reply]:
            candidates = request.payload["candidates"]
            if request.payload["visited"] != a:
                return "r", reply(json.dumps({str(n): float(t == a) for n, t in enumerate(candidates, 1)}))
            factor = 2.0 if second & set(candidates) else 1.0
            values = [0.4 * factor if topic == a else true[topic] * factor for topic in candidates]
            return f"c{factor}", reply(json.dumps({str(n): value for n, value in enumerate(values, 1)}))

        found = walk(tree, ask, largest_batch=2)
        assert [tree.topic_ids[topic] for topic in found.assigned] == ["a/l"]
        rows = [row for row in to_rows([found], tree, {}).to_pylist() if row["visited_topic_id"] == "a"]
        assert [row["raw_score"] for row in rows] == pytest.approx([0.4, 0.1, 0.5, 0.2, 0.3])
        assert [row["call_id"] for row in rows] == ["c1.0", "c1.0", "c1.0", "c2.0", "c2.0"]
        assert [row["score"] for row in rows] == pytest.approx([0.75, 0.0, 1.0, 0.25, 0.5])

    def test_a_failed_call_ends_the_traversal_but_not_its_siblings(self) -> None:
        asked: list[int] = []

        async def ask(request: Request) -> tuple[str, Reply]:
            visited = request.payload["visited"]
            asked.append(visited)
            if visited == position("a"):
                return "c", failed("timeout")
            await asyncio.sleep(0)
            return await answering(by_hand)(request)

        with pytest.raises(CallFailed, match="timeout"):
            walk(TREE, ask)
        assert Counter(asked) == Counter([0, position("a"), position("b")])


class Scripted:
    """A provider that scores by a function and fails where told to; counts what it was sent."""

    name, model, endpoint = "scripted", "m", "scripted"

    def __init__(self, script: Callable[[Request], Reply]) -> None:
        self._script = script
        self.sent = 0

    async def complete(self, request: Request) -> Reply:
        self.sent += 1
        await asyncio.sleep(0)
        return self._script(request)


def land_problem(landing: Landing, problem_id: str, statement: str, solution: str = "solved") -> None:
    row = {
        "problem_id": problem_id,
        "source": "s",
        "statement": statement,
        "solution": solution,
        "content_hash": content_hash(statement, solution),
    }
    landing.append("problems", [row], "ingest")


def run_job(home: Path, provider: Scripted, job_id: str = "job", retry: bool = False) -> tuple[Outcome, CallLog]:
    landing, settings = Landing(home), Settings(home=home)
    policy = Policy(concurrency=4, attempts=2, backoff_s=0.0, retry_quarantined=retry)

    async def run() -> tuple[Outcome, CallLog]:
        with PendingProblems(landing, settings, "topic_scores", "v") as pending:
            work = pending.work()
            async with CallLog(landing, provider, job_id, policy=policy, validate=validate, progress=False) as log:
                job = TopicJob(landing, log, TREE, Rules(TAU, None), {"provider": "scripted", "variant": "v"}, job_id)
                return await job.run(pending.records(), work.pending), log

    return asyncio.run(run())


def scored(request: Request) -> Reply:
    facts = request.payload
    values = {str(n): by_hand(facts["visited"], t) for n, t in enumerate(facts["candidates"], 1)}
    return reply(json.dumps(values))


def landed(home: Path) -> list[tuple[str, str, str]]:
    """Assigned topics as the marts read them: the latest traversal of a problem, for its present text."""
    landing = Landing(home)
    with duckdb.connect() as connection:
        return connection.sql(
            f"""
            with
                latest as (
                    select * from ({landing.scan_sql("topic_scores")})
                    qualify traversal_id = arg_max(traversal_id, sequence) over (partition by problem_id)
                ),
                texts as (
                    select problem_id, arg_max(content_hash, sequence) as content_hash
                    from ({landing.scan_sql("problems")}) group by problem_id
                )
            select problem_id, topic_id, traversal_id
            from latest inner join texts using (problem_id, content_hash)
            where assigned order by all
            """
        ).fetchall()


class TestJob:
    def test_lands_resumes_and_replaces_in_whole(self, tmp_path: Path) -> None:
        landing = Landing(tmp_path)
        land_problem(landing, "p1", "one")
        land_problem(landing, "p2", "two")
        land_problem(landing, "p3", "no solution", solution="")
        outcome, _ = run_job(tmp_path, Scripted(scored), "first")
        assert (outcome.problems, outcome.failed, outcome.topics) == (2, 0, 4)
        assert landed(tmp_path) == [(p, t, "first") for p in ("p1", "p2") for t in ("a/x/q", "b")]

        again = Scripted(scored)
        outcome, _ = run_job(tmp_path, again, "second")
        assert (outcome.problems, again.sent) == (0, 0)

        # A changed text is traversed anew and replaces the whole earlier traversal, also where it scored less.
        land_problem(landing, "p1", "one, corrected")
        only_c = Scripted(
            lambda request: reply(
                json.dumps(
                    {str(n): float(t == position("c")) for n, t in enumerate(request.payload["candidates"], 1)}
                )
            )
        )
        run_job(tmp_path, only_c, "third")
        assert landed(tmp_path) == [("p1", "c", "third"), ("p2", "a/x/q", "first"), ("p2", "b", "first")]

        # The first text comes back: its old rows are not the latest traversal, so it is traversed again.
        land_problem(landing, "p1", "one")
        assert [row[0] for row in landed(tmp_path)] == ["p2", "p2"]
        back = Scripted(scored)
        run_job(tmp_path, back, "fourth")
        assert back.sent == 0  # its calls are in the log
        assert landed(tmp_path) == [(p, t, j) for p, j in (("p1", "fourth"), ("p2", "first")) for t in ("a/x/q", "b")]

    def test_withdrawn_problems_are_left_alone(self, tmp_path: Path) -> None:
        landing = Landing(tmp_path)
        land_problem(landing, "p1", "one")
        landing.append("tombstones", [{"source": "s", "action": "retract"}], "j")
        assert run_job(tmp_path, Scripted(scored))[0].problems == 0
        landing.append("tombstones", [{"source": "s", "action": "restore"}], "j")
        assert run_job(tmp_path, Scripted(scored))[0].problems == 1

    def test_an_invalid_reply_lands_nothing_of_its_problem(self, tmp_path: Path) -> None:
        landing = Landing(tmp_path)
        land_problem(landing, "bad", "bad")
        land_problem(landing, "good", "good")

        def script(request: Request) -> Reply:
            if request.payload["problem"]["problem_id"] == "bad" and request.payload["visited"] == position("a"):
                return reply('{"1": 0.5, "2": NaN, "3": 1}')
            return scored(request)

        outcome, log = run_job(tmp_path, Scripted(script), "first")
        assert (outcome.problems, outcome.failed, dict(outcome.failures)) == (1, 1, {"not_finite": 1})
        assert log.counts.quarantined == 1
        assert {row[0] for row in landed(tmp_path)} == {"good"}
        assert Landing(tmp_path).read("topic_scores", where="problem_id = 'bad'").num_rows == 0

        # Quarantined: the next run does not pay again, and still says that something is missing.
        provider = Scripted(scored)
        outcome, log = run_job(tmp_path, provider, "second")
        assert (outcome.failed, provider.sent, log.counts.exit_code) == (1, 0, 1)
        # Asked for explicitly, only what is missing is sent.
        provider = Scripted(scored)
        outcome, log = run_job(tmp_path, provider, "third", retry=True)
        assert (outcome.failed, log.counts.exit_code) == (0, 0)
        assert provider.sent == 2  # the failed call and the visit below it
        assert {row[0] for row in landed(tmp_path)} == {"bad", "good"}

    def test_what_is_finished_lands_when_the_job_stops(self, tmp_path: Path) -> None:
        landing = Landing(tmp_path)
        for number in range(30):
            land_problem(landing, f"p{number:02d}", f"text {number}")

        def script(request: Request) -> Reply:
            if request.payload["problem"]["problem_id"] >= "p20":
                return failed("http_401", detail="no key")
            return scored(request)

        with pytest.raises(SaberError, match="key"):
            run_job(tmp_path, Scripted(script), "first")
        done = {row[0] for row in landed(tmp_path)}
        assert done
        assert max(done) < "p20"
        outcome, _ = run_job(tmp_path, Scripted(scored), "second")
        assert outcome.problems == 30 - len(done)
        assert len({row[0] for row in landed(tmp_path)}) == 30

    def test_replies_in_flight_land_when_another_call_stops_the_job(self, tmp_path: Path) -> None:
        for number in range(4):
            land_problem(Landing(tmp_path), f"p{number}", f"text {number}")

        class OneRefused(Scripted):
            async def complete(self, request: Request) -> Reply:
                self.sent += 1
                if request.payload["problem"]["problem_id"] == "p0":
                    while self.sent < 4:  # until all four calls are under way
                        await asyncio.sleep(0)
                    return failed("http_401")
                await asyncio.sleep(0.05)
                return scored(request)

        with pytest.raises(SaberError):
            run_job(tmp_path, OneRefused(scored))
        calls = Landing(tmp_path).read("llm_calls").to_pylist()
        paid = {json.loads(row["request"])["about"]["problem_id"] for row in calls if row["error"] is None}
        assert paid == {"p1", "p2", "p3"}

    def test_rows_can_be_made_again_from_the_log_alone(self, tmp_path: Path) -> None:
        land_problem(Landing(tmp_path), "p1", "one")
        run_job(tmp_path, Scripted(scored), "first")
        land_problem(Landing(tmp_path), "p2", "never asked about")
        landing, provider = Landing(tmp_path), Scripted(scored)

        async def again() -> Outcome:
            with PendingProblems(landing, Settings(home=tmp_path), "topic_scores", "no such variant") as pending:
                async with CallLog(landing, provider, "again", validate=validate, send=False, progress=False) as log:
                    stamp = {"provider": "scripted", "variant": "v"}
                    job = TopicJob(landing, log, TREE, Rules(TAU, None), stamp, "again")
                    return await job.run(pending.records(), pending.work().pending)

        outcome = asyncio.run(again())
        assert (outcome.problems, outcome.failed, provider.sent) == (1, 1, 0)
        assert landed(tmp_path) == [("p1", "a/x/q", "again"), ("p1", "b", "again")]
