-- Every qualifying partner of the chosen queries with its class; candidates are drawn from here.
with
    problems as (select problem_id, problem_index, set_index, content_hash from {{ ref("problem_topic_sets") }}),

    queries as (
        select problems.*
        from {{ ref("queries") }} as queries
        inner join problems on problems.problem_id = queries.query_id
    ),

    set_partners as (
        select queries.problem_index as query_index, pairs.second_set as set_index
        from queries
        inner join {{ ref("topic_pairs") }} as pairs on pairs.first_set = queries.set_index
        union all
        select queries.problem_index as query_index, pairs.first_set as set_index
        from queries
        inner join {{ ref("topic_pairs") }} as pairs on pairs.second_set = queries.set_index
        where pairs.first_set <> pairs.second_set
    ),

    topic_partners as (
        select set_partners.query_index, problems.problem_index as document_index
        from set_partners
        inner join problems using (set_index)
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
            query_index,
            document_index,
            case
                when summary_partners.query_index is null
                then 'topic_only'
                when topic_partners.query_index is null
                then 'summary_only'
                else 'both'
            end as class
        from topic_partners
        full join summary_partners using (query_index, document_index)

        union all

        select query_index, document_index, class
        from {{ ref("streamed_partners") }}
    )

select queries.problem_id as query_id, documents.problem_id as document_id, classed.class
from classed
inner join queries on queries.problem_index = classed.query_index
inner join problems as documents on documents.problem_index = classed.document_index
where documents.content_hash <> queries.content_hash
