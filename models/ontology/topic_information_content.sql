-- IC(t) = -ln(c(t) / N), where c counts annotations of t or any descendant (SABER-Math, topic similarity).
{{ config(materialized="incremental", unique_key="topic_id", incremental_strategy="delete+insert") }}

with
    annotations as (
        select problem_topics.topic_id, count(*) as n_annotations
        from {{ ref("problem_topics") }} as problem_topics
        group by problem_topics.topic_id
    ),

    total as (select sum(n_annotations) as n_annotations from annotations),

    subtree as (
        select closure.ancestor_id as topic_id, sum(annotations.n_annotations)::bigint as n_subtree
        from {{ ref("topic_closure") }} as closure
        inner join annotations on annotations.topic_id = closure.descendant_id
        group by closure.ancestor_id
    ),

    counted as (
        select
            topics.topic_id,
            coalesce(annotations.n_annotations, 0)::bigint as n_annotations,
            coalesce(subtree.n_subtree, 0)::bigint as n_subtree,
            subtree.n_subtree / total.n_annotations as probability,
            -- abs() turns the root's -0.0 into 0.0
            abs(ln(subtree.n_subtree / total.n_annotations)) as information_content
        from {{ ref("topics") }} as topics
        cross join total
        left join annotations on annotations.topic_id = topics.topic_id
        left join subtree on subtree.topic_id = topics.topic_id
    ),

    kept as (
        {% if is_incremental() %}
            select topic_id, information_content from {{ this }} where information_content is not null
        {% else %}select topic_id, information_content from counted where false
        {% endif %}
    ),

    -- A topic first used after the others were frozen is at least as informative as those above it.
    least as (
        select closure.descendant_id as topic_id, max(kept.information_content) as information_content
        from {{ ref("topic_closure") }} as closure
        inner join kept on kept.topic_id = closure.ancestor_id
        group by closure.descendant_id
    )

select
    counted.topic_id,
    counted.n_annotations,
    counted.n_subtree,
    counted.probability,
    case
        when kept.topic_id is not null
        then kept.information_content
        when counted.n_subtree > 0
        then greatest(counted.information_content, coalesce(least.information_content, 0.0))
    end as information_content,
    kept.topic_id is not null as is_frozen
from counted
left join kept on kept.topic_id = counted.topic_id
left join least on least.topic_id = counted.topic_id
