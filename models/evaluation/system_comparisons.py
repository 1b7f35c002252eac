"""One row per domain and pair of runs that answer the same queries and differ in system or in setting alone."""

import numpy as np
import pyarrow as pa

from udfs.comparisons import comparable_pairs, compare
from udfs.score_groups import read_score_groups
from udfs.settings import headline, setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("other_run_id", pa.string()),
        ("benchmark", pa.string()),
        ("scope", pa.string()),
        ("system", pa.string()),
        ("setting", pa.string()),
        ("other_system", pa.string()),
        ("other_setting", pa.string()),
        ("domain", pa.string()),
        ("compared", pa.string()),
        ("family", pa.string()),
        ("n_queries", pa.int64()),
        ("difference", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("n_better", pa.int64()),
        ("n_worse", pa.int64()),
        ("n_equal", pa.int64()),
        ("p_value", pa.float64()),
        ("p_holm", pa.float64()),
        ("p_sign_test", pa.float64()),
        ("n_replicates", pa.int64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    marts = (dbt.ref("query_metrics"), dbt.ref("systems"), dbt.ref("problem_domains"))
    groups = read_score_groups(*marts, headline(settings))
    n_replicates, seed = setting(settings, "evaluation.bootstrap_replicates"), setting(settings, "evaluation.seed")
    columns = "run_id, system, setting, scope, idf"
    runs = {row[0]: row[1:] for row in dbt.ref("systems").project(columns).fetchall()}
    parts = [SCHEMA.empty_table()]
    for group in groups:
        pairs = comparable_pairs([runs[run_id] for run_id in group.run_ids], group.values.mean(axis=0).round(12))
        found = compare(group.values, pairs, n_replicates, seed, group.benchmark, group.domain)
        rows = {
            "run_id": [group.run_ids[pair.first] for pair in pairs],
            "other_run_id": [group.run_ids[pair.second] for pair in pairs],
            "benchmark": [group.benchmark] * len(pairs),
            "scope": [runs[group.run_ids[pair.first]][2] for pair in pairs],
            "system": [runs[group.run_ids[pair.first]][0] for pair in pairs],
            "setting": [runs[group.run_ids[pair.first]][1] for pair in pairs],
            "other_system": [runs[group.run_ids[pair.second]][0] for pair in pairs],
            "other_setting": [runs[group.run_ids[pair.second]][1] for pair in pairs],
            "domain": [group.domain] * len(pairs),
            "compared": [pair.compared for pair in pairs],
            "family": [pair.family for pair in pairs],
            "n_queries": np.full(len(pairs), len(group.query_ids)),
            **found,
        }
        parts.append(pa.table(rows, schema=SCHEMA))
    return pa.concat_tables(parts)
