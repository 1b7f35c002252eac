"""One row per domain, signal and similarity value with its number of pairs."""

import numpy as np
import pyarrow as pa

from udfs.bma_histogram import BIN_WIDTH, pair_histogram
from udfs.jaccard_blocks import jaccard_rows
from udfs.relations import domain_membership, set_space, token_set_index
from udfs.settings import setting
from udfs.threshold_scan import summary_histogram

SCHEMA = pa.schema(
    [("domain", pa.string()), ("signal", pa.string()), ("value", pa.float64()), ("n_pairs", pa.int64())]
)


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    memory = setting(settings, "signals.memory_mib") << 20
    names = [row[0] for row in dbt.ref("domains").project("domain, position").distinct().order("position").fetchall()]
    bears = dbt.ref("problem_domains").project("problem_id, domain").to_arrow_table()
    problem_sets = dbt.ref("problem_topic_sets").order("problem_index").to_arrow_table()
    information = dbt.ref("topic_information_content").set_alias("information")
    topics = dbt.ref("topics").set_alias("topics").join(information, "topics.topic_id = information.topic_id")
    topics = topics.project("topics.topic_id, parent_id, information_content").to_arrow_table()
    sets = dbt.ref("topic_sets").project("set_index, topics, n_problems").to_arrow_table()
    tokens = dbt.ref("summary_tokens").project("problem_index, tokens").to_arrow_table()
    if "data" not in (setting(settings, "signals.topic_threshold"), setting(settings, "signals.summary_threshold")):
        return SCHEMA.empty_table()
    if not problem_sets.num_rows:
        return SCHEMA.empty_table()
    membership = domain_membership(problem_sets, bears, names)
    weights = np.zeros((sets.num_rows, len(names)), dtype=np.int64)
    np.add.at(weights, problem_sets["set_index"].to_numpy(), membership)
    by_topic = pair_histogram(set_space(topics, sets, memory), weights, workers=setting(settings, "signals.workers"))
    index = token_set_index(tokens, memory_budget=memory)
    by_summary = summary_histogram(lambda rows: jaccard_rows(index, rows), membership)
    parts = []
    for number, name in enumerate(names):
        bins = np.flatnonzero(by_topic[number])
        parts.append(rows(name, "topic", bins * BIN_WIDTH, by_topic[number][bins]))
        parts.append(rows(name, "summary", *by_summary[number]))
    return pa.concat_tables(parts)


def rows(domain, signal, values, counts):
    n = len(values)
    return pa.table([pa.repeat(domain, n), pa.repeat(signal, n), pa.array(values), pa.array(counts)], schema=SCHEMA)
