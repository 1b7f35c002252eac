-- The largest p at which enough problems of the domain are eligible; counts are not monotone, so all are looked at.
with
    curve as (select * from {{ ref("threshold_curve") }}),

    chosen as (
        select domain, max(p) as p
        from curve
        where n_eligible >= {{ setting("benchmark.min_eligible", "integer") }}
        group by domain
    )

select
    domains.domain,
    chosen.p,
    curve.topic_threshold,
    curve.summary_threshold,
    curve.n_eligible,
    (select max(n_eligible) from curve as any_p where any_p.domain = domains.domain) as max_eligible
from (select distinct domain from {{ ref("domains") }}) as domains
left join chosen using (domain)
left join curve on curve.domain = chosen.domain and curve.p = chosen.p
