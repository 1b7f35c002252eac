"""One row per eligible problem with its number of partners in each class, where pairs are too many to be stored."""

from udfs.settings import setting
from udfs.signal_build import is_stored, limits, problems, resumable, summary_index, threshold, topic_space
from udfs.streamed_pairs import COUNTS, Streams, count_by_slices, sets_at_once


def model(dbt, session):
    dbt.config(materialized="table")
    settings, thresholds, density = dbt.ref("stg_settings"), dbt.ref("signal_thresholds"), dbt.ref("pair_density")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    problem_sets, tokens = dbt.ref("problem_topic_sets"), dbt.ref("token_sets")
    if is_stored(density):
        return COUNTS.empty_table()
    allowed, known = limits(settings), problems(problem_sets)
    streams = Streams(
        topic_space(topics, information, topic_sets, allowed.memory),
        summary_index(tokens, allowed.memory),
        threshold(thresholds, "topic"),
        threshold(thresholds, "summary"),
        setting(settings, "signals.comparison"),
        allowed.workers,
    )
    share = density.filter("signal = 'topic'").project("share").fetchall()
    at_once = sets_at_once(len(streams.space.sets), share[0][0] if share else 0.0, allowed.memory)

    def compute(start_block):
        return count_by_slices(streams, known.set_of_problem, known.text_of_problem, at_once, start_block)

    parts = [streams.fingerprint, known.set_of_problem, known.text_of_problem, at_once]
    return resumable(dbt, session, COUNTS, parts, compute)
