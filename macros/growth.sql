{#- While `signals.growth = "frozen"`, models marked `meta: {kept: ...}` keep their rows from build to build, and only
    what is new is added. Otherwise, or when what they depend on has changed, they are built anew.
      kept: basis   what the pairs are computed from: numbers, token sets, information content, histograms
      kept: pairs   the pairs and their counts; they also want the thresholds to be those they were found with
    dbt asks this macro before every incremental model.

    A rebuild may be stopped part-way, and then some of the tables belong together no more: numbers of problems would be
    new and pairs old. So every rebuild of a kept model is noted in signals.pair_rebuilds before it begins, and as long
    as one is noted nothing that depends on it is kept. The notes go when one run has rebuilt all that they concern. -#}
{% macro should_full_refresh() %}
    {%- set asked = config.get("full_refresh") -%}
    {%- if asked is none -%} {%- set asked = flags.FULL_REFRESH -%} {%- endif -%}
    {%- set kept = (config.get("meta") or {}).get("kept") -%}
    {%- if kept and execute and not asked -%} {%- set asked = not is_kept(kept == "pairs") -%} {%- endif -%}
    {{- return(asked) -}}
{% endmacro %}

{#- The last finished build's row of signals.pair_generations decides. It is asked of the database rather than by
    ref(): the model comes last in a build, and what it said after the build before is what counts. -#}
{% macro is_kept(with_thresholds) %}
    {%- if adapter.get_relation(this.database, signals_schema(), "pair_generations") is none or not notes_rebuilds() -%}
        {{- return(false) -}}
    {%- endif -%}
    {%- set question -%}
        select
            (select value ->> '$' from landing.settings{{ variant_suffix() }} where name = 'signals.growth') = 'frozen'
            and signals_variant = (
                select variant from landing.selected_variants{{ variant_suffix() }} where stage = 'signals'
            )
            and not exists (
                select 1 from {{ rebuild_notes() }}{% if not with_thresholds %} where kept = 'basis'{% endif %}
            )
            {%- if with_thresholds %}
            and topic_threshold is not distinct from (
                select max(threshold) from {{ signals_schema() }}.signal_thresholds where signal = 'topic'
            )
            and summary_threshold is not distinct from (
                select max(threshold) from {{ signals_schema() }}.signal_thresholds where signal = 'summary'
            )
            {%- endif %}
        from {{ last_generation() }}
    {%- endset -%}
    {%- set found = run_query(question) -%}
    {{- return(found.rows | length == 1 and found.rows[0][0] == true) -}}
{% endmacro %}

{% macro last_generation() -%}
    (select * from {{ signals_schema() }}.pair_generations order by generation desc limit 1)
{%- endmacro %}

{% macro signals_schema() -%} {{- generate_schema_name("signals", none) -}} {%- endmacro %}

{#- Hook before a pair table grows: drop what a killed build appended beyond the last finished one. -#}
{% macro drop_uncovered(column, bound) -%}
    {%- if is_incremental() -%}
        delete from {{ this }} where {{ column }} >= (select {{ bound }} from {{ last_generation() }})
    {%- endif -%}
{%- endmacro %}

{#- Hook after the pairs are complete: the finished blocks that a killed build would have gone on from. -#}
{% macro clear_blocks() -%}
    select clear_blocks(path, '{{ this.schema }}') from duckdb_databases() where database_name = '{{ this.database }}'
{%- endmacro %}

{#- What a Python model adds goes through a table beside the target. The adapter's own choice, a temporary table, is
    not one for Python models, since they write through another cursor: it would stay in the schema main for good. -#}
{% macro duckdb__dispatch_temporary_relation(target_relation, batch_id="") %}
    {%- if model["language"] != "python" -%}
        {{- return({"relation": make_temp_relation(target_relation), "temporary": true}) -}}
    {%- endif -%}
    {%- set relation = target_relation.incorporate(path={"identifier": target_relation.identifier ~ "__added"}) -%}
    {%- do run_query("drop table if exists " ~ relation) -%}
    {{- return({"relation": relation, "temporary": false}) -}}
{% endmacro %}
