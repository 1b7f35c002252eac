"""One row per query and qualifying partner, where pairs are not stored: the queries' rows once more, exactly."""

import pyarrow as pa

from udfs.settings import setting
from udfs.signal_build import is_stored, limits, problems, summary_index, threshold, topic_space
from udfs.streamed_pairs import PARTNERS, Streams, partners


def model(dbt, session):
    dbt.config(materialized="table")
    settings, thresholds, density = dbt.ref("stg_settings"), dbt.ref("signal_thresholds"), dbt.ref("pair_density")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    problem_sets, tokens = dbt.ref("problem_topic_sets"), dbt.ref("token_sets")
    queries = (
        dbt.ref("queries")
        .set_alias("queries")
        .join(problem_sets.set_alias("sets"), "queries.query_id = sets.problem_id")
    )
    numbers = queries.project("problem_index").order("problem_index").to_arrow_table()["problem_index"].to_numpy()
    if is_stored(density) or not len(numbers):
        return PARTNERS.empty_table()
    allowed = limits(settings)
    streams = Streams(
        topic_space(topics, information, topic_sets, allowed.memory),
        summary_index(tokens, allowed.memory),
        threshold(thresholds, "topic"),
        threshold(thresholds, "summary"),
        setting(settings, "signals.comparison"),
        allowed.workers,
    )
    found = partners(streams, problems(problem_sets).set_of_problem, numbers)
    return pa.RecordBatchReader.from_batches(PARTNERS, found)
