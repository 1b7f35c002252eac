"""One row per domain, signal and similarity value with its number of pairs."""

from udfs.jaccard_histogram import row_classes
from udfs.settings import setting
from udfs.signal_build import domain_names, limits, problems, resumable, summary_index, topic_space
from udfs.signal_histograms import SCHEMA, histogram_blocks


def model(dbt, session):
    dbt.config(materialized="incremental")
    settings = dbt.ref("stg_settings")
    sets, bears, domains = dbt.ref("problem_topic_sets"), dbt.ref("problem_domains"), dbt.ref("domains")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    tokens = dbt.ref("summary_tokens")
    given = (setting(settings, "signals.topic_threshold"), setting(settings, "signals.summary_threshold"))
    known = problems(sets)
    # Rows that are kept are those of the corpus that the thresholds in force were taken from.
    if dbt.is_incremental or "data" not in given or not len(known.numbers):
        return SCHEMA.empty_table()
    names, allowed = domain_names(domains), limits(settings)
    set_of_problem, membership = known.set_of_problem[known.numbers], known.membership(bears, names)[known.numbers]
    classes = row_classes(membership)
    space = topic_space(topics, information, topic_sets, allowed.memory)
    index = summary_index(tokens, allowed.memory, classes.of_row)

    def compute(start_block):
        return histogram_blocks(
            space, set_of_problem, index, classes, membership, names, start_block=start_block, workers=allowed.workers
        )

    parts = [space.fingerprint, set_of_problem, index.fingerprint, membership, names]
    return resumable(dbt, session, SCHEMA, parts, compute)
