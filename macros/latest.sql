{#- Rows of a landed table with the latest row of each key only ("latest wins", by sequence). -#}
{% macro latest(relation, key, where="true") -%}
    (
        select *
        from {{ relation }}
        where {{ where }}
        qualify row_number() over (partition by {{ key | join(", ") }} order by sequence desc) = 1
    )
{%- endmacro %}
