"""The offline provider on MATH, Omni-MATH and MathWorld: useful topics, and summaries that differ and overlap."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from annotate.providers.base import Reply, Request
from annotate.providers.offline import OfflineProvider
from annotate.providers.offline_summary import summarise
from annotate.summaries.reading import read_summary
from annotate.topics.traversal import Rules, traverse
from annotate.topics.tree import TopicTree, build_tree
from udfs.tokens import summary_tokens
from warehouse.identity import content_hash, uniform
from warehouse.ontologies import read_ontology, unfold

DATA = Path(os.environ.get("SABER_REALDATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real data in {DATA} (set SABER_REALDATA)"),
]

BRANCHES = {  # subject of MATH -> branches of MathWorld that a mathematician would accept
    "Algebra": {"Algebra", "CalculusandAnalysis"},
    "Intermediate Algebra": {"Algebra", "CalculusandAnalysis"},
    "Counting & Probability": {"DiscreteMathematics", "ProbabilityandStatistics", "RecreationalMathematics"},
    "Geometry": {"Geometry"},
    "Number Theory": {"NumberTheory"},
}


def problems(share: float) -> list[dict[str, Any]]:
    rows = []
    for file in ("math_test/test.jsonl", "omni_math_rule/omni_math_rule.jsonl"):
        for number, line in enumerate((DATA / file).read_text("utf-8").splitlines()):
            if uniform(7, file, number) < share:
                row = json.loads(line)
                rows.append({
                    "problem_id": f"{file}:{number}", "statement": row["problem"], "solution": row["solution"],
                    "content_hash": content_hash(row["problem"], row["solution"]), "subject": row.get("type"),
                })  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def tree() -> TopicTree:
    ontology = read_ontology(DATA / "mathworld" / "tree.json", "mathworld")
    return build_tree(unfold(ontology.edges), ["HistoryandTerminology"])


def test_topics_spread_and_agree_with_the_subjects(tree: TopicTree) -> None:
    chosen = problems(0.08)
    provider = OfflineProvider()

    async def ask(request: Request) -> tuple[str, Reply]:
        return "c", await provider.complete(request)

    async def run() -> list[Any]:
        return await asyncio.gather(*(traverse(problem, tree, ask, Rules(0.85, None)) for problem in chosen))

    found = [[tree.topic_ids[topic] for topic in one.assigned] for one in asyncio.run(run())]
    counts = np.array([len(topics) for topics in found])
    assert (counts > 0).mean() >= 0.9
    assert 1.5 <= counts.mean() <= 4
    assert not any(topic.startswith("HistoryandTerminology") for topics in found for topic in topics)
    branches = [topic.split("/")[0] for topics in found for topic in topics]
    domains = ("Algebra", "Geometry", "NumberTheory", "CalculusandAnalysis")
    shares = {domain: branches.count(domain) / len(branches) for domain in domains}
    assert all(share >= 0.08 for share in shares.values()), shares
    for subject, accepted in BRANCHES.items():
        own = [
            t for problem, topics in zip(chosen, found, strict=True) if problem["subject"] == subject for t in topics
        ]
        agreement = np.mean([topic.split("/")[0] in accepted for topic in own])
        chance = np.mean([branch in accepted for branch in branches])
        assert agreement > 1.4 * chance, (subject, agreement, chance)


def test_summaries_keep_the_rules_differ_and_overlap() -> None:
    chosen = problems(0.12)
    found = [summarise(problem["statement"], problem["solution"]) for problem in chosen]
    for one in found:
        read_summary(json.dumps(one))
    ideas = [one["coreIdea"] for one in found if not one["noCoreIdea"]]
    assert 0.8 <= len(ideas) / len(found) <= 0.99
    assert len(set(ideas)) / len(ideas) >= 0.85
    tokens = [frozenset(words) for words in summary_tokens(pa.array(ideas), "unicode").to_pylist()]
    overlaps = [
        len(one & other) / len(one | other) if one | other else 0.0
        for position, one in enumerate(tokens)
        for other in tokens[:position]
    ]
    assert 0.005 <= np.mean(np.array(overlaps) >= 0.21057128906295475) <= 0.03
