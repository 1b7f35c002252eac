"""One row per domain and quantile level with the problems eligible at its thresholds."""

from udfs.bma_dense import bma_rows
from udfs.curve_bands import SCHEMA, curve_blocks
from udfs.jaccard_levels import TokenSignal
from udfs.settings import setting
from udfs.signal_build import limits, problems, resumable, summary_index, topic_space
from udfs.similarity_levels import SimilarityRows


def model(dbt, session):
    dbt.config(materialized="incremental")
    settings = dbt.ref("stg_settings")
    sets, bears = dbt.ref("problem_topic_sets"), dbt.ref("problem_domains")
    topics, information, topic_sets = dbt.ref("topics"), dbt.ref("topic_information_content"), dbt.ref("topic_sets")
    tokens = dbt.ref("summary_tokens")
    grid = dbt.ref("threshold_grid").order("domain, p").to_arrow_table()
    if dbt.is_incremental or not grid.num_rows:
        return SCHEMA.empty_table()
    allowed, known = limits(settings), problems(sets)
    names = sorted(set(grid["domain"].to_pylist()))
    shape = (len(names), grid.num_rows // len(names))
    shares, *levels = (grid[name].to_numpy().reshape(shape) for name in SCHEMA.names[1:-1])
    set_of_problem, membership = known.set_of_problem[known.numbers], known.membership(bears, names)[known.numbers]
    texts = known.text_of_problem[known.numbers]
    space = topic_space(topics, information, topic_sets, allowed.memory)
    index = summary_index(tokens, allowed.memory)
    k, whole = setting(settings, "benchmark.candidates_per_class"), setting(settings, "signals.whole_curve")
    enough = setting(settings, "benchmark.min_eligible") if len(known.numbers) > whole else None

    earlier = []

    def compute(start_block):
        return curve_blocks(
            SimilarityRows(lambda rows: bma_rows(space, set_of_problem[rows], workers=1), set_of_problem),
            TokenSignal(index),
            membership,
            names,
            shares[0],
            *levels,
            k,
            min_eligible=enough,
            earlier=earlier,
            start_block=start_block,
            text_of_problem=texts,
            memory_budget=allowed.memory,
            workers=allowed.workers,
        )

    parts = [space.fingerprint, set_of_problem, index.fingerprint, membership, names, texts, *levels, k, enough]
    return resumable(dbt, session, SCHEMA, parts, compute, seen=earlier)
