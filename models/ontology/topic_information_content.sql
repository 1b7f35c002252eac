-- IC(t) = -ln(c(t) / N), where c counts annotations of t or any descendant (SABER-Math, topic similarity).
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
    )

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
