{#- The domains of the ontology in use, in order: [(domain, column name), ...]. -#}
{% macro domain_columns() -%}
    {%- if execute -%}
        {%- set found = run_query(
            "select domain, domain_column from landing.domain_map" ~ variant_suffix() ~ " group by all order by min(position)"
        ) -%}
        {{- return(found.rows | map("list") | list) -}}
    {%- endif -%}
    {{- return([]) -}}
{%- endmacro %}
