{{ config(materialized="table") }}
-- Measures of every run and query: a query missing from a run scores 0, one without an ideal gain is NULL.
with
    cutoffs as (select distinct k from {{ ref("ideal_gains") }}),

    wanted as (
        select
            systems.run_id,
            ideal.query_id,
            ideal.k,
            ideal.ideal_exponential,
            ideal.ideal_linear,
            ideal.n_relevant,
            benchmarks.origin = 'imported' as counts_relevant
        from {{ ref("systems") }} as systems
        inner join {{ ref("benchmarks") }} as benchmarks using (benchmark)
        inner join {{ ref("ideal_gains") }} as ideal using (benchmark)
    ),

    ranked as (select run_id, query_id, rank, score, relevance from {{ ref("ranked_runs") }}),

    gains as (select * from {{ discounted_gains("ranked", "cutoffs") }})

select run_id, query_id, measure, k, value, is_missing, is_tied_at_cutoff, n_tied
from {{ measures("wanted", "gains") }}
