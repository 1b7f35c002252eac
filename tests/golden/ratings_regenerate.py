"""Regenerate ratings_swiss_n8.json: Swiss pairs and ridge Bradley-Terry ratings on eight documents.

Run from the root: ``python tests/golden/ratings_regenerate.py``. Nothing of the project is imported: the
pairs come from a literal search for the smallest win difference, the strengths from scikit-learn's logistic
regression (no intercept, C = 1). The numbers are checked by tests/test_tournament_swiss.py and
tests/test_ratings_bradley_terry.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

N_DOCUMENTS = 8
STRENGTHS = [3, 7, 1, 6, 0, 5, 2, 4]
TIE_ORDERS = [
    [0, 1, 2, 3, 4, 5, 6, 7],
    [7, 6, 5, 4, 3, 2, 1, 0],
    [3, 1, 4, 0, 5, 2, 7, 6],
    [6, 2, 5, 1, 7, 3, 0, 4],
    [0, 1, 2, 3, 4, 5, 6, 7],
    [7, 6, 5, 4, 3, 2, 1, 0],
    [3, 1, 4, 0, 5, 2, 7, 6],
]


def stronger_wins(i: int, j: int) -> bool:
    """Case A: the document of higher strength always wins."""
    return STRENGTHS[i] > STRENGTHS[j]


def cyclic_wins(i: int, j: int) -> bool:
    """Case B: i beats the three after it on a circle; opposite ones by number."""
    step = (j - i) % N_DOCUMENTS
    return step in (1, 2, 3) or (step == 4 and i < j)


def strengths(games: list[tuple[int, int]]) -> np.ndarray:
    """Return ridge strengths (λ = 1) of (winner, loser) games by logistic regression on signed rows."""
    rows = np.zeros((len(games), N_DOCUMENTS))
    for row, (winner, loser) in zip(rows, games, strict=True):
        row[winner], row[loser] = 1.0, -1.0
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    # The mirrored copy with label 0 gives the second class; half weights keep each game counted once.
    model.fit(np.vstack([rows, -rows]), [1] * len(games) + [0] * len(games), np.full(2 * len(games), 0.5))
    return np.asarray(model.coef_[0])


def tournament(beats: Callable[[int, int], bool], tie_orders: list[list[int]]) -> dict[str, Any]:
    """Play seven rounds and fit after each."""
    wins = [0] * N_DOCUMENTS
    games: list[tuple[int, int]] = []
    rounds = []
    for tie_order in tie_orders:
        unpaired = sorted(tie_order, key=wins.__getitem__)
        met = {frozenset(game) for game in games}
        pairs, sat_out = [], []
        while unpaired:
            i = unpaired.pop(0)
            unmet = [j for j in unpaired if frozenset((i, j)) not in met]
            if not unmet:
                sat_out.append(i)
                continue
            j = min(unmet, key=lambda k: abs(wins[i] - wins[k]))
            unpaired.remove(j)
            pairs.append([i, j])
        for i, j in pairs:
            winner, loser = (i, j) if beats(i, j) else (j, i)
            games.append((winner, loser))
        for i, j in pairs:
            wins[i if beats(i, j) else j] += 1
        played = {"tie_order": tie_order, "pairs": pairs, "sat_out": sat_out, "wins": list(wins)}
        rounds.append({**played, **fit(games)})
    every = [(i, j) if beats(i, j) else (j, i) for j in range(N_DOCUMENTS) for i in range(j)]
    return {"rounds": rounds, "exhaustive": fit(every)}


def fit(games: list[tuple[int, int]]) -> dict[str, Any]:
    """Games so far with strengths and ratings on [0, 5]."""
    theta = strengths(games)
    rating = 5 * (theta - theta.min()) / (theta.max() - theta.min())
    return {
        "games": [list(game) for game in games],
        "strengths": [round(float(x), 8) for x in theta],
        "ratings": [round(float(x), 7) for x in rating],
    }


def main() -> None:
    """Write the file beside this one."""
    cases = {
        "A": tournament(stronger_wins, TIE_ORDERS),
        "B": tournament(cyclic_wins, [list(range(N_DOCUMENTS))] * 7),
    }
    path = Path(__file__).with_name("ratings_swiss_n8.json")
    lines = [
        f'"{name}": {{"exhaustive": {json.dumps(case["exhaustive"])},\n "rounds": [\n  '
        + ",\n  ".join(json.dumps(one) for one in case["rounds"])
        + "]}"
        for name, case in cases.items()
    ]
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
