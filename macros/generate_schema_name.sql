{#- Folders are schemas; `--vars '{variant: NAME}'` builds beside them, in schemas with the variant's name. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{- (custom_schema_name or target.schema) ~ variant_suffix() -}}
{%- endmacro %}

{#- What the names of a variant's own schemas and settings end with; "" for the default. -#}
{% macro variant_suffix() -%}
    {%- set variant = var("variant", "") or env_var("SABER_VARIANT", "") -%}
    {{- "__" ~ (variant | replace("-", "_")) if variant else "" -}}
{%- endmacro %}
