-- Scores that can be correlated: the leaderboard's own, and those landed from elsewhere. Systems meet by their
-- names in
-- lower case without anything but letters and digits. Of several runs of one system the best counts.
{% set plain_name -%} regexp_replace(lower(nfc_normalize(system)), '[^\p{L}\p{N}]+', '', 'g') {%- endset %}
with
    own as (
        select
            benchmark as leaderboard, setting || ', ' || scope as measure, system, overall as value, 'own' as origin
        from {{ ref("leaderboard") }}
    ),

    external as (
        select leaderboard, measure, system, value, coalesce(origin, leaderboard) as origin
        from {{ ref("stg_external_scores") }}
        where not starts_with(leaderboard, 'subset:') and value is not null
    ),

    scores as (
        select *
        from own
        union all
        select *
        from external
    )

select
    leaderboard,
    measure,
    {{ plain_name }} as system_key,
    -- the name decides between equal values, so that the same rows give the same name
    arg_max(system, (value, system)) as system,
    max(value) as value,
    arg_max(origin, (value, system)) as origin
from scores
where value is not null
group by leaderboard, measure, {{ plain_name }}
