"""One row per pair of problems whose summaries' Jaccard similarity reaches the threshold."""

import pyarrow as pa

from udfs.jaccard_blocks import qualifying_pairs
from udfs.progress import progress
from udfs.settings import setting
from udfs.signal_build import covered, is_stored, limits, resumable, summary_index, threshold

SCHEMA = pa.schema([("first_index", pa.int32()), ("second_index", pa.int32()), ("n_common", pa.int16())])


def model(dbt, session):
    dbt.config(materialized="incremental")
    settings, thresholds, density = dbt.ref("stg_settings"), dbt.ref("signal_thresholds"), dbt.ref("pair_density")
    tokens = dbt.ref("token_sets")
    least, allowed, first_new_row = (
        threshold(thresholds, "summary"),
        limits(settings),
        covered(dbt, session).n_problems,
    )
    n_rows = tokens.count("*").fetchall()[0][0]
    if least is None or first_new_row >= n_rows or not is_stored(density):
        return SCHEMA.empty_table()
    comparison = setting(settings, "signals.comparison")
    index = summary_index(tokens, allowed.memory)

    def compute(start_block):
        blocks = qualifying_pairs(
            index,
            least,
            comparison,
            first_new_row=first_new_row,
            start_block=start_block,
            workers=allowed.workers,
        )
        for block in progress(blocks, "summary pairs"):
            columns = [pa.array(block.i), pa.array(block.j), pa.array(block.common.astype("int16"))]
            yield block.block, pa.record_batch(columns, schema=SCHEMA)

    return resumable(dbt, session, SCHEMA, [index.fingerprint, repr(least), comparison, first_new_row], compute)
