{#- Notes of rebuilds of kept models (growth.sql says why): one row a rebuild that has begun. -#}
{% macro rebuild_notes() -%} {{ signals_schema() }}.pair_rebuilds {%- endmacro %}

{#- Whether the notes of rebuilds are there: not in a database that no run of today's models has seen. The catalogue is
    asked, since the adapter's cache knows nothing of what a hook made. -#}
{% macro notes_rebuilds() -%}
    {%- set question -%}
        select count(*)
        from duckdb_tables()
        where
            database_name = '{{ this.database }}'
            and schema_name = '{{ signals_schema() }}'
            and table_name = 'pair_rebuilds'
    {%- endset -%}
    {{- return(run_query(question).rows[0][0] == 1) -}}
{%- endmacro %}

{#- Before every run, while there is one thread: two that made the table at once would be in each other's way. -#}
{% macro open_rebuild_notes() -%}
    {{- "create table if not exists " ~ rebuild_notes() -}}
    {{- " (model varchar, kept varchar, invocation_id varchar)" -}}
{%- endmacro %}

{#- Hook before a kept model, outside its transaction, so that the note is there whatever becomes of the rebuild. -#}
{% macro note_rebuild() -%}
    {%- if execute and not is_incremental() -%}
        {%- set row = (this.identifier, config.get("meta").kept, invocation_id) -%}
        {{- "insert into " ~ rebuild_notes() ~ " values ('" ~ row | join("', '") ~ "')" -}}
    {%- endif -%}
{%- endmacro %}

{#- Whether this run has rebuilt all that the notes concern: when the basis is noted every kept model, else the pairs. -#}
{% macro is_rebuilt_whole() -%}
    {%- if not execute or not notes_rebuilds() -%} {{- return(true) -}} {%- endif -%}
    {%- set question -%}
        select model, kept, bool_or(invocation_id = '{{ invocation_id }}') from {{ rebuild_notes() }} group by all
    {%- endset -%}
    {%- set notes = run_query(question).rows -%}
    {%- set rebuilt = notes | selectattr(2) | map(attribute=0) | list -%}
    {%- set concerned = ("basis", "pairs") if "basis" in notes | map(attribute=1) | list else ("pairs",) -%}
    {%- for node in graph.nodes.values() | selectattr("resource_type", "equalto", "model") -%}
        {%- set wanted = notes and node.config.meta.kept in concerned and node.name != "pair_generations" -%}
        {%- if wanted and node.name not in rebuilt -%} {{- return(false) -}} {%- endif -%}
    {%- endfor -%}
    {{- return(true) -}}
{%- endmacro %}

{#- Hook after the row of pair_generations, in its transaction. -#}
{% macro forget_rebuilds() -%}
    {%- if execute and is_rebuilt_whole() -%} {{- "delete from " ~ rebuild_notes() -}} {%- endif -%}
{%- endmacro %}
