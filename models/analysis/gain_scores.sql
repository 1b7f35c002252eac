{{ config(materialized="table") }}
-- nDCG@10 of the benchmark built here under other gains: would another choice rank the systems otherwise?
-- exp s: 2^rel - 1 with ratings rescaled to [0, s]. rank: share of the query's documents that are rated lower.
{% set scales = [1, 2, 3, 5, 8, 10] %}
with
    rated as (
        select
            query_id,
            document_id,
            relevance / {{ setting("ratings.scale", "double") }} as share,
            percent_rank() over (partition by query_id order by relevance) as rank_gain,
            row_number() over (partition by query_id order by relevance desc, document_id) as position
        from {{ ref("qrels") }}
        where relevance is not null
    ),

    ideal as (
        select
            query_id,
            {% for s in scales -%}
                fsum((pow(2, {{ s }} * share) - 1) / {{ discount("position") }}) as exp_{{ s }},
            {% endfor -%}
            fsum(share / {{ discount("position") }}) as lin,
            fsum(rank_gain / {{ discount("position") }}) as rank
        from rated
        where position <= 10
        group by query_id
    ),

    gained as (
        select
            ranked.run_id,
            ranked.query_id,
            {% for s in scales -%}
                fsum((pow(2, {{ s }} * rated.share) - 1) / {{ discount("ranked.rank") }}) as exp_{{ s }},
            {% endfor -%}
            fsum(rated.share / {{ discount("ranked.rank") }}) as lin,
            fsum(rated.rank_gain / {{ discount("ranked.rank") }}) as rank
        from {{ ref("ranked_runs") }} as ranked
        inner join rated using (query_id, document_id)
        where ranked.rank <= 10
        group by ranked.run_id, ranked.query_id
    ),

    systems as (
        select run_id, setting, scope, system
        from {{ ref("systems") }}
        where benchmark = {{ setting("benchmark.name") }}
    ),

    listed as (
        select
            systems.run_id,
            unnest([{% for s in scales -%}'exp {{ s }}', {% endfor -%} 'linear', 'rank']) as gain,
            unnest(
                [
                    {% for s in scales -%}
                        coalesce(gained.exp_{{ s }}, 0) / nullif(ideal.exp_{{ s }}, 0),
                    {% endfor -%}
                    coalesce(gained.lin, 0) / nullif(ideal.lin, 0),
                    coalesce(gained.rank, 0) / nullif(ideal.rank, 0)
                ]
            ) as value
        from systems
        cross join ideal
        left join gained on gained.run_id = systems.run_id and gained.query_id = ideal.query_id
    ),

    scores as (select run_id, gain, {{ mean("value") }} as score from listed group by run_id, gain)

select
    scores.run_id,
    systems.setting,
    systems.scope,
    systems.system,
    scores.gain,
    scores.score,
    rank() over (partition by systems.setting, systems.scope, scores.gain order by scores.score desc)::integer as rank
from scores
inner join systems using (run_id)
