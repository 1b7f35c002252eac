"""The registry of landed tables: one fixed Arrow schema and one key each (DESIGN: landed tables).

Every row also carries ``job_id`` (which job wrote it), ``sequence`` (monotonic under the table's lock; the
order in which "latest wins") and ``schema_version`` (old files are migrated when they are read).
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

SCHEMA_VERSION = 1
BOOKKEEPING: tuple[tuple[str, pa.DataType], ...] = (
    ("job_id", pa.string()),
    ("sequence", pa.int64()),
    ("schema_version", pa.int32()),
)

_text, _real, _whole, _flag = pa.string(), pa.float64(), pa.int64(), pa.bool_()
_texts = pa.list_(pa.string())


@dataclass(frozen=True)
class LandedTable:
    """One landed table.

    Attributes
    ----------
    name
        Folder under ``landing/`` and relation name in the schema ``landing``.
    key
        Columns that identify a row; the row of the largest ``sequence`` wins.
    columns
        (name, Arrow type) in order, without the bookkeeping columns.
    description
        What one row is.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[tuple[str, pa.DataType], ...]
    description: str

    @property
    def schema(self) -> pa.Schema:
        """The full Arrow schema, bookkeeping columns last."""
        return pa.schema([pa.field(name, kind) for name, kind in (*self.columns, *BOOKKEEPING)])


def _table(name: str, key: str, description: str, **columns: pa.DataType) -> LandedTable:
    return LandedTable(name, tuple(key.split()), tuple(columns.items()), description)


_SEEN = {"content_hash": _text, "variant": _text}

_ALL = (
    _table(
        "problems",
        "problem_id",
        "One row per version of a problem.",
        problem_id=_text,
        source=_text,
        source_id=_text,
        statement=_text,
        solution=_text,
        answer=_text,
        language=_text,
        licence=_text,
        metadata=_text,
        content_hash=_text,
    ),
    _table(
        "duplicates",
        "problem_id variant",
        "One row per problem that has copies (or once had): its group and whether it survives.",
        problem_id=_text,
        group_id=_text,
        is_survivor=_flag,
        kind=_text,
        similarity=_real,
        survivor_hash=_text,
        **_SEEN,
    ),
    _table(
        "near_duplicates",
        "first_id second_id variant",
        "One row per pair of problems that are near copies: reported, never merged.",
        first_id=_text,
        second_id=_text,
        kind=_text,
        similarity=_real,
        masked_similarity=_real,
        **_SEEN,
    ),
    _table(
        "originality_flags",
        "problem_id reference_id variant",
        "One row per problem whose statement shares long runs of characters with a reference text.",
        problem_id=_text,
        reference_id=_text,
        reference=_text,
        share=_real,
        overlap=_text,
        **_SEEN,
    ),
    _table(
        "ontology_edges",
        "ontology parent child",
        "One row per edge of an ontology as given; the root has parent NULL.",
        ontology=_text,
        parent=_text,
        child=_text,
        label=_text,
    ),
    _table(
        "tombstones",
        "source",
        "One row per withdrawal (retract) or undoing of one (restore) of a source.",
        source=_text,
        action=_text,
    ),
    _table(
        "llm_calls",
        "call_id attempt",
        "One row per attempt of a call to a model, with its raw reply.",
        call_id=_text,
        attempt=pa.int32(),
        purpose=_text,
        endpoint=_text,
        model=_text,
        served_model=_text,
        fingerprint=_text,
        params=_text,
        prompt_version=_text,
        request=_text,
        reply=_text,
        finish_reason=_text,
        tokens_in=_whole,
        tokens_out=_whole,
        latency_s=_real,
        error=_text,
    ),
    _table(
        "topic_scores",
        "problem_id variant visited_topic_id topic_id",
        "One row per topic scored while a node of the ontology was visited for a problem.",
        problem_id=_text,
        visited_topic_id=_text,
        topic_id=_text,
        raw_score=_real,
        score=_real,
        kept=_flag,
        assigned=_flag,
        traversal_id=_text,
        provider=_text,
        model=_text,
        prompt_version=_text,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "delimited_statements",
        "problem_id variant",
        "One row per statement of a query with its formulas put into delimiters by a model.",
        problem_id=_text,
        statement=_text,
        provider=_text,
        model=_text,
        prompt_version=_text,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "summaries",
        "problem_id variant",
        "One row per summary of a problem's solution.",
        problem_id=_text,
        core_idea=_text,
        supporting_ideas=_texts,
        keywords=_texts,
        no_core_idea=_flag,
        confidence=_real,
        provider=_text,
        model=_text,
        prompt_version=_text,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "judgments",
        "benchmark query_id first_id second_id kind vote judge schedule annotator variant",
        "One row per verdict of a judge or person; first_id was shown first.",
        benchmark=_text,
        query_id=_text,
        first_id=_text,
        second_id=_text,
        kind=_text,
        vote=pa.int32(),
        judge=_text,
        schedule=_text,
        round=pa.int32(),
        verdict=_text,
        score=_real,
        reason=_text,
        annotator=_text,
        provider=_text,
        model=_text,
        prompt_version=_text,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "byes",
        "benchmark query_id document_id judge schedule round variant",
        "One row per document that sat out a round of a tournament.",
        benchmark=_text,
        query_id=_text,
        document_id=_text,
        judge=_text,
        schedule=_text,
        round=pa.int32(),
        variant=_text,
    ),
    _table(
        "ratings",
        "benchmark query_id document_id judge schedule variant",
        "One row per fitted rating of a document for a query.",
        benchmark=_text,
        query_id=_text,
        document_id=_text,
        judge=_text,
        schedule=_text,
        rating=_real,
        log_strength=_real,
        std_error=_real,
        component=pa.int32(),
        separable=_flag,
        n_comparisons=pa.int32(),
        ridge=_real,
        provider=_text,
        model=_text,
        **_SEEN,
    ),
    _table(
        "rating_replicates",
        "benchmark query_id document_id judge schedule variant replicate",
        "One row per rating refitted on judgments resampled within the query.",
        benchmark=_text,
        query_id=_text,
        document_id=_text,
        judge=_text,
        schedule=_text,
        replicate=pa.int32(),
        rating=_real,
        log_strength=_real,
        content_hash=_text,
        variant=_text,
    ),
    _table(
        "rating_draws",
        "benchmark query_id document_id judge schedule variant draw",
        "One row per rating drawn from the posterior of the fit.",
        benchmark=_text,
        query_id=_text,
        document_id=_text,
        judge=_text,
        schedule=_text,
        draw=pa.int32(),
        rating=_real,
        log_strength=_real,
        content_hash=_text,
        variant=_text,
    ),
    _table(
        "qrels",
        "benchmark query_id document_id variant",
        "One row per imported relevance of a document to a query.",
        benchmark=_text,
        query_id=_text,
        document_id=_text,
        relevance=_real,
        gain=_whole,
        origin=_text,
        judge=_text,
        schedule=_text,
        provider=_text,
        model=_text,
        std_error=_real,
        **{"class": _text},
        **_SEEN,
    ),
    _table(
        "runs",
        "run_id query_id document_id",
        "One row per document that a retrieval system ranked for a query.",
        run_id=_text,
        query_id=_text,
        document_id=_text,
        benchmark=_text,
        setting=_text,
        scope=_text,
        idf=_text,
        system=_text,
        score=_real,
        rank=pa.int32(),
        latency_s=_real,
        params=_text,
        **_SEEN,
    ),
    _table(
        "attempts",
        "benchmark problem_id model condition sample",
        "One row per attempt of a model at a problem under a condition.",
        benchmark=_text,
        problem_id=_text,
        model=_text,
        condition=_text,
        sample=pa.int32(),
        reply=_text,
        finish_reason=_text,
        tokens_in=_whole,
        tokens_out=_whole,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "grades",
        "benchmark problem_id model condition sample grader",
        "One row per grade of an attempt.",
        benchmark=_text,
        problem_id=_text,
        model=_text,
        condition=_text,
        sample=pa.int32(),
        grader=_text,
        score=_real,
        max_score=_real,
        reason=_text,
        call_id=_text,
        variant=_text,
    ),
    _table(
        "external_scores",
        "leaderboard system measure",
        "One row per score of a system on a leaderboard published elsewhere.",
        leaderboard=_text,
        system=_text,
        measure=_text,
        value=_real,
        origin=_text,
    ),
    _table(
        "source_rows",
        "source file row_number step reason",
        "One row per rejected row, skipped file or cleaning count of an ingest.",
        source=_text,
        file=_text,
        row_number=_whole,
        step=_text,
        reason=_text,
        n_rows=_whole,
    ),
    _table(
        "review_items",
        "source document step reason",
        "One row per state of something that a person should look at before it is trusted.",
        source=_text,
        document=_text,
        step=_text,
        reason=_text,
        detail=_text,
        state=_text,
        first_line=_whole,
        last_line=_whole,
        call_id=_text,
        **_SEEN,
    ),
    _table(
        "jobs",
        "job_id",
        "One row per state of a job: what it was asked, with which settings, and how it ended.",
        command=_text,
        arguments=_text,
        settings=_text,
        state=_text,
        at=_text,
        summary=_text,
    ),
    _table(
        "builds",
        "build_id",
        "One row per distinct set of settings a build has used.",
        build_id=_text,
        settings=_text,
        variants=_text,
        ontology=_text,
        package_version=_text,
    ),
)

TABLES: dict[str, LandedTable] = {table.name: table for table in _ALL}
