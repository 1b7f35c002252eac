-- Unfold the graph into a tree: a topic is a root path, so a node with three root paths is three topics.
with recursive
    edges as (select parent, child, coalesce(label, child) as label from {{ ref("stg_ontology_edges") }}),

    roots as (
        select
            child as node,
            label,
            -- A branch may bear the root's own label; the root then gives way.
            case
                when label in (select e.label from edges as e where e.parent = edges.child)
                then '/' || {{ path_step("label") }}
                else {{ path_step("label") }}
            end as topic_id
        from edges
        where parent is null
    ),

    unfolded as (
        select node, topic_id, null::varchar as parent_id, label, 0 as depth, null::varchar as branch
        from roots

        union all

        select
            edges.child as node,
            case
                when unfolded.depth = 0
                then {{ path_step("edges.label") }}
                else unfolded.topic_id || '/' || {{ path_step("edges.label") }}
            end as topic_id,
            unfolded.topic_id as parent_id,
            edges.label,
            unfolded.depth + 1 as depth,
            coalesce(unfolded.branch, edges.label) as branch
        from unfolded
        inner join edges on edges.parent = unfolded.node
        -- A cycle would never end; ingestion refuses one, and this bound keeps a hand-made landing finite.
        where unfolded.depth < 64
    ),

    excluded as (select element as branch from {{ setting_list("ontology.excluded_branches") }})

select
    topic_id,
    parent_id,
    label,
    depth,
    branch,
    node,
    coalesce(branch in (select branch from excluded), false) as is_excluded
from unfolded
