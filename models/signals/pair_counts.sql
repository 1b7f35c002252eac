-- Partners of every eligible problem in each class; texts equal to the problem's own are not counted.
-- Seen from a problem a, its partner b adds `b counts now - (a and b counted before)`: 1 in a first build; later 1
-- for
-- a new partner, -1 for one that left, 0 for one that stayed. So the same sums build counts and bring them up to
-- date.
{{ config(materialized="incremental", unique_key="problem_index", incremental_strategy="delete+insert") }}

with
    kept as (
        {% if is_incremental() %}select * from {{ this }}
        {% else %}
            select problem_index, 0::bigint as n_topic_only, 0::bigint as n_summary_only, 0::bigint as n_both
            from {{ ref("problem_numbers") }}
            where false
        {% endif %}
    ),

    problems as (
        select
            numbers.problem_index,
            numbers.problem_id,
            numbers.set_index,
            numbers.content_hash,
            numbers.is_current::integer as now,
            (kept.problem_index is not null)::integer as before
        from {{ ref("problem_numbers") }} as numbers
        left join kept using (problem_index)
        where numbers.is_current or kept.problem_index is not null
    ),

    set_counts as (select set_index, sum(now) as now, sum(before) as before from problems group by set_index),

    both_directions as (
        select first_set, second_set
        from {{ ref("topic_pairs") }}
        union all
        select second_set as first_set, first_set as second_set
        from {{ ref("topic_pairs") }}
        where first_set <> second_set
    ),

    topic_counts as (
        select pairs.first_set as set_index, sum(sets.now) as now, sum(sets.before) as before
        from both_directions as pairs
        inner join set_counts as sets on sets.set_index = pairs.second_set
        group by pairs.first_set
    ),

    -- Of a pair with a problem that came or left, the second number is at least the least of these problems.
    touched_pairs as (
        select first_index, second_index
        from {{ ref("summary_pairs") }}
        where second_index >= (select min(problem_index) from problems where now <> before)
    ),

    summary_pairs as (
        select
            pairs.first_index,
            pairs.second_index,
            first.now - first.before * second.before as of_first,
            second.now - first.before * second.before as of_second,
            (topic_pairs.first_set is not null)::integer as is_topic
        from touched_pairs as pairs
        inner join problems as first on first.problem_index = pairs.first_index
        inner join problems as second on second.problem_index = pairs.second_index
        left join
            {{ ref("topic_pairs") }} as topic_pairs
            on topic_pairs.first_set = least(first.set_index, second.set_index)
            and topic_pairs.second_set = greatest(first.set_index, second.set_index)
        where first.now <> first.before or second.now <> second.before
    ),

    summary_counts as (
        select problem_index, sum(n_summary) as n_summary, sum(n_both) as n_both
        from
            (
                select first_index as problem_index, sum(of_second) as n_summary, sum(of_second * is_topic) as n_both
                from summary_pairs
                group by first_index
                union all
                select second_index as problem_index, sum(of_first) as n_summary, sum(of_first * is_topic) as n_both
                from summary_pairs
                group by second_index
            )
        group by problem_index
    ),

    copies as (
        select
            a.problem_index,
            sum(b.now - a.before * b.before) filter (topic_pairs.first_set is not null) as n_topic,
            sum(b.now - a.before * b.before) filter (summary_pairs.first_index is not null) as n_summary,
            sum(b.now - a.before * b.before) filter (
                topic_pairs.first_set is not null and summary_pairs.first_index is not null
            ) as n_both
        from problems as a
        inner join problems as b on b.content_hash = a.content_hash and b.problem_index <> a.problem_index
        left join
            {{ ref("topic_pairs") }} as topic_pairs
            on topic_pairs.first_set = least(a.set_index, b.set_index)
            and topic_pairs.second_set = greatest(a.set_index, b.set_index)
        left join
            {{ ref("summary_pairs") }} as summary_pairs
            on summary_pairs.first_index = least(a.problem_index, b.problem_index)
            and summary_pairs.second_index = greatest(a.problem_index, b.problem_index)
        group by a.problem_index
    ),

    added as (
        select
            problems.problem_id,
            problems.problem_index,
            -- The sums over a set's partners count the problem itself.
            coalesce(topic_counts.now - problems.before * topic_counts.before - (1 - problems.before), 0)
            - coalesce(copies.n_topic, 0) as n_topic,
            coalesce(summary_counts.n_summary, 0) - coalesce(copies.n_summary, 0) as n_summary,
            coalesce(summary_counts.n_both, 0) - coalesce(copies.n_both, 0) as n_both
        from problems
        left join topic_counts using (set_index)
        left join summary_counts using (problem_index)
        left join copies using (problem_index)
        where
            problems.now = 1 and (select coalesce(bool_and(storage = 'stored'), true) from {{ ref("pair_density") }})
    )

select
    added.problem_id,
    (coalesce(kept.n_topic_only, 0) + added.n_topic - added.n_both)::bigint as n_topic_only,
    (coalesce(kept.n_summary_only, 0) + added.n_summary - added.n_both)::bigint as n_summary_only,
    (coalesce(kept.n_both, 0) + added.n_both)::bigint as n_both,
    added.problem_index
from added
left join kept using (problem_index)

union all

select problem_id, n_topic_only, n_summary_only, n_both, problem_index
from {{ ref("streamed_counts") }}
inner join {{ ref("eligible_problems") }} using (problem_index)
