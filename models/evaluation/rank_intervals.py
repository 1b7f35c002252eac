"""One row per run and domain with its rank among the runs of its benchmark, setting and scope, and the interval."""

from itertools import groupby

import numpy as np
import pyarrow as pa

from udfs.resampling import bootstrap_means, rank_interval, ranks
from udfs.score_groups import read_score_groups
from udfs.settings import headline, setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("benchmark", pa.string()),
        ("setting", pa.string()),
        ("scope", pa.string()),
        ("domain", pa.string()),
        ("n_systems", pa.int64()),
        ("rank", pa.int64()),
        ("rank_low", pa.int64()),
        ("rank_high", pa.int64()),
        ("share_first", pa.float64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    marts = (dbt.ref("query_metrics"), dbt.ref("systems"), dbt.ref("problem_domains"))
    groups = read_score_groups(*marts, headline(settings))
    n_replicates, seed = setting(settings, "evaluation.bootstrap_replicates"), setting(settings, "evaluation.seed")
    shown = {row[0]: row[1:] for row in dbt.ref("systems").project("run_id, setting, scope").fetchall()}
    parts = [SCHEMA.empty_table()]
    for group in groups:
        means = bootstrap_means(group.values, n_replicates, seed, group.benchmark, group.domain)
        scores = group.values.mean(axis=0).round(12)
        order = sorted(
            range(len(group.run_ids)), key=lambda column: (*map(str, shown[group.run_ids[column]]), column)
        )
        for place, members in groupby(order, key=lambda column: shown[group.run_ids[column]]):
            columns = list(members)
            drawn = means[:, columns]
            interval, n = rank_interval(drawn), len(columns)
            rows = {
                "run_id": [group.run_ids[column] for column in columns],
                "benchmark": [group.benchmark] * n,
                "setting": [place[0]] * n,
                "scope": [place[1]] * n,
                "domain": [group.domain] * n,
                "n_systems": [n] * n,
                "rank": ranks(scores[None, columns])[0],
                "rank_low": interval.low.astype(np.int64),
                "rank_high": interval.high.astype(np.int64),
                "share_first": (ranks(drawn) == 1).mean(axis=0),
            }
            parts.append(pa.table(rows, schema=SCHEMA))
    return pa.concat_tables(parts)
