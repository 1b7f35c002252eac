"""One row per run and query with its score's interval under draws from the posterior of the ratings."""

import warnings

import numpy as np
import pyarrow as pa

from udfs.noisy_queries import noisy_queries
from udfs.settings import headline, setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("query_id", pa.string()),
        ("score", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("std_error", pa.float64()),
        ("n_draws", pa.int64()),
    ]
)
_NORMAL_95 = 1.96


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    benchmarks = dbt.ref("benchmarks").filter("origin = 'built'").project("benchmark")
    systems = dbt.ref("systems").filter(f"benchmark = '{quoted(benchmarks.fetchall()[0][0])}'")
    runs = [row[0] for row in systems.project("run_id").order("run_id").fetchall()]
    candidates = dbt.ref("candidates").set_alias("candidates")
    drawn = dbt.ref("stg_rating_draws").set_alias("drawn")
    on = " and ".join(f"drawn.{column} = candidates.{column}" for column in ("benchmark", "query_id", "document_id"))
    of_candidates = drawn.join(candidates, on, how="semi")
    metrics = dbt.ref("query_metrics").filter(f"measure = '{headline(settings)}' and value is not null")
    scores = {(run, query): value for run, query, value in metrics.project("run_id, query_id, value").fetchall()}
    gain = setting(settings, "evaluation.gain")
    queries = noisy_queries(of_candidates, dbt.ref("ranked_runs"), runs, gain=gain, number="draw")
    return pa.RecordBatchReader.from_batches(SCHEMA, batches(queries, runs, scores))


def batches(queries, runs, scores):
    for query in queries:
        with warnings.catch_warnings():  # a single draw has no deviation: NaN, hence NULL
            warnings.simplefilter("ignore", RuntimeWarning)
            deviation = np.nanstd(query.scores, axis=0, ddof=1).round(12)
        score = np.array([scores.get((run, query.query_id), np.nan) for run in runs])
        half = _NORMAL_95 * deviation
        yield pa.record_batch(
            [
                pa.array(runs, pa.string()),
                pa.repeat(query.query_id, len(runs)),
                nullable(score),
                nullable(np.clip(score - half, 0, 1).round(12)),
                nullable(np.clip(score + half, 0, 1).round(12)),
                nullable(deviation),
                pa.array(np.isfinite(query.scores).sum(axis=0), pa.int64()),
            ],
            schema=SCHEMA,
        )


def nullable(values):
    return pa.array(values, mask=~np.isfinite(values))


def quoted(text):
    return text.replace("'", "''")
