-- How alike two gains order the systems of a setting; Kendall's tau counts pairs ordered alike against otherwise.
with
    scores as (select * from {{ ref("gain_scores") }}),

    pairs as (
        select
            a.setting,
            a.scope,
            a.gain,
            b.gain as other_gain,
            a.run_id,
            a.score,
            b.score as other_score,
            a.rank,
            b.rank as other_rank
        from scores as a
        inner join scores as b on b.run_id = a.run_id and b.gain > a.gain
    ),

    ranked as (
        select
            *,
            {{ average_rank("score", ["setting", "scope", "gain", "other_gain"]) }} as average_rank,
            {{ average_rank("other_score", ["setting", "scope", "gain", "other_gain"]) }} as other_average_rank
        from pairs
    ),

    correlated as (
        select
            setting,
            scope,
            gain,
            other_gain,
            count(*) as n_systems,
            {{ correlation("score", "other_score") }} as pearson,
            {{ correlation("average_rank", "other_average_rank") }} as spearman,
            max(abs(rank - other_rank)) as largest_move,
            count(*) filter (rank <> other_rank) as n_moved
        from ranked
        group by setting, scope, gain, other_gain
    ),

    ordered as (
        select
            first.setting,
            first.scope,
            first.gain,
            first.other_gain,
            round(avg(sign(first.score - second.score) * sign(first.other_score - second.other_score)), 9) as kendall
        from pairs as first
        inner join
            pairs as second
            on second.setting = first.setting
            and second.scope = first.scope
            and second.gain = first.gain
            and second.other_gain = first.other_gain
            and second.run_id > first.run_id
        group by first.setting, first.scope, first.gain, first.other_gain
    )

select
    correlated.setting,
    correlated.scope,
    correlated.gain,
    correlated.other_gain,
    correlated.n_systems,
    correlated.pearson,
    correlated.spearman,
    ordered.kendall,
    correlated.largest_move,
    correlated.n_moved
from correlated
left join ordered using (setting, scope, gain, other_gain)
