-- Partners of every eligible problem in each class; texts equal to the problem's own are not counted.
with
    problems as (
        select sets.problem_id, sets.problem_index, sets.set_index, eligible.content_hash
        from {{ ref("problem_topic_sets") }} as sets
        inner join {{ ref("eligible_problems") }} as eligible using (problem_id)
    ),

    both_directions as (
        select first_set, second_set
        from {{ ref("topic_pairs") }}
        union
        select second_set as first_set, first_set as second_set
        from {{ ref("topic_pairs") }}
    ),

    topic_counts as (
        select pairs.first_set as set_index, sum(sets.n_problems) - 1 as n_topic
        from both_directions as pairs
        inner join {{ ref("topic_sets") }} as sets on sets.set_index = pairs.second_set
        group by pairs.first_set
    ),

    summary_pairs as (
        select pairs.first_index, pairs.second_index, (topic_pairs.first_set is not null)::integer as is_topic
        from {{ ref("summary_pairs") }} as pairs
        inner join problems as first on first.problem_index = pairs.first_index
        inner join problems as second on second.problem_index = pairs.second_index
        left join
            both_directions as topic_pairs
            on topic_pairs.first_set = first.set_index
            and topic_pairs.second_set = second.set_index
    ),

    summary_counts as (
        select problem_index, count(*) as n_summary, sum(is_topic) as n_both
        from (select unnest([first_index, second_index]) as problem_index, is_topic from summary_pairs)
        group by problem_index
    ),

    copies as (
        select
            a.problem_index,
            count(topic_pairs.first_set) as n_topic,
            count(summary_pairs.first_index) as n_summary,
            count(*) filter (topic_pairs.first_set is not null and summary_pairs.first_index is not null) as n_both
        from problems as a
        inner join problems as b on b.content_hash = a.content_hash and b.problem_index <> a.problem_index
        left join
            both_directions as topic_pairs
            on topic_pairs.first_set = a.set_index
            and topic_pairs.second_set = b.set_index
        left join
            {{ ref("summary_pairs") }} as summary_pairs
            on summary_pairs.first_index = least(a.problem_index, b.problem_index)
            and summary_pairs.second_index = greatest(a.problem_index, b.problem_index)
        group by a.problem_index
    ),

    counted as (
        select
            problems.problem_id,
            coalesce(topic_counts.n_topic, 0) - coalesce(copies.n_topic, 0) as n_topic,
            coalesce(summary_counts.n_summary, 0) - coalesce(copies.n_summary, 0) as n_summary,
            coalesce(summary_counts.n_both, 0) - coalesce(copies.n_both, 0) as n_both
        from problems
        left join topic_counts using (set_index)
        left join summary_counts using (problem_index)
        left join copies using (problem_index)
    )

select
    problem_id,
    (n_topic - n_both)::bigint as n_topic_only,
    (n_summary - n_both)::bigint as n_summary_only,
    n_both::bigint as n_both
from counted
