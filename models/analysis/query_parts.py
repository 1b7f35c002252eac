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
        ("is_delimited", pa.bool_()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    problems, queries = dbt.ref("stg_problems").set_alias("problems"), dbt.ref("queries").set_alias("queries")
    delimited = dict(dbt.ref("stg_delimited_statements").project("problem_id, statement").fetchall())
    found = queries.join(problems, "queries.query_id = problems.problem_id").project("query_id, statement")
    rows = [row(query_id, text, delimited.get(query_id)) for query_id, text in found.order("query_id").fetchall()]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def row(query_id, statement, delimited):
    mathematics, words = split_text(delimited or statement or "")
    counts = count_tokens(mathematics), count_tokens(words)
    return {
        "query_id": query_id,
        "mathematics": mathematics,
        "words": words,
        "n_mathematics_tokens": counts[0],
        "n_words_tokens": counts[1],
        "share_mathematics": counts[0] / sum(counts) if sum(counts) else None,
        "has_both": bool(mathematics and words),
        "is_delimited": delimited is not None,
    }
