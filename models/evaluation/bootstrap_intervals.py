"""One row per run and domain with the percentile interval of its score."""

import pyarrow as pa

from udfs.resampling import bootstrap_means, percentile_interval
from udfs.score_groups import read_score_groups
from udfs.settings import headline, setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("benchmark", pa.string()),
        ("domain", pa.string()),
        ("n_queries", pa.int64()),
        ("score", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("std_error", pa.float64()),
        ("n_replicates", pa.int64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    marts = (dbt.ref("query_metrics"), dbt.ref("systems"), dbt.ref("problem_domains"))
    groups = read_score_groups(*marts, headline(settings))
    n_replicates, seed = setting(settings, "evaluation.bootstrap_replicates"), setting(settings, "evaluation.seed")
    parts = [SCHEMA.empty_table()]
    for group in groups:
        means = bootstrap_means(group.values, n_replicates, seed, group.benchmark, group.domain)
        interval, n = percentile_interval(means), len(group.run_ids)
        columns = {
            "run_id": group.run_ids,
            "benchmark": [group.benchmark] * n,
            "domain": [group.domain] * n,
            "n_queries": [len(group.query_ids)] * n,
            "score": group.values.mean(axis=0).round(12),
            "low": interval.low.round(12),
            "high": interval.high.round(12),
            "std_error": means.std(axis=0, ddof=1).round(12),
            "n_replicates": [n_replicates] * n,
        }
        parts.append(pa.table(columns, schema=SCHEMA))
    return pa.concat_tables(parts)
