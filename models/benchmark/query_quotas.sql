-- What each domain received of its quota; a shortfall says that the domain had no more problems to offer.
with
    domains as (select distinct position, domain from {{ ref("domains") }}),

    pool as (
        select bears.domain, count(*) as n_pool
        from {{ ref("query_pool") }} as pool
        inner join {{ ref("problem_domains") }} as bears on bears.problem_id = pool.query_id
        group by bears.domain
    ),

    received as (
        select bears.domain, round(fsum(bears.weight), 12) as weight, count(*) as n_queries
        from {{ ref("queries") }} as queries
        inner join {{ ref("problem_domains") }} as bears on bears.problem_id = queries.query_id
        group by bears.domain
    ),

    quota as (select {{ setting("benchmark.queries", "double") }} / count(*) as quota from domains)

select
    domains.domain,
    quota.quota,
    coalesce(received.weight, 0) as received_weight,
    greatest(0, quota.quota - coalesce(received.weight, 0)) as shortfall,
    coalesce(received.n_queries, 0) as n_queries,
    coalesce(pool.n_pool, 0) as n_pool
from domains
cross join quota
left join pool using (domain)
left join received using (domain)
order by domains.position
