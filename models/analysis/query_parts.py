"""One row per query of the benchmark built here with its mathematics and its words."""

import pyarrow as pa

from udfs.formula_split import count_tokens, split_text

SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("mathematics", pa.string()),
        ("words", pa.string()),
        ("n_mathematics_tokens", pa.int64()),
        ("n_words_tokens", pa.int64()),
        ("share_mathematics", pa.float64()),
        ("has_both", pa.bool_()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    problems, queries = dbt.ref("stg_problems").set_alias("problems"), dbt.ref("queries").set_alias("queries")
    found = queries.join(problems, "queries.query_id = problems.problem_id").project("query_id, statement")
    return pa.Table.from_pylist([row(*one) for one in found.order("query_id").fetchall()], schema=SCHEMA)


def row(query_id, statement):
    mathematics, words = split_text(statement or "")
    counts = count_tokens(mathematics), count_tokens(words)
    return {
        "query_id": query_id,
        "mathematics": mathematics,
        "words": words,
        "n_mathematics_tokens": counts[0],
        "n_words_tokens": counts[1],
        "share_mathematics": counts[0] / sum(counts) if sum(counts) else None,
        "has_both": bool(mathematics and words),
    }
