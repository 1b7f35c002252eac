"""One row per unordered pair of topic sets whose best-match average reaches the threshold."""

import numpy as np
import pyarrow as pa

from udfs.bma import best_match_averages, qualifying_threshold
from udfs.relations import topic_arrays, topic_sets
from udfs.settings import setting

SCHEMA = pa.schema([("first_set", pa.int32()), ("second_set", pa.int32()), ("similarity", pa.float64())])


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    information = dbt.ref("topic_information_content").set_alias("information")
    topics = dbt.ref("topics").set_alias("topics").join(information, "topics.topic_id = information.topic_id")
    topics = topics.project("topics.topic_id, parent_id, information_content").to_arrow_table()
    sets = dbt.ref("topic_sets").to_arrow_table()
    threshold = dbt.ref("signal_thresholds").filter("signal = 'topic'").project("threshold").fetchall()[0][0]
    if threshold is None or not sets.num_rows:
        return pa.RecordBatchReader.from_batches(SCHEMA, [])
    arrays = topic_arrays(topics)
    numbered = topic_sets(sets, arrays)
    least = qualifying_threshold(threshold, setting(settings, "signals.comparison"))
    return pa.RecordBatchReader.from_batches(SCHEMA, batches(arrays, numbered, least))


def batches(arrays, sets, least):
    for x in range(len(sets)):
        y = np.arange(x, len(sets))
        value = best_match_averages(arrays.ancestors, arrays.information_content, sets, np.full(len(y), x), y)
        keep = value >= least
        yield pa.record_batch(
            [pa.array(np.full(keep.sum(), x, "int32")), pa.array(y[keep].astype("int32")), pa.array(value[keep])],
            schema=SCHEMA,
        )
