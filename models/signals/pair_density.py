"""One row per signal with the share of its pairs that qualify, from sampled rows, and whether pairs are stored."""

import pyarrow as pa

from udfs.pair_density import is_dense, summary_density, topic_density
from udfs.settings import setting
from udfs.signal_build import drawn, limits, summary_index, threshold, topic_space

SCHEMA = pa.schema(
    [
        ("signal", pa.string()),
        ("n_rows", pa.int64()),
        ("n_compared", pa.int64()),
        ("n_found", pa.int64()),
        ("share", pa.float64()),
        ("storage", pa.string()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="incremental")
    settings, thresholds = dbt.ref("stg_settings"), dbt.ref("signal_thresholds")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    tokens, problem_sets = dbt.ref("token_sets"), dbt.ref("problem_topic_sets")
    if dbt.is_incremental:  # the pairs stay where the first of them were put
        return SCHEMA.empty_table()
    allowed, comparison = limits(settings), setting(settings, "signals.comparison")
    seed, densities, n_rows = setting(settings, "benchmark.seed"), {}, {}
    least = {signal: threshold(thresholds, signal) for signal in ("topic", "summary")}
    sets = drawn(topic_sets.filter("n_problems > 0"), "set_index", "array_to_string(topics, '|')", seed)
    rows = drawn(problem_sets, "problem_index", "problem_id", seed)
    if least["topic"] is not None and len(sets):
        space = topic_space(topics, information, topic_sets, allowed.memory)
        n_rows["topic"] = len(space.sets)
        densities["topic"] = topic_density(space, sets, least["topic"], comparison, allowed.workers)
    if least["summary"] is not None and len(rows):
        index = summary_index(tokens, allowed.memory)
        n_rows["summary"] = index.n_rows
        densities["summary"] = summary_density(index, rows, least["summary"], comparison, allowed.workers)
    dense = is_dense(
        [(densities[signal], n_rows[signal]) for signal in densities],
        setting(settings, "signals.max_stored_share"),
        setting(settings, "signals.stored_anyway"),
    )
    storage = "streamed" if dense else "stored"
    found = [
        (signal, density.n_rows, density.n_compared, density.n_found, density.share, storage)
        for signal, density in densities.items()
    ]
    return pa.table(list(zip(*found, strict=True)) if found else [[]] * len(SCHEMA), schema=SCHEMA)
