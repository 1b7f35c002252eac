{#- A mean that does not depend on the order in which threads add: compensated, then rounded to 12 decimals. -#}
{% macro mean(value) -%} round(fsum({{ value }}) / count({{ value }}), 12) {%- endmacro %}
