-- Every qualifying partner of the chosen queries with its class; candidates are drawn from here.
with
    problems as (
        select sets.problem_id, sets.problem_index, sets.set_index, eligible.content_hash
        from {{ ref("problem_topic_sets") }} as sets
        inner join {{ ref("eligible_problems") }} as eligible using (problem_id)
    ),

    queries as (
        select problems.*
        from {{ ref("queries") }} as queries
        inner join problems on problems.problem_id = queries.query_id
    ),

    topic_partners as (
        select queries.problem_index as query_index, problems.problem_index as document_index
        from queries
        inner join {{ ref("topic_pairs") }} as pairs on pairs.first_set = queries.set_index
        inner join problems on problems.set_index = pairs.second_set
        union
        select queries.problem_index as query_index, problems.problem_index as document_index
        from queries
        inner join {{ ref("topic_pairs") }} as pairs on pairs.second_set = queries.set_index
        inner join problems on problems.set_index = pairs.first_set
    ),

    summary_partners as (
        select queries.problem_index as query_index, pairs.second_index as document_index
        from queries
        inner join {{ ref("summary_pairs") }} as pairs on pairs.first_index = queries.problem_index
        union all
        select queries.problem_index as query_index, pairs.first_index as document_index
        from queries
        inner join {{ ref("summary_pairs") }} as pairs on pairs.second_index = queries.problem_index
    ),

    classed as (
        select
            coalesce(topic.query_index, summary.query_index) as query_index,
            coalesce(topic.document_index, summary.document_index) as document_index,
            case
                when summary.query_index is null
                then 'topic_only'
                when topic.query_index is null
                then 'summary_only'
                else 'both'
            end as class
        from topic_partners as topic
        full join
            summary_partners as summary
            on summary.query_index = topic.query_index
            and summary.document_index = topic.document_index
    )

select queries.problem_id as query_id, documents.problem_id as document_id, classed.class
from classed
inner join queries on queries.problem_index = classed.query_index
inner join problems as documents on documents.problem_index = classed.document_index
where documents.content_hash <> queries.content_hash
