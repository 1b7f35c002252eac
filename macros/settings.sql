{#- A setting of saber.toml as a scalar subquery: the value stays visible in the compiled SQL's lineage. -#}
{% macro setting(name, type="varchar") -%}
    (select cast(value ->> '$' as {{ type }}) from {{ ref("stg_settings") }} where name = '{{ name }}')
{%- endmacro %}

{#- Elements of a list-valued setting, to be used in a from clause. -#}
{% macro setting_list(name, type="varchar") -%}
    (
        select cast(unnest(from_json(value, '["varchar"]')) as {{ type }}) as element
        from {{ ref("stg_settings") }}
        where name = '{{ name }}'
    )
{%- endmacro %}

{#- The measure that scores are means of. -#}
{% macro headline() -%}('ndcg_' || {{ setting("evaluation.gain") }} || '@10') {%- endmacro %}

{% macro selected_variant(stage) -%}
    (select variant from {{ ref("stg_selected_variants") }} where stage = '{{ stage }}')
{%- endmacro %}

{% macro build_id() -%}(select value from {{ source("landing", "build") }} where name = 'build_id') {%- endmacro %}
