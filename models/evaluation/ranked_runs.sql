-- The first documents of every run and query in the order that metrics use; gains travel with the rows.
-- A ranking that saw an older text of one of them, or one that is withdrawn, is left out as a whole: the query then
-- counts as missing.
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

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    seen as (select distinct query_id, document_id, content_hash from ranked where content_hash is not null),

    outdated_pairs as (
        select seen.query_id, seen.document_id, seen.content_hash
        from seen
        left join texts as query on query.problem_id = seen.query_id
        left join texts as document on document.problem_id = seen.document_id
        where seen.content_hash <> left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
    ),

    outdated as (
        select distinct ranked.run_id, ranked.query_id
        from ranked
        semi join outdated_pairs using (query_id, document_id, content_hash)
    ),

    current as (select ranked.* from ranked anti join outdated using (run_id, query_id))

select current.run_id, current.query_id, current.document_id, current.score, current.rank, relevances.relevance
from current
inner join {{ ref("systems") }} as systems on systems.run_id = current.run_id
left join
    {{ ref("relevances") }} as relevances
    on relevances.benchmark = systems.benchmark
    and relevances.query_id = current.query_id
    and relevances.document_id = current.document_id
