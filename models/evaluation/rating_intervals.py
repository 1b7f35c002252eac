"""One row per run and domain with the interval of its score when ratings are resampled along with queries."""

import numpy as np
import pyarrow as pa

from udfs.noisy_queries import noisy_queries
from udfs.rating_noise import NoisyMeans, centred_interval
from udfs.resampling import resampled_counts
from udfs.score_groups import read_score_groups
from udfs.settings import headline, setting

SCHEMA = pa.schema(
    [
        ("run_id", pa.string()),
        ("domain", pa.string()),
        ("n_queries", pa.int64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("mean_refit", pa.float64()),
        ("ratings_std_error", pa.float64()),
        ("n_replicates", pa.int64()),
        ("n_refits", pa.int64()),
    ]
)


def model(dbt, session):
    dbt.config(materialized="table")
    settings = dbt.ref("stg_settings")
    n_replicates, seed = setting(settings, "evaluation.bootstrap_replicates"), setting(settings, "evaluation.seed")
    on = " and ".join(f"refits.{name} = candidates.{name}" for name in ("benchmark", "query_id", "document_id"))
    candidates = dbt.ref("candidates").set_alias("candidates")
    replicates = dbt.ref("stg_rating_replicates").set_alias("refits").join(candidates, on, how="semi")
    n_refits = replicates.aggregate("count(distinct replicate)").fetchall()[0][0]
    built = dbt.ref("benchmarks").filter("origin = 'built'").project("benchmark").fetchall()[0][0]
    marts = (dbt.ref("query_metrics"), dbt.ref("systems"), dbt.ref("problem_domains"))
    found = read_score_groups(*marts, headline(settings))
    groups = [group for group in found if group.benchmark == built]
    # A single refit says nothing of their spread.
    if n_refits < 2 or not groups:
        return SCHEMA.empty_table()
    means = [start(group, n_replicates, n_refits, seed) for group in groups]
    rows = [{query_id: row for row, query_id in enumerate(group.query_ids)} for group in groups]
    for query in noisy_queries(
        replicates, dbt.ref("ranked_runs"), groups[0].run_ids, gain=setting(settings, "evaluation.gain")
    ):
        for mean, row in zip(means, rows, strict=True):
            if query.query_id in row:
                mean.add(row[query.query_id], query.scores)
    return pa.concat_tables(table(group, mean) for group, mean in zip(groups, means, strict=True))


def start(group, n_replicates, n_refits, seed):
    draws = resampled_counts(len(group.query_ids), n_replicates, seed, "ratings", group.benchmark, group.domain)
    return NoisyMeans(np.concatenate(list(draws)), n_refits, len(group.run_ids))


def table(group, mean):
    n, resampled, alone = len(group.run_ids), mean.resampled(), mean.ratings_alone()
    low, high = centred_interval(resampled, group.values.mean(axis=0))
    columns = {
        "run_id": group.run_ids,
        "domain": [group.domain] * n,
        "n_queries": [len(group.query_ids)] * n,
        "low": low.round(12),
        "high": high.round(12),
        "mean_refit": np.nanmean(alone, axis=0).round(12),
        "ratings_std_error": np.nanstd(alone, axis=0, ddof=1).round(12),
        "n_replicates": [len(resampled)] * n,
        "n_refits": [mean.n_refits] * n,
    }
    return pa.table(columns, schema=SCHEMA)
