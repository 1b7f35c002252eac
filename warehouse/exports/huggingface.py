"""A dataset folder that ``datasets.load_dataset(FOLDER, CONFIG)`` reads: Parquet, a card, licences of each source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from warehouse.collection import PROBLEM, QREL, Collection
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
candidates of each query, `runs` the landed runs. `published_queries` and `published_documents` are the layout of the
release of SABER-Math: `candidates` are row positions in the documents, counted from 0, beside `relevance_scores`
(null without a judgment) and `domains`. The library caches by folder: after another export into this one,
load with `download_mode="force_redownload"`."""
_RATING = {name: pa.float64() if name in ("relevance", "std_error") else _TEXT for name in QREL}


def write(folder: ExportFolder, request: ExportRequest) -> None:
    """Write the data set with all its configurations."""
    folder.manifest = request.manifest("hf", ids="plain")
    splits = {**write_data(folder, request, with_candidates=True), **_write_published(folder, request.collection)}
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


def _write_published(folder: ExportFolder, collection: Collection) -> dict[str, str]:
    """Write the layout of SABER-Math's release; return {configuration: name of its split}."""
    position = {document: at for at, document in enumerate(collection.document_ids)}
    relevance = {(row["query_id"], row["document_id"]): row["relevance"] for row in collection.qrels}
    text = {"id": _TEXT, "problem": _TEXT, "solution": _TEXT}
    domains = {"domains": pa.list_(_TEXT)}
    lists = {"candidates": pa.list_(pa.int64()), "relevance_scores": pa.list_(pa.float64())}

    def shown(one: str) -> dict[str, Any]:
        problem = collection.problems[one]
        named = list(collection.domains.get(one, ()))
        return {"id": one, "problem": problem["statement"], "solution": problem["solution"], "domains": named}

    documents = (shown(one) for one in collection.document_ids)
    folder.parquet("data/published_documents.parquet", _table(documents, {**text, **domains}))
    queries = (
        {
            **shown(one),
            "candidates": [position[document] for document in collection.candidates[one]],
            "relevance_scores": [relevance.get((one, document)) for document in collection.candidates[one]],
        }
        for one in collection.query_ids
    )
    folder.parquet("data/published_queries.parquet", _table(queries, {**text, **lists, **domains}))
    return {"published_queries": "queries", "published_documents": "documents"}


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
