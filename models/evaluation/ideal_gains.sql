-- Ideal discounted gains of each query at each cut-off, from all of its qrels.
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

    ordered as (
        select
            query_id,
            relevance,
            row_number() over (partition by query_id order by relevance desc, document_id) as position
        from {{ ref("qrels") }}
        where relevance is not null
    )

select
    ordered.query_id,
    cutoffs.k,
    fsum((pow(2, ordered.relevance) - 1) / log2(ordered.position + 1)) as ideal_exponential,
    fsum(ordered.relevance / log2(ordered.position + 1)) as ideal_linear
from ordered
inner join cutoffs on ordered.position <= cutoffs.k
group by ordered.query_id, cutoffs.k
