{#- A text as a SQL literal. -#}
{% macro text_literal(text) -%} {{ "'" ~ (text | replace("'", "''")) ~ "'" }} {%- endmacro %}
