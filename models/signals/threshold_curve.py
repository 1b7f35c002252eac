"""One row per domain and quantile level with the problems eligible at its thresholds."""

import pyarrow as pa

from udfs.bma_dense import bma_rows
from udfs.jaccard_levels import TokenSignal
from udfs.progress import counting
from udfs.settings import setting
from udfs.signal_build import limits, problems, resumable, summary_index, topic_space
from udfs.similarity_levels import SimilarityRows
from udfs.threshold_curve import threshold_curve

SCHEMA = pa.schema(
    [
        ("domain", pa.string()),
        ("p", pa.float64()),
        ("topic_threshold", pa.float64()),
        ("summary_threshold", pa.float64()),
        ("n_eligible", pa.int64()),
    ]
)


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
    levels = [grid[name].to_numpy().reshape(shape) for name in ("topic_threshold", "summary_threshold")]
    set_of_problem, membership = known.set_of_problem[known.numbers], known.membership(bears, names)[known.numbers]
    texts = known.text_of_problem[known.numbers]
    space = topic_space(topics, information, topic_sets, allowed.memory)
    index = summary_index(tokens, allowed.memory)
    k = setting(settings, "benchmark.candidates_per_class")

    def compute(start_block):
        if start_block:
            return
        eligible = threshold_curve(
            SimilarityRows(lambda rows: bma_rows(space, set_of_problem[rows], workers=1), set_of_problem),
            TokenSignal(index),
            membership,
            *levels,
            k,
            text_of_problem=texts,
            memory_budget=allowed.memory,
            workers=allowed.workers,
            progress=counting("threshold curve"),
        )
        columns = [grid[name].combine_chunks() for name in SCHEMA.names[:-1]]
        yield 0, pa.record_batch([*columns, pa.array(eligible.ravel())], schema=SCHEMA)

    parts = [space.fingerprint, set_of_problem, index.fingerprint, membership, names, texts, *levels, k]
    return resumable(dbt, session, SCHEMA, parts, compute)
