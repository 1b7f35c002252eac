"""One row per pair of eligible problems whose summaries' Jaccard similarity reaches the threshold."""

import pyarrow as pa

from udfs.jaccard_blocks import qualifying_pairs
from udfs.progress import progress
from udfs.relations import token_set_index
from udfs.settings import setting

SCHEMA = pa.schema([("first_index", pa.int32()), ("second_index", pa.int32()), ("n_common", pa.int16())])


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    tokens = dbt.ref("summary_tokens").project("problem_index, tokens").to_arrow_table()
    thresholds = dbt.ref("signal_thresholds")
    threshold = thresholds.filter("signal = 'summary'").project("threshold").fetchall()[0][0]
    if threshold is None or not tokens.num_rows:
        return pa.RecordBatchReader.from_batches(SCHEMA, [])
    index = token_set_index(tokens, memory_budget=setting(settings, "signals.memory_mib") << 20)
    blocks = qualifying_pairs(
        index, threshold, setting(settings, "signals.comparison"), workers=setting(settings, "signals.workers")
    )
    return pa.RecordBatchReader.from_batches(SCHEMA, batches(progress(blocks, "summary pairs")))


def batches(blocks):
    for block in blocks:
        yield pa.record_batch(
            [pa.array(block.i), pa.array(block.j), pa.array(block.common.astype("int16"))], schema=SCHEMA
        )
