-- Seconds a query against score. A run is on the front when no other of its setting is both faster and better.
with
    runs as (
        select
            leaderboard.run_id,
            leaderboard.benchmark,
            leaderboard.setting,
            leaderboard.scope,
            leaderboard.system,
            leaderboard.overall,
            leaderboard.overall_low,
            leaderboard.overall_high,
            systems.mean_latency_s
        from {{ ref("leaderboard") }} as leaderboard
        inner join {{ ref("systems") }} as systems using (run_id)
        where systems.mean_latency_s is not null
    ),

    beaten as (
        select distinct slower.run_id
        from runs as slower
        inner join
            runs as other
            on other.benchmark = slower.benchmark
            and other.setting = slower.setting
            and other.scope = slower.scope
            and other.mean_latency_s <= slower.mean_latency_s
            and other.overall >= slower.overall
            and (other.mean_latency_s < slower.mean_latency_s or other.overall > slower.overall)
    )

select runs.*, beaten.run_id is null as is_on_front
from runs
left join beaten using (run_id)
