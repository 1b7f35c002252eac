-- Domains and subdomains of the corpus, the queries and all candidates; every problem weighs 1, shared by what it
-- bears.
with
    members as (
        select 'corpus' as collection, problem_id, 1.0 as weight
        from {{ ref("eligible_problems") }}
        union all
        select 'queries' as collection, query_id as problem_id, 1.0 as weight
        from {{ ref("queries") }}
        union all
        select 'candidates' as collection, document_id as problem_id, count(*)::double as weight
        from {{ ref("candidates") }}
        group by document_id
    ),

    borne as (select * from {{ ref("problem_subdomains") }}),

    weighed as (
        select
            members.collection,
            borne.level,
            borne.domain,
            borne.subdomain,
            round(fsum(members.weight * borne.weight), 12) as weight
        from members
        inner join borne using (problem_id)
        group by members.collection, borne.level, borne.domain, borne.subdomain
    )

select
    collection,
    level,
    domain,
    subdomain,
    weight,
    round(weight / sum(weight) over (partition by collection, level), 12) as share
from weighed
