"""Stages of the benchmark that need no corpus: the registry finds them, and small runs do what they say."""

import numpy as np
import pytest

from annotate.ratings.bradley_terry import fit
from bench.stage import Workbench, stages
from bench.verdicts import DOCUMENTS, ROUNDS, comparisons, n_queries, strengths

STAGES = {stage.name: stage for stage in stages()}
ROWS = {
    "ratings": 2 * 1_500,
    "ratings: scikit-learn": 2 * 1_500,
    "tournament": 2 * 1_500,  # but for the few that sit out for want of an opponent not met before
    "landing": 50 * 40,
    "landing: write_table": 50 * 40,
    "deduplication": 3 * 40,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_small_run_counts_its_rows(name, tmp_path) -> None:
    stage = STAGES[name]
    assert stage.once
    assert stage.apart
    assert stage.peer_of in (None, name.partition(":")[0])
    outcome = stage.run(Workbench(tmp_path, 40))
    assert outcome.pairs == ROWS[name] - outcome.facts.get("sat_out", 0) // 2
    assert outcome.pairs > 0.95 * ROWS[name]


@pytest.mark.parametrize(("problems", "queries"), [(1, 2), (400, 20), (20_000, 1_000), (283_000, 1_000)])
def test_queries_grow_with_the_corpus_up_to_a_thousand(tmp_path, problems: int, queries: int) -> None:
    assert n_queries(Workbench(tmp_path, problems)) == queries


def test_drawn_verdicts_follow_the_strengths_they_are_drawn_from() -> None:
    drawn = comparisons(5)
    assert (drawn.counts() == ROUNDS).all()
    assert len(drawn.first) == 5 * ROUNDS * DOCUMENTS // 2
    fitted = fit(drawn).log_strength.reshape(5, DOCUMENTS)
    for estimated, true in zip(fitted, strengths(5), strict=True):
        assert np.corrcoef(estimated, true)[0, 1] > 0.8


def test_a_peer_whose_strengths_differ_fails(tmp_path, monkeypatch) -> None:
    from bench.peers import ratings_scikit_learn

    honest = ratings_scikit_learn.strengths
    monkeypatch.setattr(ratings_scikit_learn, "strengths", lambda drawn: honest(drawn) + 0.01)
    with pytest.raises(AssertionError, match="differ by up to"):
        ratings_scikit_learn.run(Workbench(tmp_path, 40))
