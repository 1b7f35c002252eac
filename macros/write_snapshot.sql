{#- Copy tables and views to a snapshot that stays readable while the next build writes the warehouse.
    A run with failures leaves the last good snapshot in place. -#}
{% macro write_snapshot(results) -%}
    {%- if execute -%}
        {%- set failed = results | selectattr("status", "in", ["error", "fail", "runtime error"]) | list -%}
        {%- if results and not failed -%}
            {%- set home = env_var("SABER_HOME", "data") -%}
            {%- do run_query("select clear_next_snapshot()") -%}
            {%- do run_query(
                "attach '" ~ (home | replace("'", "''")) ~ "/.snapshot.next.duckdb' as snapshot_next"
            ) -%}
            {%- do run_query("copy from database " ~ target.database ~ " to snapshot_next") -%}
            {%- do run_query("detach snapshot_next") -%}
            {%- do run_query("select publish_snapshot()") -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
