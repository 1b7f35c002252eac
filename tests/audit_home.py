"""A small home with judgments, grades, ratings and calls landed by hand, for the audit views; see `hand_rows`."""

from __future__ import annotations

import json
import random
from typing import Any

from homes import Home

from warehouse.identity import pair_hash

BENCHMARK, QUERY, BARE = "saber-math", "g/q", "g/q2"
DENSE, SPARSE = "g/dense", "g/sparse"
N_DOCUMENTS = 60
PAIRWISE = {"judge": "pairwise", "provider": "server", "model": "m", "schedule": "swiss", "variant": "v-pairwise"}
ORDINAL = {"judge": "ordinal", "provider": "server", "model": "m", "schedule": "random", "variant": "v-ordinal"}
MAJORITY = {"judge": "majority", "provider": "server", "model": "m", "schedule": "swiss", "variant": "v-majority"}
CIRCLE = {"judge": "circle", "provider": "server", "model": None, "schedule": "exhaustive", "variant": "v-circle"}
HUMAN = {"judge": "human", "provider": "human", "model": None, "schedule": "human", "variant": "v-human"}
LONG = 1000
"""Characters of the one long statement, of document 40."""


def document(number: int) -> str:
    return f"g/d{number:02}"


def row(who: dict[str, Any], query: str, first: int, second: int, verdict: str, **more: Any) -> dict[str, Any]:
    """One verdict on a pair, the candidate shown first named first."""
    kind = "human" if who["judge"] == "human" else "pair"
    return {"benchmark": BENCHMARK, "query_id": query, "first_id": document(first), "second_id": document(second),
            "kind": kind, "vote": 0, "round": 1, "verdict": verdict, **who, **more}  # fmt: skip


def grade(who: dict[str, Any], number: int, score: float | None) -> dict[str, Any]:
    return {"benchmark": BENCHMARK, "query_id": QUERY, "first_id": document(number), "kind": "score", "vote": 0,
            "round": 1, "score": score, "verdict": None if score is not None else "invalid", **who}  # fmt: skip


def hand_rows() -> list[dict[str, Any]]:
    """The verdicts whose agreement the tests work out by hand.

    By the exhaustive fit document k has rank k + 1, so the difference of ranks is the difference of numbers.
    Pairs: a = (0, 10), b = (0, 30), c = (5, 35), d = (0, 55), e = (4, 59), f = (1, 2).
    """
    ada, ben = HUMAN | {"annotator": "Ada"}, HUMAN | {"annotator": "Ben"}
    return [
        row(PAIRWISE, QUERY, 10, 0, "second"),  # a: 0
        row(PAIRWISE, QUERY, 0, 30, "tie"),  # b: tie
        row(PAIRWISE, QUERY, 5, 35, "second"),  # c: 35
        row(PAIRWISE, QUERY, 0, 55, "first"),  # d: 0
        row(PAIRWISE, QUERY, 4, 59, "first"),  # e: 4, and in the other order 59: a contradiction is a tie
        row(PAIRWISE, QUERY, 59, 4, "first"),
        row(PAIRWISE, QUERY, 0, 20, "first"),
        row(PAIRWISE, QUERY, 3, 4, "invalid"),
        row(ada, QUERY, 0, 10, "second"),
        row(ada, QUERY, 30, 0, "second"),
        row(ada, QUERY, 5, 35, "second"),
        row(ada, QUERY, 0, 55, "first"),
        row(ada, QUERY, 59, 4, "second"),
        row(ada, QUERY, 1, 2, "tie"),
        row(ada, QUERY, 7, 8, "invalid"),  # taken back
        row(ada | {"variant": "v-earlier"}, QUERY, 0, 10, "second"),  # a once more, of an earlier benchmark
        row(ada, QUERY, 0, 20, "second") | {"benchmark": "elsewhere"},
        row(ben, QUERY, 0, 10, "first"),
        row(ben, QUERY, 0, 55, "tie"),
        row(ben, QUERY, 2, 1, "tie"),
        *(grade(ORDINAL, number, score) for number, score in ((0, 80), (10, 80), (30, 70), (55, 90), (5, None))),
        row(ORDINAL, QUERY, 0, 10, "tie", reason="80:80"),
        row(ORDINAL, QUERY, 0, 5, "invalid", reason="no grade"),
        # 0 > 1 > 2 > 0 and 0 > 3 > 2 > 0 go round; (0, 1, 3) and (1, 2, 3) do not; (0, 1, 4) has a tie.
        *(row(CIRCLE, QUERY, *pair, "first") for pair in ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (3, 2), (1, 4))),
        row(CIRCLE, QUERY, 0, 4, "tie"),
        # of another query, which closes no triad of the first
        row(CIRCLE, BARE, 0, 1, "first"),
        row(CIRCLE, BARE, 4, 0, "first"),
        *ballots((0, 1), ["first", "invalid", "first", "first", "first"], "first"),
        *ballots((0, 40), ["invalid", "invalid", "invalid", "first", "first"], "invalid"),
    ]


def ballots(pair: tuple[int, int], votes: list[str], decided: str) -> list[dict[str, Any]]:
    single = [row(MAJORITY, QUERY, *pair, vote, vote=k) for k, vote in enumerate(votes, start=1)]
    return [row(MAJORITY, QUERY, *pair, decided), *single]


def random_rows(seed: int = 5) -> list[dict[str, Any]]:
    """Verdicts of three judges and two people over random pairs: dense on few documents, sparse on many."""
    draw = random.Random(seed)
    made: dict[tuple[Any, ...], dict[str, Any]] = {}
    people = [HUMAN | {"annotator": name, "variant": "v-random"} for name in ("Cy", "Di")]
    judges = [
        {"judge": f"random-{k}", "provider": "server", "model": "m", "schedule": s, "variant": f"v-random-{k}"}
        for k, s in enumerate(("swiss", "random", "exhaustive"))
    ]
    for who in (*judges, *people):
        for query, size, wanted in ((DENSE, 9, 60), (SPARSE, N_DOCUMENTS, 900)):
            for _ in range(wanted):
                first, second = draw.sample(range(size), 2)
                verdict = draw.choices(("first", "second", "tie", "invalid"), (6, 4, 2, 1))[0]
                one = row(who, query, first, second, verdict)
                made[(*who.values(), query, first, second)] = one
    return list(made.values())


def rating(query: str, number: int, value: float | None, schedule: str, variant: str, **more: Any) -> dict[str, Any]:
    return {"benchmark": BENCHMARK, "query_id": query, "document_id": document(number), "rating": value,
            "judge": "pairwise", "provider": "server", "model": "m", "schedule": schedule, "variant": variant,
            **more}  # fmt: skip


def ratings(selected: str, seed: int = 6) -> list[dict[str, Any]]:
    """Three schedules of the pairwise judge, an exhaustive fit of another judge in the opposite order."""
    order = list(range(N_DOCUMENTS))
    random.Random(seed).shuffle(order)
    return [
        *(rating(QUERY, k, 5 - 5 * k / 59, "exhaustive", "x-fit") for k in range(N_DOCUMENTS)),
        *(rating(QUERY, k, 5 * k / 59, "exhaustive", "a-fit", judge="ordinal") for k in range(N_DOCUMENTS)),
        *(rating(QUERY, k, value, "swiss", selected) for k, value in ((0, 5.0), (10, 5.0), (30, 1.0), (55, 0.0))),
        *(rating(QUERY, k, value, "random", "r-fit") for k, value in ((0, 0.0), (10, None), (55, 5.0))),
        *(rating(BARE, k, value, "swiss", selected) for k, value in ((0, 3.0), (1, 3.0), (2, 5.0))),
        *(rating(SPARSE, number, 5 - 5 * place / 59, "exhaustive", "x-fit") for place, number in enumerate(order)),
    ]


def calls() -> dict[str, list[dict[str, Any]]]:
    """Attempts by job."""

    def call(number: int, attempt: int, error: str | None, model: str = "m", **changes: Any) -> dict[str, Any]:
        return {"call_id": f"{number:032x}", "attempt": attempt, "purpose": "judge", "endpoint": "profile:p",
                "model": model, "served_model": model, "params": json.dumps({"price_in": 1.0, "price_out": 4.0,
                "currency": "USD"}), "prompt_version": "judge@1", "request": "{}", "reply": "x", "tokens_in": 500,
                "finish_reason": "stop", "tokens_out": 250, "latency_s": float(number), "error": error,
                **changes}  # fmt: skip

    return {
        "job-1": [
            call(1, 1, "length", finish_reason="length"),
            call(1, 2, "length", finish_reason="length"),
            call(1, 3, None),
            call(2, 1, "no_boxed_answer"),
            call(3, 1, None, model="other"),
        ],
        "job-2": [call(2, 2, "no_boxed_answer"), call(4, 1, None), call(5, 1, None)],
    }


def land(home: Home) -> list[dict[str, Any]]:
    """Land everything and return the judgments."""
    texts: list[dict[str, Any]] = [{"problem_id": one} for one in (QUERY, BARE, DENSE, SPARSE)]
    texts += [{"problem_id": document(number)} for number in range(N_DOCUMENTS)]
    texts[4 + 40]["statement"] = "x" * LONG
    home.problems(texts)
    hashes = home.hashes()
    judgments = [*hand_rows(), *random_rows()]
    for one in judgments:
        seen = (one["query_id"], one["first_id"], one.get("second_id"))
        one["content_hash"] = pair_hash(*(hashes[name] for name in seen if name))
    home.landing.append("judgments", judgments, "test")
    fitted = [
        {**one, "content_hash": pair_hash(hashes[one["query_id"]], hashes[one["document_id"]])}
        for one in ratings(home.variants().ratings)
    ]
    home.landing.append("ratings", fitted, "test")
    for job, rows in calls().items():
        home.landing.append("llm_calls", rows, job)
        summary = json.dumps({"seconds": 2.0})
        home.landing.append("jobs", [{"command": "judge", "state": "done", "summary": summary}], job)
    return judgments
