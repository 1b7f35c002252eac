-- nDCG of every run and query: a query missing from a run scores 0, one without an ideal gain is NULL.
with
    pairs as (
        select systems.run_id, ideal.query_id, ideal.k, ideal.ideal_exponential, ideal.ideal_linear
        from {{ ref("systems") }} as systems
        cross join {{ ref("ideal_gains") }} as ideal
    ),

    cutoffs as (select distinct k from {{ ref("ideal_gains") }}),

    top as (select runs.* from {{ ref("ranked_runs") }} as runs where runs.rank <= (select max(k) + 1 from cutoffs)),

    gained as (
        select
            top.run_id,
            top.query_id,
            cutoffs.k,
            fsum((pow(2, coalesce(top.relevance, 0)) - 1) / log2(top.rank + 1)) filter (
                top.rank <= cutoffs.k
            ) as exponential,
            fsum(coalesce(top.relevance, 0) / log2(top.rank + 1)) filter (top.rank <= cutoffs.k) as linear,
            max(top.score) filter (top.rank = cutoffs.k)
            = max(top.score) filter (top.rank = cutoffs.k + 1) as is_tied_at_cutoff
        from top
        inner join cutoffs on top.rank <= cutoffs.k + 1
        group by top.run_id, top.query_id, cutoffs.k
    ),

    joined as (
        select
            pairs.run_id,
            pairs.query_id,
            pairs.k,
            gained.run_id is null as is_missing,
            coalesce(gained.is_tied_at_cutoff, false) as is_tied_at_cutoff,
            coalesce(gained.exponential, 0) / nullif(pairs.ideal_exponential, 0) as ndcg_exp,
            coalesce(gained.linear, 0) / nullif(pairs.ideal_linear, 0) as ndcg_lin
        from pairs
        left join gained on gained.run_id = pairs.run_id and gained.query_id = pairs.query_id and gained.k = pairs.k
    )

select run_id, query_id, 'ndcg_exp@' || k as measure, k, ndcg_exp as value, is_missing, is_tied_at_cutoff
from joined
union all
select run_id, query_id, 'ndcg_lin@' || k as measure, k, ndcg_lin as value, is_missing, is_tied_at_cutoff
from joined
