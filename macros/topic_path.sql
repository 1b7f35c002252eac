{#- One step of a topic's path: '/' inside a label is written '%2F' (and '%' as '%25'), so a path splits one way. -#}
{% macro path_step(label) -%} replace(replace({{ label }}, '%', '%25'), '/', '%2F') {%- endmacro %}
