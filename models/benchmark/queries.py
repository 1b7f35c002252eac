"""One row per query: drawn with equal quotas over the domains."""

import pyarrow as pa

from udfs.quotas import fill_quotas


def model(dbt, session):
    dbt.config(materialized="table")
    pool = dbt.ref("query_pool")
    domains = dbt.ref("problem_domains")
    settings = dbt.ref("stg_settings")
    wanted = settings.filter("name = 'benchmark.queries'").project("(value ->> '$')::integer").fetchall()[0][0]
    names = [row[0] for row in dbt.ref("domains").project("domain, position").distinct().order("position").fetchall()]
    rows = (
        pool.set_alias("pool")
        .join(domains.set_alias("bears"), "pool.query_id = bears.problem_id")
        .project("query_id, domain, draw")
        .order("draw, query_id, domain")
        .fetchall()
    )
    borne: dict[str, list[str]] = {}
    for query_id, domain, _ in rows:
        borne.setdefault(query_id, []).append(domain)
    chosen = fill_quotas(list(borne), list(borne.values()), names, wanted)
    return pa.table(
        {
            "query_id": pa.array([query for query, _ in chosen], pa.string()),
            "quota_domain": pa.array([domain for _, domain in chosen], pa.string()),
            "position": pa.array(range(1, len(chosen) + 1), pa.int32()),
        }
    )
