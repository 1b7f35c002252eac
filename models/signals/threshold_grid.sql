-- Both signals' lower quantiles over a domain's pairs: the smallest value whose cumulative share reaches p.
with
    grid as (
        select round(1 - pow(10, - step / 20.0), 6) as p
        from
            range(
                {{ setting("signals.grid_first", "integer") }}, {{ setting("signals.grid_last", "integer") }} + 1
            ) as steps(step)
    ),

    cumulative as (
        select
            domain,
            signal,
            value,
            sum(n_pairs) over (partition by domain, signal order by value) as n_up_to,
            sum(n_pairs) over (partition by domain, signal) as n_all
        from {{ ref("signal_histogram") }}
        where n_pairs > 0
    ),

    quantiles as (
        select cumulative.domain, grid.p, cumulative.signal, min(cumulative.value) as quantile
        from cumulative
        inner join grid on cumulative.n_up_to >= grid.p * cumulative.n_all
        group by cumulative.domain, grid.p, cumulative.signal
    )

select
    domain,
    p,
    max(quantile) filter (signal = 'topic') as topic_threshold,
    max(quantile) filter (signal = 'summary') as summary_threshold
from quantiles
group by domain, p
