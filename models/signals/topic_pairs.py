"""One row per unordered pair of topic sets whose best-match average reaches the threshold."""

import pyarrow as pa

from udfs.bma_blocks import count_blocks, similar_set_pairs
from udfs.progress import progress
from udfs.relations import set_space
from udfs.settings import setting

SCHEMA = pa.schema([("first_set", pa.int32()), ("second_set", pa.int32())])


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    information = dbt.ref("topic_information_content").set_alias("information")
    topics = dbt.ref("topics").set_alias("topics").join(information, "topics.topic_id = information.topic_id")
    topics = topics.project("topics.topic_id, parent_id, information_content").to_arrow_table()
    sets = dbt.ref("topic_sets").project("set_index, topics, n_problems").to_arrow_table()
    threshold = dbt.ref("signal_thresholds").filter("signal = 'topic'").project("threshold").fetchall()[0][0]
    if threshold is None or not sets.num_rows:
        return pa.RecordBatchReader.from_batches(SCHEMA, [])
    blocks = similar_set_pairs(
        set_space(topics, sets, memory_budget=setting(settings, "signals.memory_mib") << 20),
        threshold,
        comparison=setting(settings, "signals.comparison"),
        workers=setting(settings, "signals.workers"),
    )
    shown = progress(blocks, "topic pairs", n_blocks=count_blocks(sets.num_rows))
    return pa.RecordBatchReader.from_batches(SCHEMA, batches(shown))


def batches(blocks):
    for block in blocks:
        yield pa.record_batch([pa.array(block.x), pa.array(block.y)], schema=SCHEMA)
