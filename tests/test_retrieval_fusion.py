"""Systems that build on landed runs: reciprocal-rank fusion and rerankers by language models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retrieval_home import PROBLEMS, RetrievalHome
from servers.chat import Act, ChatServer, Seen, status
from servers.chat import reply as completion

from annotate.retrieval import job as retrieval_job
from annotate.retrieval.base import Scored, System, Task
from annotate.retrieval.job import configured_systems, retrieve
from annotate.retrieval.registry import resolve
from annotate.retrieval.rerank.base import by_points
from annotate.retrieval.systems.listwise import window_starts
from warehouse.errors import SaberError

CANDIDATES = {"s/1": ["s/2", "s/3", "s/4", "s/5"], "s/3": ["s/1", "s/2", "s/5", "s/6"]}
FIRST = {"s/1": ["s/3", "s/2", "s/5", "s/4"], "s/3": ["s/5", "s/6", "s/1", "s/2"]}
SECOND = {"s/1": ["s/4", "s/3", "s/2", "s/5"], "s/3": ["s/6", "s/5", "s/2", "s/1"]}


def fixed(named: str, orders: dict[str, list[str]]) -> type[System]:
    """Return a system that ranks as told."""

    @dataclass(frozen=True)
    class Fixed(System):
        """Ranks as told."""

        name: ClassVar[str] = named

        def run(self, task: Task) -> Iterator[Scored]:
            position = {text.problem_id: at for at, text in enumerate(task.documents)}
            for query in task.queries:
                order = orders.get(query.text.problem_id)
                if order is not None:
                    chosen = np.array([position[name] for name in order], dtype=np.int64)
                    yield Scored(query, chosen, np.arange(len(order), 0, -1, dtype=float), 0.0)

    return Fixed


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = RetrievalHome(tmp_path, candidates=CANDIDATES)
    monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
    orders = {"one": FIRST, "two": SECOND}

    def find(name, settings):
        return (fixed(name, orders[name]), {}) if name in orders else resolve(name, settings)

    monkeypatch.setattr(retrieval_job, "resolve", find)
    home.orders = orders
    return home


def ranking(home: RetrievalHome, named: str) -> dict[str, list[str]]:
    """Return {query: documents in order} of the rows of a system or run."""
    rows = [row for row in home.landing.read("runs").to_pylist() if named in (row["system"], row["run_id"])]
    found: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: row["rank"]):
        found.setdefault(row["query_id"], []).append(row["document_id"])
    return found


def scores(home: RetrievalHome, system: str, query: str) -> dict[str, float]:
    rows = home.landing.read("runs").to_pylist()
    return {r["document_id"]: r["score"] for r in rows if r["system"] == system and r["query_id"] == query}


# --- fusion ----------------------------------------------------------------------------------------------


def test_fusion_by_hand(home):
    retrieve(home.arguments("one", "two"))
    (outcome,) = retrieve(home.arguments("rrf", param=["runs=one,two"]))
    assert outcome.rows == 8
    assert scores(home, "rrf-one+two", "s/1") == pytest.approx(
        {"s/3": 1 / 61 + 1 / 62, "s/2": 1 / 62 + 1 / 63, "s/5": 1 / 63 + 1 / 64, "s/4": 1 / 64 + 1 / 61}, rel=1e-12
    )
    # s/5 and s/6 have ranks 1 and 2 in either order, s/1 and s/2 ranks 3 and 4: ties, so by id.
    assert ranking(home, "rrf-one+two")["s/3"] == ["s/5", "s/6", "s/1", "s/2"]


def test_fusion_follows_a_run_that_is_ranked_again(home):
    retrieve(home.arguments("one", "two", "rrf", param=["rrf.runs=one,two"]))
    assert retrieve(home.arguments("rrf", param=["runs=one,two"]))[0].current == 2
    home.build({**PROBLEMS, "s/4": ("Another statement.", "Another solution.")}, CANDIDATES)
    with pytest.raises(SaberError, match=r"older than the candidates or texts of query s/1"):
        retrieve(home.arguments("rrf", param=["runs=one,two"]))
    retrieve(home.arguments("one", "two"))
    assert retrieve(home.arguments("rrf", param=["runs=one,two"]))[0].landed == 2


def test_fusion_leaves_out_queries_that_a_run_lacks(home):
    home.orders["two"] = {"s/1": SECOND["s/1"]}
    retrieve(home.arguments("one", "two"))
    (outcome,) = retrieve(home.arguments("rrf", param=["runs=one,two"]))
    assert (outcome.landed, outcome.missing) == (1, 1)


def test_fusion_in_corpus_scope_gives_nothing_for_what_a_run_did_not_rank(home):
    retrieve(home.arguments("bm25", "random", scope="corpus", top=2))
    retrieve(home.arguments("rrf", scope="corpus", param=["runs=bm25,random"]))
    bm25, random = ranking(home, "bm25")["s/1"], ranking(home, "random")["s/1"]
    fused = scores(home, "rrf-bm25+random", "s/1")
    assert fused.keys() == {*bm25, *random}
    for name, score in fused.items():
        expected = sum(1 / (61 + order.index(name)) for order in (bm25, random) if name in order)
        assert score == pytest.approx(expected, rel=1e-12)


def test_fusion_needs_landed_runs_and_clear_names(home):
    with pytest.raises(SaberError, match="two runs or more"):
        configured_systems(["rrf"], home.settings, ["runs=bm25,bm25"])
    with pytest.raises(SaberError, match="No run of 'bm25' has landed"):
        retrieve(home.arguments("rrf", param=["runs=bm25,random"]))
    retrieve(home.arguments("bm25", "random"))
    retrieve(home.arguments("bm25", param=["k1=1.2"]))
    with pytest.raises(SaberError, match=r"'bm25' fits several runs: bm25\.\S+, bm25"):
        retrieve(home.arguments("rrf", param=["runs=bm25,random"]))
    (named,) = {row["run_id"] for row in home.landing.read("runs").to_pylist() if '"k1": 1.2' in row["params"]}
    assert retrieve(home.arguments("rrf", param=[f"runs={named},random"]))[0].landed == 2


# --- rerankers -------------------------------------------------------------------------------------------


def reply(text: str, delay: float = 0.0) -> Act:
    """Answer with a completion that counts as many prompt tokens as a whole prompt has."""
    return completion(text, delay, usage={"prompt_tokens": 5000, "completion_tokens": 3})


def profile(server: ChatServer, **values: object) -> str:
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
    fixed_lines = 'model = "m"\nstructured_output = "prompt"\nbackoff_s = 0.0\n'
    return f'[providers.judge]\nurls = ["{server.url}"]\n{fixed_lines}{lines}'


def number_of(statement: str) -> int:
    """Return n of the problem s/n whose statement stands in a text."""
    return next(int(name[2:]) for name, (text, _) in PROBLEMS.items() if text in statement)


def by_number(seen: Seen) -> Act:
    """Play a model that prefers problems of small number."""
    blocks = re.findall(r"BEGIN (?:LIBRARY )?TEXT.*?\n(.*?)\nEND", seen.prompt, re.DOTALL)
    numbers = [number_of(block) for block in blocks]
    if "0 to 10" in seen.prompt:
        return reply(str(10 - numbers[0]))
    if "1 or 2" in seen.prompt:
        return reply("1" if numbers[0] < numbers[1] else "2")
    return reply(json.dumps({"order": [numbers.index(number) + 1 for number in sorted(numbers)]}))


@pytest.fixture
def reranked(home, monkeypatch):
    """Land the first stage, then rerank it with a scripted model; returns (server, outcome, ranking)."""

    def run(kind: str, script=by_number, param: Sequence[str] = (), **values):
        retrieve(home.arguments("one"))
        with ChatServer(script) as server:
            (home.home.parent / "saber.toml").write_text(profile(server, **values))
            parameters = [f"{kind}.provider=judge", f"{kind}.first=one", *param]
            (outcome,) = retrieve(home.arguments(kind, param=parameters))
            return server, outcome, ranking(home, outcome.run_id)

    return run


@pytest.mark.parametrize(("kind", "calls"), [("pointwise", 8), ("pairwise", 24), ("listwise", 2)])
def test_reranking_everything(reranked, kind, calls):
    server, outcome, found = reranked(kind)
    assert (outcome.landed, outcome.missing) == (2, 0)
    assert found == {"s/1": ["s/2", "s/3", "s/4", "s/5"], "s/3": ["s/1", "s/2", "s/5", "s/6"]}
    assert len(server.prompts) == calls


@pytest.mark.parametrize("kind", ["pointwise", "pairwise", "listwise"])
def test_only_the_first_k_are_reordered(reranked, home, kind):
    _, _, found = reranked(kind, param=["k=2"])
    assert found == {"s/1": ["s/2", "s/3", "s/5", "s/4"], "s/3": ["s/5", "s/6", "s/1", "s/2"]}
    assert scores(home, f"{kind}-judge+one", "s/1") == {"s/2": 4.0, "s/3": 3.0, "s/5": 2.0, "s/4": 1.0}


def test_every_call_lands_and_none_is_paid_for_twice(reranked, home):
    server, _, _ = reranked("pointwise")
    calls = home.landing.read("llm_calls").to_pylist()
    assert len(calls) == len(server.prompts) == 8
    assert {call["purpose"] for call in calls} == {"rerank"}
    assert {call["prompt_version"].split("@")[0] for call in calls} == {"pointwise"}
    # Another depth is another run, but the calls are the same ones.
    again, outcome, _ = reranked("pointwise", param=["k=4"])
    assert (outcome.landed, len(again.prompts)) == (2, 0)


def test_latency_is_the_sum_of_the_replies(reranked, home):
    reranked("listwise", lambda seen: reply(by_number_text(seen), delay=0.2))
    rows = [row for row in home.landing.read("runs").to_pylist() if row["system"].startswith("listwise")]
    for query in CANDIDATES:
        assert sum(row["latency_s"] for row in rows if row["query_id"] == query) >= 0.2


def by_number_text(seen: Seen) -> str:
    return json.loads(by_number(seen).content)["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    "bad", ["3", "one", '{"order": [1, 1, 2, 3]}', '{"order": [1, 2, 3]}', '{"order": [0, 1, 2, 3]}', "[1, 2, 3, 4]"]
)
def test_a_reply_that_is_no_order_leaves_the_query_out(reranked, home, bad, capsys):
    def script(seen: Seen):
        return reply(bad) if PROBLEMS["s/1"][0] in seen.prompt.split("END PROBLEM")[0] else by_number(seen)

    _, outcome, found = reranked("listwise", script, attempts=2)
    assert (outcome.landed, outcome.missing) == (1, 1)
    assert found.keys() == {"s/3"}
    failures = [call for call in home.landing.read("llm_calls").to_pylist() if call["error"]]
    assert len(failures) == 2  # tried again once, then quarantined: never guessed
    told = capsys.readouterr().err
    assert "1 calls have no usable reply" in told
    assert "retry_quarantined = true" in told  # "run the same command" alone is of no help


def test_a_model_that_cannot_be_reached_stops_the_job_and_keeps_what_is_done(reranked, home):
    with pytest.raises(SaberError, match="key is missing or wrong"):
        reranked("pointwise", lambda seen: status(401))
    assert ranking(home, "pointwise-judge+one") == {}


def test_a_prompt_of_ones_own_is_another_run(reranked, home, tmp_path):
    _, first, _ = reranked("pointwise")
    file = tmp_path / "mine.md"
    file.write_text("## user\nFrom 0 to 10 for {{ query }}:\nBEGIN TEXT\n{{ document }}\nEND\n")
    _, second, found = reranked("pointwise", param=[f"prompt={file}"])
    assert second.run_id != first.run_id
    assert found["s/1"] == ["s/2", "s/3", "s/4", "s/5"]
    file.write_text("## user\n{{ query }}\n")
    with pytest.raises(SaberError, match="document"):
        reranked("pointwise", param=[f"prompt={file}"])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ([], "needs a model"),
        (["provider=offline"], "needs a model"),
        (["provider=nobody"], "nobody"),
        (["provider=judge", "k=1"], "at least 2"),
        (["provider=judge", "step=30"], "step from 1"),
    ],
)
def test_bad_rerankers_are_refused(tmp_path, parameters, words):
    toml = '[providers.judge]\nurls = ["http://127.0.0.1:9/v1"]\nmodel = "m"\n'
    with pytest.raises(SaberError, match=words):
        configured_systems(["listwise"], RetrievalHome(tmp_path, settings=toml).settings, parameters)


@given(n=st.integers(1, 60), window=st.integers(2, 20), data=st.data())
def test_windows_reach_the_head_and_leave_no_gap(n, window, data):
    step = data.draw(st.integers(1, window))
    starts = window_starts(n, window, step)
    assert starts[-1] == 0
    assert starts[0] + window >= n
    assert all(0 < before - after <= step for before, after in pairwise(starts))


def test_equal_points_keep_the_first_stage():
    assert by_points([1, 3, 1, 3]) == [1, 3, 0, 2]
