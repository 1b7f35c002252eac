-- Runs over the benchmark's queries in the order that metrics use; gains travel with the rows.
with
    runs as (
        select *
        from {{ ref("stg_runs") }}
        where variant = {{ selected_variant("benchmark") }} and benchmark = {{ setting("benchmark.name") }}
    ),

    queries as (select query_id from {{ ref("queries") }}),

    qrels as (select query_id, document_id, relevance from {{ ref("qrels") }}),

    tie_break as (select {{ setting("evaluation.tie_break") }} = 'trec' as is_trec),

    ranked as (
        select
            runs.*,
            case
                when tie_break.is_trec
                then
                    row_number() over (
                        partition by runs.run_id, runs.query_id order by runs.score::float desc, runs.document_id desc
                    )
                else
                    row_number() over (
                        partition by runs.run_id, runs.query_id order by runs.score desc, runs.document_id asc
                    )
            end as position
        from runs
        inner join queries using (query_id)
        cross join tie_break
    )

select
    ranked.run_id,
    ranked.query_id,
    ranked.document_id,
    ranked.score,
    ranked.position::integer as rank,
    qrels.relevance
from ranked
left join qrels using (query_id, document_id)
