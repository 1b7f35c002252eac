"""The sample's home with everything the evaluation and its analyses read, landed by hand where no command makes it.

Beside the sample's own runs: an imported benchmark with sound and unsound runs, refits of the ratings, runs that see
half of a query, a run over the corpus, runs that differ in a prefix, an exhaustive tournament of three queries, near
copies of a query, and scores published elsewhere.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

from homes import Home
from paper_scores import external_rows

from warehouse.identity import pair_hash

REFITS = 20
TOY_QRELS = {("toy/q1", "toy/a"): 2.0, ("toy/q1", "toy/b"): 0.0, ("toy/q1", "toy/c"): 1.0, ("toy/q2", "toy/a"): 1.0,
             ("toy/q3", "toy/a"): 0.0, ("toy/q2", "toy/b"): 0.0}  # fmt: skip
TOY_RUNS = {
    "toy.sound": {
        ("toy/q1", "toy/b"): 3.0,
        ("toy/q1", "toy/c"): 2.0,
        ("toy/q1", "toy/a"): 1.0,
        ("toy/q2", "toy/a"): 0.5,
    },
    "toy.constant": dict.fromkeys(TOY_QRELS, 1.0),
    "toy.nan": {("toy/q1", "toy/a"): math.nan, ("toy/q2", "toy/a"): 1.0},
    "toy.lost": {("toy/q9", "toy/a"): 1.0, ("toy/q2", "toy/a"): 1.0},
}
PREFIXED = ("dense.statement-full.plain", "dense.statement-full.prefixed")


def extended_home(sample: Home, folder: Path) -> Home:
    """Copy the sample's home, land the rest and build the evaluation and the analyses."""
    home = Home(folder, sample.settings_file.read_text())
    shutil.copytree(sample.landing.home, home.landing.home, dirs_exist_ok=True)
    run(home, "rate", "--replicates", str(REFITS))
    run(home, "retrieve", "--system", "jaccard", "tfidf", "--setting", "math-only", "words-only")
    run(home, "retrieve", "--system", "jaccard", "--setting", "statement-full", "--scope", "corpus", "--top", "50")
    land_toy(home)
    land_prefixes(home)
    land_exhaustive(home)
    land_copies(home)
    home.landing.append("external_scores", [*external_rows(), *rules()], "test")
    result = home.dbt("build", "--select", "staging", "evaluation", "analysis", "--indirect-selection", "buildable")
    assert result.returncode == 0, result.stdout
    home.build_output = result.stdout
    return home


def run(home: Home, *arguments: str) -> None:
    """Run a command that has to succeed."""
    result = home.saber(*arguments)
    assert result.returncode == 0, result.stdout + result.stderr


def land_toy(home: Home) -> None:
    """Land an imported benchmark (an older import of it too) and its runs."""

    def qrels(variant, relevances):
        return [
            {"benchmark": "toy", "query_id": query, "document_id": document, "relevance": relevance,
             "origin": "by hand", "variant": variant}
            for (query, document), relevance in relevances.items()
        ]  # fmt: skip

    home.landing.append("qrels", qrels("old", {("toy/q1", "toy/z"): 3.0}), "test")
    home.landing.append("qrels", qrels("new", TOY_QRELS), "test")
    for run_id, scores in TOY_RUNS.items():
        rows = [
            {"run_id": run_id, "query_id": query, "document_id": document, "score": score, "benchmark": "toy",
             "setting": "any-any", "scope": "candidates", "idf": "none", "system": run_id, "params": "{}",
             "variant": "new"}
            for (query, document), score in scores.items()
        ]  # fmt: skip
        home.landing.append("runs", rows, "test")


def land_prefixes(home: Home) -> None:
    """Land a dense system's runs with and without a prefix: the scores of bm25 and of tfidf."""
    runs = home.landing.read("runs", where="setting = 'statement-full' and scope = 'candidates'").to_pylist()
    for run_id, system, prefix in zip(PREFIXED, ("tfidf", "bm25"), ("", "Query: "), strict=True):
        params = f'{{"model": "m", "query_prefix": "{prefix}", "document_prefix": ""}}'
        rows = [
            {**row, "run_id": run_id, "system": "dense", "idf": "none", "params": params}
            for row in runs
            if row["system"] == system
        ]
        bookkeeping = ("job_id", "sequence", "schema_version")
        home.landing.append("runs", [{k: v for k, v in row.items() if k not in bookkeeping} for row in rows], "test")


def land_exhaustive(home: Home) -> None:
    """Land all pairs of three queries, judged as the ratings order them, and all but one pair of a fourth."""
    ratings = home.landing.read("ratings").to_pylist()
    swiss = home.landing.read("judgments").to_pylist()[0]
    hashes = home.hashes()
    for number, query in enumerate(sorted({row["query_id"] for row in ratings})[:4]):
        rated = sorted((row["document_id"], row["rating"]) for row in ratings if row["query_id"] == query)
        rows = [
            {
                **{name: swiss[name] for name in ("benchmark", "judge", "provider", "model", "kind")},
                "query_id": query,
                "first_id": first,
                "second_id": second,
                "vote": 0,
                "schedule": "exhaustive",
                "round": 1,
                "verdict": "first" if one > other else "second" if other > one else "tie",
                "variant": "exhaustive",
                "content_hash": pair_hash(hashes[query], hashes[first], hashes[second]),
            }
            for at, (first, one) in enumerate(rated)
            for second, other in rated[at + 1 :]
        ]
        home.landing.append("judgments", rows if number < 3 else rows[:-1], "test")


def land_copies(home: Home) -> None:
    """Land two near copies of the first query: its first candidate, and a problem that is none of them."""
    query, candidate, stranger = copies(home)
    hashes = home.hashes()
    variant = home.variants().duplicates
    for document, kind in ((candidate, "other wording"), (stranger, "translation")):
        row = {"first_id": query, "second_id": document, "kind": kind, "similarity": 0.9, "masked_similarity": 0.9,
               "content_hash": hashes[query], "variant": variant}  # fmt: skip
        home.landing.append("near_duplicates", [row], "test")


def copies(home: Home) -> tuple[str, str, str]:
    """Return a query, one of its candidates and an eligible problem that is none, the greatest of their kind."""
    query, candidate = home.rows("select query_id, max(document_id) from benchmark.candidates group by 1 order by 1")[
        0
    ]
    stranger = home.rows(
        f"select max(problem_id) from signals.eligible_problems where problem_id <> '{query}' and problem_id not in "
        f"(select document_id from benchmark.candidates where query_id = '{query}')"
    )[0][0]
    return query, candidate, stranger


def rules() -> list[dict[str, object]]:
    """A subset of systems by rule: those released in 2025 or later."""
    years = {"Octen-Embedding-8B": 2026.0, "Gemini-Embedding-2": 2026.0, "Qwen3-Embedding-4B": 2025.0,
             "Harrier-OSS-v1-27b": 2026.0, "BM25": 1994.0}  # fmt: skip
    facts = [
        {"leaderboard": "releases", "system": system, "measure": "year", "value": year}
        for system, year in years.items()
    ]
    return [*facts, {"leaderboard": "subset: recent", "system": "*", "measure": "year", "value": 2025.0}]
