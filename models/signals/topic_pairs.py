"""One row per unordered pair of topic sets whose best-match average reaches the threshold."""

import pyarrow as pa

from udfs.bma_blocks import count_blocks, similar_set_pairs
from udfs.progress import progress
from udfs.settings import setting
from udfs.signal_build import covered, is_stored, limits, resumable, threshold, topic_space

SCHEMA = pa.schema([("first_set", pa.int32()), ("second_set", pa.int32())])


def model(dbt, session):
    dbt.config(materialized="incremental")
    settings, thresholds, density = dbt.ref("stg_settings"), dbt.ref("signal_thresholds"), dbt.ref("pair_density")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    least, allowed, first_new_set = threshold(thresholds, "topic"), limits(settings), covered(dbt, session).n_sets
    n_sets = topic_sets.count("*").fetchall()[0][0]
    if least is None or first_new_set >= n_sets or not is_stored(density):
        return SCHEMA.empty_table()
    comparison = setting(settings, "signals.comparison")
    space = topic_space(topics, information, topic_sets, allowed.memory)
    n_blocks = count_blocks(n_sets, first_new_set)
    n_pairs = (n_sets * n_sets - first_new_set * first_new_set) // 2

    def compute(start_block):
        blocks = similar_set_pairs(
            space,
            least,
            comparison=comparison,
            first_new_set=first_new_set,
            start_block=start_block,
            workers=allowed.workers,
        )
        for block in progress(blocks, "topic pairs", n_blocks, n_pairs):
            yield block.block, pa.record_batch([pa.array(block.x), pa.array(block.y)], schema=SCHEMA)

    parts = [space.fingerprint, repr(least), comparison, first_new_set]
    return resumable(dbt, session, SCHEMA, parts, compute)
