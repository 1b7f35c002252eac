"""TREC: ``qrels.txt``, a run file a run, and beside each the exact numbers that TREC files cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from warehouse.collection import QREL
from warehouse.exports.card import card
from warehouse.exports.folder import ExportFolder
from warehouse.exports.ids import escape, file_name
from warehouse.exports.request import ExportRequest
from warehouse.runs import DOCUMENT

EXACT = "qrels.exact.tsv"
PROBLEM_COLUMNS = ("problem_id", "content_hash", "source", "licence")
_USE = """```sh
ir_measures qrels.txt runs/NAME.txt nDCG@10
trec_eval -m ndcg_cut.10 qrels.txt runs/NAME.txt
```

The scores of a run are its own where they put the documents in the warehouse's order for a tool that reads 32-bit
scores; where they do not (ties, differences too small), the query's scores are descending integers instead. The run's
own scores stand in `runs/NAME.exact.tsv`. Ids are percent-encoded where white space, quotes or a formula sign would
be misread; `saber import` decodes them."""


def write(folder: ExportFolder, request: ExportRequest) -> None:
    """Write the benchmark's qrels and runs."""
    folder.manifest = request.manifest("trec", ids="percent")
    folder.lines("qrels.txt", (f"{escape(q)} 0 {escape(d)} {gain}" for q, d, gain in request.graded()))
    write_exact(folder, request)
    folder.manifest["runs"] = []
    for facts, documents in request.runs:
        name = file_name(facts["run_id"])
        run = {**facts, "file": f"runs/{name}.txt", "exact": f"runs/{name}.exact.tsv"}
        rows = documents.to_pydict()
        folder.lines(run["file"], _run_lines(rows, escape(run["run_id"])))
        folder.tsv(run["exact"], DOCUMENT, zip(*(rows[column] for column in DOCUMENT), strict=True))
        folder.manifest["runs"].append(run)
    folder.text("README.md", card(folder.manifest, [("Use", _USE)]))


def write_exact(folder: ExportFolder, request: ExportRequest) -> None:
    """Write the exact relevances and the hashes of the texts they are about."""
    qrels = request.collection.qrels
    folder.tsv(EXACT, QREL, ([row[column] for column in QREL] for row in qrels))
    problems = request.collection.problems
    folder.tsv(
        "problems.tsv", PROBLEM_COLUMNS, ([problems[one][c] for c in PROBLEM_COLUMNS] for one in sorted(problems))
    )


def tool_scores(scores: np.ndarray) -> list[float] | list[int]:
    """Return scores by which a tool that reads 32-bit floats keeps the order given.

    Parameters
    ----------
    scores
        Scores of one query's documents, best first, shape (n,).
    """
    with np.errstate(over="ignore"):
        narrow = scores.astype(np.float32)
    if np.isfinite(narrow).all() and (np.diff(narrow) < 0).all():
        return [float(score) for score in scores]
    return list(range(len(scores), 0, -1))


def _run_lines(rows: dict[str, list[Any]], tag: str) -> Iterator[str]:
    queries = np.array(rows["query_id"], dtype=object)
    scores = np.array(rows["score"], dtype=np.float64)
    starts = [0, *(np.flatnonzero(queries[1:] != queries[:-1]) + 1).tolist(), len(queries)]
    for start, stop in pairwise(starts):
        if start == stop:
            continue
        query = escape(queries[start])
        for at, score in zip(range(start, stop), tool_scores(scores[start:stop]), strict=True):
            yield f"{query} Q0 {escape(rows['document_id'][at])} {at - start + 1} {score!r} {tag}"
