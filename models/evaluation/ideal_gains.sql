-- Ideal discounted gains of each query at each cut-off, from all of its relevances, and the gains of a random order.
with
    cutoffs as (
        select distinct element as k
        from
            (
                select element
                from {{ setting_list("evaluation.cutoffs", "integer") }}
                union all
                select 10
            )
    ),

    relevances as (select benchmark, query_id, document_id, relevance from {{ ref("relevances") }}),

    ideal as (select * from {{ ideal_gains("relevances", "cutoffs") }})

-- a query without judgments keeps its rows, so that it is counted
select
    queries.benchmark,
    queries.query_id,
    cutoffs.k,
    ideal.ideal_exponential,
    ideal.ideal_linear,
    ideal.random_exponential,
    ideal.random_linear,
    coalesce(ideal.n_documents, 0) as n_documents,
    coalesce(ideal.n_judged, 0) as n_judged,
    coalesce(ideal.n_relevant, 0) as n_relevant
from {{ ref("evaluated_queries") }} as queries
cross join cutoffs
left join ideal on ideal.benchmark = queries.benchmark and ideal.query_id = queries.query_id and ideal.k = cutoffs.k
