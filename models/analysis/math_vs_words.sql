-- How often the mathematics of a query is closer to what is relevant than its words are, by system and domain, with
-- Wilson's 95 % interval. Queries of which a part is empty are dropped and counted.
with
    domains as (
        select problem_id as query_id, domain
        from {{ ref("problem_domains") }}
        union all
        select query_id, 'overall' as domain
        from {{ ref("queries") }}
    ),

    parts as (
        select
            domains.domain,
            count(*) filter (not parts.has_both) as n_dropped,
            {{ mean("parts.share_mathematics") }} as mean_share_mathematics
        from {{ ref("query_parts") }} as parts
        inner join domains using (query_id)
        group by domains.domain
    ),

    counted as (
        select
            preferences.run_id,
            any_value(preferences.system) as system,
            any_value(preferences.scope) as scope,
            domains.domain,
            count(*) as n_queries,
            count(*) filter (preferences.preference > 0) as n_mathematics,
            count(*) filter (preferences.preference < 0) as n_words,
            count(*) filter (preferences.preference = 0) as n_equal
        from {{ ref("math_words_queries") }} as preferences
        inner join domains using (query_id)
        group by preferences.run_id, domains.domain
    )

select
    counted.run_id,
    counted.system,
    counted.scope,
    counted.domain,
    counted.n_queries,
    parts.n_dropped,
    counted.n_mathematics,
    counted.n_words,
    counted.n_equal,
    counted.n_mathematics / nullif(counted.n_mathematics + counted.n_words, 0) as share_preferring_mathematics,
    {{ wilson("counted.n_mathematics", "(counted.n_mathematics + counted.n_words)", "-") }} as low,
    {{ wilson("counted.n_mathematics", "(counted.n_mathematics + counted.n_words)", "+") }} as high,
    parts.mean_share_mathematics
from counted
inner join parts using (domain)
