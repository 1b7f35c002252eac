"""A dataset folder that ``datasets.load_dataset(FOLDER, CONFIG)`` reads: Parquet, a card, licences of each source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from warehouse.collection import PROBLEM, QREL
from warehouse.exports.card import card, licence_tag
from warehouse.exports.folder import ExportFolder
from warehouse.exports.languages import language_codes
from warehouse.exports.request import ExportRequest
from warehouse.runs import FACTS

_TEXT = pa.string()
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_USE = """```python
from datasets import load_dataset

qrels = load_dataset("THIS FOLDER", "default", split="test")        # query-id, corpus-id, score (integer gain)
corpus = load_dataset("THIS FOLDER", "corpus", split="corpus")      # id, title, text
queries = load_dataset("THIS FOLDER", "queries", split="queries")   # id, text
```

`problems` has statement, solution, licence and domains of each, `ratings` the exact relevances, `top_ranked` the
candidates of each query, `runs` the landed runs. The library caches by folder: after another export into this one,
load with `download_mode="force_redownload"`."""
_RATING = {name: pa.float64() if name in ("relevance", "std_error") else _TEXT for name in QREL}


def write(folder: ExportFolder, request: ExportRequest) -> None:
    """Write the data set with all its configurations."""
    folder.manifest = request.manifest("hf", ids="plain")
    splits = write_data(folder, request, with_candidates=True)
    folder.text("README.md", card(folder.manifest, [("Use", _USE)], front(request, splits)))


def write_data(folder: ExportFolder, request: ExportRequest, with_candidates: bool) -> dict[str, str]:
    """Write the Parquet files; return {configuration: name of its split}."""
    collection = request.collection
    splits = {"default": "test", "corpus": "corpus", "queries": "queries", "problems": "problems", "ratings": "test"}
    graded = request.graded()
    folder.parquet(
        "data/default.parquet",
        pa.table(
            {
                "query-id": pa.array([row[0] for row in graded], _TEXT),
                "corpus-id": pa.array([row[1] for row in graded], _TEXT),
                "score": pa.array([row[2] for row in graded], pa.int32()),
            }
        ),
    )
    # Nothing else in these two: tools hand every column to the model, and some refuse columns with gaps.
    documents = (
        {"id": one, "title": "", "text": collection.text(one, request.document_form)}
        for one in collection.document_ids
    )
    folder.parquet("data/corpus.parquet", _table(documents, {"id": _TEXT, "title": _TEXT, "text": _TEXT}))
    queries = ({"id": one, "text": collection.text(one, request.query_form)} for one in collection.query_ids)
    folder.parquet("data/queries.parquet", _table(queries, {"id": _TEXT, "text": _TEXT}))
    problems = (
        {**collection.problems[one], "domains": list(collection.domains.get(one, ()))}
        for one in sorted(collection.problems)
    )
    folder.parquet(
        "data/problems.parquet", _table(problems, {**dict.fromkeys(PROBLEM, _TEXT), "domains": pa.list_(_TEXT)})
    )
    folder.parquet("data/ratings.parquet", _table(collection.qrels, _RATING))
    if with_candidates:
        splits["top_ranked"] = "test"
        rows = ({"query-id": query, "corpus-ids": collection.candidates[query]} for query in collection.query_ids)
        folder.parquet("data/top_ranked.parquet", _table(rows, {"query-id": _TEXT, "corpus-ids": pa.list_(_TEXT)}))
    if request.run_ids != ():
        folder.manifest["runs"] = request.runs.facts
        if request.runs.facts:
            splits["runs"] = "test"
            folder.parquet_parts("data/runs.parquet", (_run(facts, rows) for facts, rows in request.runs))
    return splits


def front(request: ExportRequest, splits: Mapping[str, str]) -> dict[str, Any]:
    """Return the YAML block of the card."""
    collection = request.collection
    size = len(collection.document_ids)
    return {
        "pretty_name": collection.name,
        "license": licence_tag(collection.licences),
        "language": [code for code, _ in language_codes(collection)],
        "task_categories": ["text-retrieval", "text-ranking"],
        "tags": ["mathematics", "information-retrieval"],
        "size_categories": [next((name for limit, name in _SIZES if size < limit), "n>1M")],
        "configs": [
            {"config_name": name, "data_files": [{"split": split, "path": f"data/{name}.parquet"}]}
            for name, split in splits.items()
        ],
    }


def _run(facts: Mapping[str, Any], documents: pa.Table) -> pa.Table:
    columns = {name: pa.repeat(pa.scalar(facts[name], _TEXT), documents.num_rows) for name in FACTS}
    return pa.table({**columns, **{name: documents[name] for name in documents.column_names}})


def _table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, pa.DataType]) -> pa.Table:
    return pa.Table.from_pylist([dict(row) for row in rows], schema=pa.schema(list(columns.items())))
