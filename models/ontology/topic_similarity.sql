-- Lin similarity of used topics by closure join; pairs whose lowest common ancestor says nothing are left out.
-- A view: 15,000 used topics have tens of millions of pairs, and a build needs those of the candidates alone.
{{ config(materialized="view") }}

with
    information as (select topic_id, information_content, n_annotations from {{ ref("topic_information_content") }}),

    used_closure as (
        select closure.descendant_id, closure.ancestor_id, topics.depth
        from {{ ref("topic_closure") }} as closure
        inner join {{ ref("topics") }} as topics on topics.topic_id = closure.ancestor_id
        inner join information on information.topic_id = closure.descendant_id
        where information.n_annotations > 0 and topics.depth > 0
    ),

    lowest_common_ancestor as (
        select
            t.descendant_id as topic_id,
            u.descendant_id as other_topic_id,
            arg_max(t.ancestor_id, t.depth) as ancestor_id
        from used_closure as t
        inner join used_closure as u on u.ancestor_id = t.ancestor_id and t.descendant_id < u.descendant_id
        group by t.descendant_id, u.descendant_id
    )

select
    lca.topic_id,
    lca.other_topic_id,
    lca.ancestor_id as lowest_common_ancestor_id,
    {{ lin("ancestor.information_content", "t.information_content", "u.information_content") }} as similarity
from lowest_common_ancestor as lca
inner join information as ancestor on ancestor.topic_id = lca.ancestor_id
inner join information as t on t.topic_id = lca.topic_id
inner join information as u on u.topic_id = lca.other_topic_id
where ancestor.information_content > 0
