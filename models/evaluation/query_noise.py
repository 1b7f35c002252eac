"""One row per run and query with the standard deviation of its score under refitted ratings."""

import warnings

import numpy as np
import pyarrow as pa

from udfs.noisy_queries import noisy_queries
from udfs.settings import setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("query_id", pa.string()),
        ("std_error", pa.float64()),
        ("n_replicates", pa.int64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    benchmarks = dbt.ref("benchmarks").filter("origin = 'built'").project("benchmark")
    systems = dbt.ref("systems").filter(f"benchmark = '{quoted(benchmarks.fetchall()[0][0])}'")
    runs = [row[0] for row in systems.project("run_id").order("run_id").fetchall()]
    gain = setting(dbt.ref("stg_settings"), "evaluation.gain")
    scored = noisy_queries(dbt.ref("stg_rating_replicates"), dbt.ref("ranked_runs"), runs, gain=gain)
    return pa.RecordBatchReader.from_batches(SCHEMA, batches(scored, runs))


def batches(queries, runs):
    for query in queries:
        with warnings.catch_warnings():  # a single replicate has no deviation: NaN, hence NULL
            warnings.simplefilter("ignore", RuntimeWarning)
            deviation = np.nanstd(query.scores, axis=0, ddof=1).round(12)
        yield pa.record_batch(
            [
                pa.array(runs, pa.string()),
                pa.repeat(query.query_id, len(runs)),
                pa.array(deviation, mask=~np.isfinite(deviation)),
                pa.array(np.isfinite(query.scores).sum(axis=0), pa.int64()),
            ],
            schema=SCHEMA,
        )


def quoted(text):
    return text.replace("'", "''")
