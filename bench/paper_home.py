"""A warehouse home at the size of the paper: 1,000 queries, 150 candidates each, 25 systems in three settings.

The corpus is generated and landed, the project's own models draw queries and candidates from it, and ratings and
runs about those candidates are made up: a system's scores follow the ratings more or less closely.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.corpus import Options, make_problems
from bench.ontology import Ontology, make_ontology
from warehouse.identity import content_hash, pair_hash
from warehouse.landing import Landing
from warehouse.settings import ROOT, load_settings
from warehouse.variants import Variants, ontology_in_use, selected_variants

N_PROBLEMS = 8_000
N_SYSTEMS = 25
RETRIEVAL_SETTINGS = ("statement-statement", "statement-full", "full-full")
SETTINGS = """
[signals]
topic_threshold = 0.45
summary_threshold = 0.08
[benchmark]
queries = 1000
candidates_per_class = 50
"""
_JOB = "bench"


class PaperHome:
    """A home in `folder` with settings of its own."""

    def __init__(self, folder: Path, settings: str = SETTINGS) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir(parents=True, exist_ok=True)
        self.settings_file = folder / "saber.toml"
        self.settings_file.write_text(settings)
        self.landing = Landing(self.home)
        self.environment = {
            **os.environ,
            "SABER_HOME": str(self.home),
            "SABER_SETTINGS": str(self.settings_file),
            "DBT_TARGET_PATH": str(folder / "target"),
            "DBT_LOG_PATH": str(folder / "logs"),
        }

    def make(self, n_problems: int = N_PROBLEMS, n_systems: int = N_SYSTEMS) -> int:
        """Land everything and build as far as the benchmark; return the rows of the runs."""
        options = Options()
        self.land_corpus(n_problems, options)
        self.dbt("staging", "ontology", "signals", "benchmark")
        candidates = self._candidates()
        self.land_ratings(candidates, options.seed)
        return self.land_runs(candidates, n_systems, options.seed)

    def dbt(self, *selected: str) -> None:
        """Run ``dbt build`` on parts of the graph.

        Raises
        ------
        RuntimeError
            When it fails; the message is what dbt printed.
        """
        command = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "--quiet", "build"]
        command += ["--select", *selected, "--indirect-selection", "buildable"]
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    def land_corpus(self, n_problems: int, options: Options, n_landed: int = 0) -> None:
        """Land the ontology, the problems and what annotation would have said of them.

        The first `n_landed` of them are there already.
        """
        ontology = make_ontology(options.seed, options.topic_exponent)
        labels = [f"t{node:05d}" for node in range(len(ontology.parent))]
        edges = [
            {"ontology": "bench", "parent": None if parent < 0 else labels[parent], "child": label, "label": label}
            for parent, label in zip(ontology.parent.tolist(), labels, strict=True)
        ]
        if not n_landed:
            self.landing.append("ontology_edges", edges, _JOB)
        paths = _paths(ontology, labels)
        variants, first = self._variants(), 0
        for chunk in make_problems(ontology, n_problems, options):
            known = max(0, n_landed - first)
            if known >= len(chunk.core_ideas):
                first += len(chunk.core_ideas)
                continue
            ids = [f"bench/{first + number:07d}" for number in range(len(chunk.core_ideas))]
            problems = [_problem(i, idea) for i, idea in zip(ids, chunk.core_ideas.to_pylist(), strict=True)]
            self.landing.append("problems", problems[known:], _JOB)
            hashes = [problem["content_hash"] for problem in problems]
            lowest = _most_specific(ontology, chunk.problem, chunk.topic)
            lowest &= chunk.problem >= first + known
            rows, topics = (chunk.problem[lowest] - first).tolist(), chunk.topic[lowest].tolist()
            self.landing.append(
                "topic_scores",
                pa.table(
                    {
                        "problem_id": [ids[row] for row in rows],
                        "visited_topic_id": pa.repeat("visited", len(rows)),
                        "topic_id": [paths[topic] for topic in topics],
                        "score": pa.array(np.ones(len(rows))),
                        "kept": pa.repeat(True, len(rows)),
                        "assigned": pa.repeat(True, len(rows)),
                        "traversal_id": [ids[row] for row in rows],
                        "content_hash": [hashes[row] for row in rows],
                        "variant": pa.repeat(variants.topics, len(rows)),
                    }
                ),
                _JOB,
            )
            summaries = {
                "problem_id": ids,
                "core_idea": chunk.core_ideas,
                "no_core_idea": pa.repeat(False, len(ids)),
                "content_hash": hashes,
                "variant": pa.repeat(variants.summaries, len(ids)),
            }
            self.landing.append("summaries", pa.table(summaries).slice(known), _JOB)
            first += len(ids)

    def land_ratings(self, candidates: pa.Table, seed: int, n_replicates: int = 0) -> None:
        """Land a rating of every candidate, candidates of class ``both`` better on average; and refits."""
        n = candidates.num_rows
        rng = np.random.default_rng([seed, 10])
        strength = rng.normal(0.0, 1.0, n) + 0.6 * (candidates["class"].to_numpy() == "both")
        numbers = pc.dictionary_encode(candidates["query_id"]).combine_chunks().indices.to_numpy()
        variants = self._variants()
        common = {
            **{name: candidates[name] for name in ("query_id", "document_id", "content_hash")},
            "benchmark": pa.repeat("saber-math", n),
            "judge": pa.repeat("made-up", n),
            "schedule": pa.repeat("swiss", n),
            "variant": pa.repeat(variants.ratings, n),
        }
        fitted = {"rating": pa.array(_rescaled(strength, numbers)), "log_strength": pa.array(strength)}
        self.landing.append("ratings", pa.table({**common, **fitted}), _JOB)
        for replicate in range(n_replicates):
            drawn = _rescaled(strength + rng.normal(0.0, 0.3, n), numbers)
            columns = {"replicate": pa.repeat(pa.scalar(replicate, pa.int32()), n), "rating": pa.array(drawn)}
            self.landing.append("rating_replicates", pa.table({**common, **columns}), _JOB)

    def land_runs(self, candidates: pa.Table, n_systems: int, seed: int) -> int:
        """Land one run a system and setting; the later a system's number, the closer it follows the ratings."""
        rated = self.landing.read("ratings").select(["query_id", "document_id", "rating"])
        joined = candidates.join(rated, ["query_id", "document_id"]).sort_by(
            [("query_id", "ascending"), ("document_id", "ascending")]
        )
        rating, n = joined["rating"].to_numpy(), joined.num_rows
        variants, rows = self._variants(), 0
        for system in range(n_systems):
            for place, setting in enumerate(RETRIEVAL_SETTINGS):
                rng = np.random.default_rng([seed, 11, system, place])
                skill = (system + 1) / n_systems + 0.05 * place
                scores = skill * rating + rng.normal(0.0, 1.5, n)
                run_id = f"system-{system:02d}.{setting}.candidates.none.bench"
                constant = {
                    "run_id": run_id,
                    "benchmark": "saber-math",
                    "setting": setting,
                    "scope": "candidates",
                    "idf": "none",
                    "system": f"system-{system:02d}",
                    "params": "{}",
                    "variant": variants.benchmark,
                }
                columns = {name: pa.repeat(value, n) for name, value in constant.items()}
                columns |= {name: joined[name] for name in ("query_id", "document_id", "content_hash")}
                columns["score"] = pa.array(scores)
                columns["latency_s"] = pa.array(np.full(n, 0.001 * (1 + system) / 150))
                rows += self.landing.append("runs", pa.table(columns), _JOB).rows
        return rows

    def _candidates(self) -> pa.Table:
        """Queries and candidates as the models drew them, with the hash of each pair's texts."""
        with duckdb.connect(str(self.home / "warehouse.duckdb"), read_only=True) as connection:
            found = connection.sql(
                """
                select candidates.query_id, candidates.document_id, candidates.class,
                    queries.content_hash as query_hash, candidates.document_hash
                from benchmark.candidates as candidates
                inner join signals.eligible_problems as queries on queries.problem_id = candidates.query_id
                order by all
                """
            ).to_arrow_table()
        hashes = map(pair_hash, found["query_hash"].to_pylist(), found["document_hash"].to_pylist())
        kept = found.select(["query_id", "document_id", "class"])
        return kept.append_column("content_hash", pa.array(list(hashes), pa.string()))

    def _variants(self) -> Variants:
        settings = load_settings(self.home, path=self.settings_file)
        return selected_variants(settings, ontology_in_use(settings, self.landing))


def _paths(ontology: Ontology, labels: Sequence[str]) -> list[str]:
    """Topic ids: root paths without the root."""
    paths = [labels[0]]
    for node in range(1, len(labels)):
        parent = int(ontology.parent[node])
        paths.append(labels[node] if parent == 0 else f"{paths[parent]}/{labels[node]}")
    return paths


def _most_specific(ontology: Ontology, problem: np.ndarray, topic: np.ndarray) -> np.ndarray:
    """Mark the annotations of which the problem has no descendant too."""
    above = ontology.ancestors[topic].astype(np.int64)
    above[above == topic[:, None]] = -1
    n_topics = len(ontology.parent)
    codes = (problem[:, None] * n_topics + above)[above >= 0]
    return ~np.isin(problem * n_topics + topic, codes)


def _problem(problem_id: str, core_idea: str) -> dict[str, Any]:
    source, _, source_id = problem_id.partition("/")
    number = int(source_id)
    statement = f"{core_idea.capitalize()} with $x_{{{number % 7}}}^2 + {number} = y$." * (1 + number % 5)
    solution = f"Write $y = {number}$ and apply {core_idea}." * (1 + number % 3)
    return {
        "problem_id": problem_id,
        "source": source,
        "source_id": source_id,
        "statement": statement,
        "solution": solution,
        "content_hash": content_hash(statement, solution),
    }


def _rescaled(strength: np.ndarray, query: np.ndarray) -> np.ndarray:
    lowest, highest = np.full(query.max() + 1, np.inf), np.full(query.max() + 1, -np.inf)
    np.minimum.at(lowest, query, strength)
    np.maximum.at(highest, query, strength)
    share = (strength - lowest[query]) / (highest - lowest)[query]
    return np.asarray(5.0 * share)
