-- The same by how much of a query is mathematics: fifths of the queries by the share of mathematical tokens.
with
    fifths as (
        select *, ntile(5) over (partition by run_id order by share_mathematics, query_id) as fifth
        from {{ ref("math_words_queries") }}
    )

select
    run_id,
    any_value(system) as system,
    any_value(scope) as scope,
    fifth,
    min(share_mathematics) as min_share_mathematics,
    max(share_mathematics) as max_share_mathematics,
    {{ mean("share_mathematics") }} as mean_share_mathematics,
    count(*) as n_queries,
    count(*) filter (preference > 0) as n_mathematics,
    count(*) filter (preference < 0) as n_words,
    n_mathematics / nullif(n_mathematics + n_words, 0) as share_preferring_mathematics,
    {{ wilson("n_mathematics", "(n_mathematics + n_words)", "-") }} as low,
    {{ wilson("n_mathematics", "(n_mathematics + n_words)", "+") }} as high
from fifths
group by run_id, fifth
