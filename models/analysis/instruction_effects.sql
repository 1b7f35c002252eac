-- Runs of one system that differ in their prefixes alone: with an instruction against without, query by query.
{% set bare -%}
    json_merge_patch(params, '{"query_prefix": null, "document_prefix": null, "instruction": null}')
{%- endset %}
with
    runs as (
        select
            run_id,
            benchmark,
            system,
            setting,
            scope,
            idf,
            {{ bare }}::varchar as other_params,
            coalesce(params ->> 'query_prefix', '') as query_prefix,
            coalesce(params ->> 'document_prefix', '') as document_prefix,
            coalesce(params ->> 'instruction', '') as instruction
        from {{ ref("systems") }}
    ),

    pairs as (
        select
            instructed.run_id,
            plain.run_id as plain_run_id,
            instructed.benchmark,
            instructed.system,
            instructed.setting,
            instructed.scope,
            instructed.query_prefix,
            instructed.document_prefix,
            instructed.instruction
        from runs as instructed
        inner join
            runs as plain
            on plain.benchmark = instructed.benchmark
            and plain.system = instructed.system
            and plain.setting = instructed.setting
            and plain.scope = instructed.scope
            and plain.idf = instructed.idf
            and plain.other_params is not distinct from instructed.other_params
        where
            plain.query_prefix || plain.document_prefix || plain.instruction = ''
            and instructed.query_prefix || instructed.document_prefix || instructed.instruction <> ''
    ),

    -- comparisons put the better run first
    comparisons as (
        select run_id, other_run_id, domain, n_queries, difference, low, high, n_better, n_worse, p_value
        from {{ ref("system_comparisons") }}
        union all
        select
            other_run_id as run_id,
            run_id as other_run_id,
            domain,
            n_queries,
            - difference as difference,
            - high as low,
            - low as high,
            n_worse as n_better,
            n_better as n_worse,
            p_value
        from {{ ref("system_comparisons") }}
    )

select
    pairs.run_id,
    pairs.plain_run_id,
    pairs.benchmark,
    pairs.system,
    pairs.setting,
    pairs.scope,
    pairs.query_prefix,
    pairs.document_prefix,
    pairs.instruction,
    comparisons.domain,
    comparisons.n_queries,
    comparisons.difference,
    comparisons.low,
    comparisons.high,
    comparisons.n_better,
    comparisons.n_worse,
    comparisons.p_value
from pairs
inner join comparisons on comparisons.run_id = pairs.run_id and comparisons.other_run_id = pairs.plain_run_id
