"""Ingest and ontology readers on the real data folder: every file is accounted for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warehouse.ontologies import read_ontology, unfold
from warehouse.sources import ingest_problems

DATA = Path(os.environ.get("SABER_REALDATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
pytestmark = [
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no real data in {DATA} (set SABER_REALDATA)"),
]


@pytest.mark.parametrize(
    ("folder", "rows_in", "kept", "rejected"),
    [
        ("math_test", 5000, 5000, {}),
        ("omni_math_rule", 2821, 2816, {"repeated": 5}),
        ("olympiadbench", 1350, 675, {"repeated": 675}),
        ("gsm8k", 8792, 8792, {}),
        ("harp_proof", 310, 310, {}),
        ("aime_aops", 90, 90, {}),
        ("theoremqa", 800, 800, {}),
        ("imobench", 980, 979, {"quoting": 1}),
    ],
)
def test_every_row_of_the_problem_folders_is_accounted_for(
    folder: str, rows_in: int, kept: int, rejected: dict[str, int]
) -> None:
    counts = ingest_problems([DATA / folder], folder).counts
    assert (counts["rows_in"], counts["kept"], counts["rejected_by_reason"]) == (rows_in, kept, rejected)


@pytest.mark.parametrize(
    "folder", ["alfworld", "judgebench", "arqmath_qrels", "trec_eval", "ontomathpro", "mathworld"]
)
def test_folders_without_problems_give_no_rows_and_no_failure(folder: str) -> None:
    result = ingest_problems([DATA / folder], folder)
    assert not result.rows
    assert not result.refused
    assert len(result.skipped_files) == len([path for path in (DATA / folder).iterdir() if path.is_file()])


def test_mathworld_counts() -> None:
    ontology = read_ontology(DATA / "mathworld", "mathworld")
    assert (ontology.counts["nodes_in"], ontology.counts["nodes"]) == (17113, 17022)
    assert "'Geometry/Surfaces/AlgebraicSurfaces'" in ontology.warnings[0]
    topics = unfold(ontology.edges)
    assert len({topic.topic_id for topic in topics}) == 17022
    assert max(topic.depth for topic in topics) == 5
    assert sum(topic.depth == 1 for topic in topics) == 11


def test_ontomathpro_counts() -> None:
    ontology = read_ontology(DATA / "ontomathpro", "ontomathpro")
    assert ontology.counts["multi_parent_nodes"] == 175
    assert (ontology.counts["nodes_in"], ontology.counts["roots"]) == (3449, 2)
    # 3,627 edges as given and one for each of the two roots.
    assert ontology.counts["edges"] == 3629
