"""One row per domain and quantile level with the problems eligible at its thresholds."""

import pyarrow as pa

from udfs.bma_dense import bma_rows
from udfs.jaccard_blocks import jaccard_rows
from udfs.relations import domain_membership, set_space, token_set_index
from udfs.settings import setting
from udfs.threshold_scan import threshold_curve

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
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    memory = setting(settings, "signals.memory_mib") << 20
    workers = setting(settings, "signals.workers")
    bears = dbt.ref("problem_domains").project("problem_id, domain").to_arrow_table()
    problem_sets = dbt.ref("problem_topic_sets").order("problem_index").to_arrow_table()
    information = dbt.ref("topic_information_content").set_alias("information")
    topics = dbt.ref("topics").set_alias("topics").join(information, "topics.topic_id = information.topic_id")
    topics = topics.project("topics.topic_id, parent_id, information_content").to_arrow_table()
    sets = dbt.ref("topic_sets").project("set_index, topics, n_problems").to_arrow_table()
    tokens = dbt.ref("summary_tokens").project("problem_index, tokens").to_arrow_table()
    grid = dbt.ref("threshold_grid").order("domain, p").to_arrow_table()
    if not grid.num_rows:
        return SCHEMA.empty_table()
    names = sorted(set(grid["domain"].to_pylist()))
    shape = (len(names), grid.num_rows // len(names))
    set_of_problem = problem_sets["set_index"].to_numpy()
    space, index = set_space(topics, sets, memory), token_set_index(tokens, memory_budget=memory)
    eligible = threshold_curve(
        lambda rows: bma_rows(space, set_of_problem[rows], workers=workers)[:, set_of_problem],
        lambda rows: jaccard_rows(index, rows),
        domain_membership(problem_sets, bears, names),
        grid["topic_threshold"].to_numpy().reshape(shape),
        grid["summary_threshold"].to_numpy().reshape(shape),
        setting(settings, "benchmark.candidates_per_class"),
    )
    columns = [grid[name] for name in SCHEMA.names[:-1]]
    return pa.table([*columns, pa.array(eligible.ravel())], schema=SCHEMA)
