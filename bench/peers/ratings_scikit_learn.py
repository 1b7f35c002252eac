"""The same strengths by scikit-learn's logistic regression, query by query and without standard errors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotate.ratings.comparisons import Comparisons
from bench.stage import Outcome, Stage, Workbench
from bench.verdicts import DOCUMENTS, comparisons, n_queries, timed

_TOLERANCE = 2e-3  # it stops at a gradient of 1e-6 of the mean loss, far above the stage's


def strengths(drawn: Comparisons) -> npt.NDArray[np.float64]:
    """Shape (items,): log strengths at ridge 1."""
    from scipy.sparse import csr_array
    from sklearn.linear_model import LogisticRegression

    found = []
    for query in range(len(drawn.query_sizes)):
        own = drawn.queries(query, query + 1)
        n = len(own.first)
        columns = np.column_stack([own.first, own.second]).ravel()
        signs = np.tile([1.0, -1.0], n)
        design = csr_array((signs, columns, np.arange(0, 2 * n + 1, 2)), shape=(n, DOCUMENTS))
        model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-6, max_iter=1_000)
        found.append(model.fit(design, own.first_share > 0).coef_[0])
    return np.concatenate(found)


def run(workbench: Workbench) -> Outcome:
    """Fit all queries; then, outside ``work_cpu_s``, hold the strengths against the stage's own."""
    from annotate.ratings.bradley_terry import fit

    drawn = comparisons(n_queries(workbench))
    found, seconds = timed(lambda: strengths(drawn))
    difference = float(np.abs(found - fit(drawn, errors=False).log_strength).max())
    if not difference < _TOLERANCE:
        raise AssertionError(f"Strengths differ by up to {difference:.1e}.")
    return Outcome(len(drawn.first), {"largest_difference": difference, **seconds})


STAGE = Stage("ratings: scikit-learn", 80, run, peer_of="ratings", once=True, unit="verdicts", apart=True)
