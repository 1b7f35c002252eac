-- Candidates whose class the similarities computed in SQL do not give; a test says that there are none.
with
    thresholds as (
        select
            max(least_similarity) filter (signal = 'topic') as topic,
            max(least_similarity) filter (signal = 'summary') as summary
        from {{ ref("signal_thresholds") }}
    ),

    classed as (
        select
            similarities.*,
            case
                when topic_similarity >= thresholds.topic and summary_similarity >= thresholds.summary
                then 'both'
                when topic_similarity >= thresholds.topic
                then 'topic_only'
                when summary_similarity >= thresholds.summary
                then 'summary_only'
            end as class_in_sql
        from {{ ref("candidate_similarities") }} as similarities
        cross join thresholds
    )

select query_id, document_id, class, class_in_sql, topic_similarity, summary_similarity
from classed
where class is distinct from class_in_sql
