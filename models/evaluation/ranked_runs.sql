-- The first documents of every run and query in the order that metrics use; gains travel with the rows.
-- Outdated rankings are left out as a whole: the query then counts as missing.
with
    heads as (
        select run_queries.run_id, run_queries.query_id, run_queries.first_documents
        from {{ ref("run_queries") }} as run_queries
        inner join {{ ref("systems") }} as systems using (run_id)
        inner join
            {{ ref("evaluated_queries") }} as queries
            on queries.benchmark = run_queries.benchmark
            and queries.query_id = run_queries.query_id
    ),

    ranked as (select * from {{ unfolded_documents("heads") }}),

    current as (
        select ranked.* from ranked anti join {{ ref("outdated_rankings") }} as outdated using (run_id, query_id)
    )

select current.run_id, current.query_id, current.document_id, current.score, current.rank, relevances.relevance
from current
inner join {{ ref("systems") }} as systems on systems.run_id = current.run_id
left join
    {{ ref("relevances") }} as relevances
    on relevances.benchmark = systems.benchmark
    and relevances.query_id = current.query_id
    and relevances.document_id = current.document_id
