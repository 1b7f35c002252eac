-- Domains and subdomains of one query, of its candidates, and of its ten candidates of highest rating.
with
    ranked as (
        select
            query_id,
            document_id,
            row_number() over (partition by query_id order by relevance desc nulls last, document_id) as rank,
            relevance is not null as is_rated
        from {{ ref("qrels") }}
    ),

    members as (
        select query_id, 'query' as part, query_id as problem_id
        from {{ ref("queries") }}
        union all
        select query_id, 'candidates' as part, document_id as problem_id
        from ranked
        union all
        select query_id, 'first ten' as part, document_id as problem_id
        from ranked
        where rank <= 10 and is_rated
    )

select
    members.query_id,
    members.part,
    borne.level,
    borne.domain,
    borne.subdomain,
    round(fsum(borne.weight), 12) as weight
from members
inner join {{ ref("problem_subdomains") }} as borne using (problem_id)
group by members.query_id, members.part, borne.level, borne.domain, borne.subdomain
