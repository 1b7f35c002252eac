{#- Folders are schemas; `--vars '{variant: NAME}'` builds beside them, in schemas with the variant's name. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set base = custom_schema_name or target.schema -%}
    {%- set variant = var("variant", "") or env_var("SABER_VARIANT", "") -%}
    {{- base if not variant else base ~ "__" ~ (variant | replace("-", "_")) -}}
{%- endmacro %}
