"""BEIR: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/test.tsv``; the problem records travel as metadata."""

from __future__ import annotations

from typing import Any

from warehouse.exports.card import card
from warehouse.exports.folder import ExportFolder
from warehouse.exports.ids import escape
from warehouse.exports.request import ExportRequest
from warehouse.exports.trec import write_exact

_USE = """```python
from beir.datasets.data_loader import GenericDataLoader

corpus, queries, qrels = GenericDataLoader("THIS FOLDER").load(split="test")
```

`candidates.jsonl` lists the documents that each query ranks. A problem's record (statement, solution, answer, source,
licence) is the `metadata` of its line. Ids are percent-encoded where a tab or quote would be misread."""


def write(folder: ExportFolder, request: ExportRequest) -> None:
    """Write corpus, queries, qrels and candidates."""
    collection = request.collection
    folder.manifest = request.manifest("beir", ids="percent")
    folder.json_lines("corpus.jsonl", (_document(request, one) for one in collection.document_ids))
    folder.json_lines("queries.jsonl", (_query(request, one) for one in collection.query_ids))
    folder.tsv("qrels/test.tsv", ("query-id", "corpus-id", "score"), request.graded())
    folder.json_lines(
        "candidates.jsonl",
        (
            {"query-id": escape(query), "corpus-ids": [escape(one) for one in collection.candidates[query]]}
            for query in collection.query_ids
        ),
    )
    write_exact(folder, request)
    folder.text("README.md", card(folder.manifest, [("Use", _USE)]))


def _document(request: ExportRequest, problem_id: str) -> dict[str, Any]:
    text = request.collection.text(problem_id, request.document_form)
    record = dict(request.collection.problems[problem_id])
    return {"_id": escape(problem_id), "title": "", "text": text, "metadata": record}


def _query(request: ExportRequest, problem_id: str) -> dict[str, Any]:
    text = request.collection.text(problem_id, request.query_form)
    record = dict(request.collection.problems[problem_id])
    domains = list(request.collection.domains.get(problem_id, ()))
    return {"_id": escape(problem_id), "text": text, "metadata": {**record, "domains": domains}}
