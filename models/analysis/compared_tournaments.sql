-- Which of a judge's tournaments are held against each other. A variant is a prompt, a seed and a set of candidates:
-- verdicts of several variants are several tournaments, and a judge that is asked in other words is another judge.
-- The variant that the marts read comes first, else the one with most verdicts.
{% set judge = ["benchmark", "judge", "provider", "model"] %}
with
    variants as (
        select
            {{ judge | join(", ") }},
            schedule,
            variant,
            any_value(prompt_version) as prompt_version,
            bool_or(is_selected) as is_selected,
            count(*) as n_verdicts
        from {{ ref("stg_judgments") }}
        where kind = 'pair' and vote = 0
        group by {{ judge | join(", ") }}, schedule, variant
    ),

    -- verdicts that name no prompt are taken to be of the judge's
    prompts as (
        select
            {{ judge | join(", ") }},
            first(prompt_version order by is_selected desc, n_verdicts desc, variant) as prompt_version
        from variants
        where prompt_version is not null
        group by {{ judge | join(", ") }}
    )

select
    {% for column in judge %} variants.{{ column }}, {% endfor %}
    variants.schedule,
    variants.variant,
    variants.prompt_version,
    variants.n_verdicts
from variants
left join
    prompts
    on {% for column in judge %} prompts.{{ column }} is not distinct from variants.{{ column }} and {% endfor %}
    true
where coalesce(variants.prompt_version = prompts.prompt_version, true)
qualify
    row_number() over (
        partition by {% for column in judge %} variants.{{ column }}, {% endfor %} variants.schedule
        order by variants.is_selected desc, variants.n_verdicts desc, variants.variant
    )
    = 1
