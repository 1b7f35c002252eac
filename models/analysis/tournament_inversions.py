"""One row per judge, schedule and round with the pairs ordered unlike the same judge's exhaustive ranking."""

from collections import defaultdict

import numpy as np
import pyarrow as pa

from udfs.convergence import Verdicts, rounds_against
from udfs.settings import setting

KEY = ("benchmark", "judge", "provider", "model")
SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in (*KEY, "schedule")),
        ("round", pa.int32()),
        ("n_queries", pa.int64()),
        ("mean_comparisons", pa.float64()),
        ("mean_pairs", pa.float64()),
        ("mean_inversions", pa.float64()),
        ("share_inverted", pa.float64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    ridge = setting(dbt.ref("stg_settings"), "ratings.ridge")
    ridge = 1.0 if ridge == "auto" else ridge
    tournaments = defaultdict(dict)
    for row in dbt.ref("tournament_verdicts").order("all").to_arrow_table().to_pylist():
        tournaments[*(row[name] for name in KEY), row["query_id"]][row["schedule"]] = row
    rounds = defaultdict(list)
    for (*key, _), schedules in tournaments.items():
        exhaustive = schedules.pop("exhaustive", None)
        for schedule, row in schedules.items():
            n = row["n_documents"]
            for step in rounds_against(verdicts(row), verdicts(exhaustive), n, ridge):
                rounds[*key, schedule, step.round].append((step.n_comparisons, n * (n - 1) / 2, step.inversions))
    return pa.Table.from_pylist([summary(key, steps) for key, steps in rounds.items()], schema=SCHEMA)


def verdicts(row):
    return Verdicts(
        np.array(row["rounds"], dtype=np.int64),
        np.array(row["firsts"], dtype=np.int64),
        np.array(row["seconds"], dtype=np.int64),
        np.array(row["shares"], dtype=np.float64),
    )


def summary(key, steps):
    comparisons, pairs, inverted = np.array(steps).mean(axis=0).round(9).tolist()
    values = (*key, len(steps), comparisons, pairs, inverted, round(inverted / pairs, 9))
    return dict(zip(SCHEMA.names, values, strict=True))
