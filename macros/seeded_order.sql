{#- A draw that depends on the seed and the ids alone: the same order on any engine and any number of threads. -#}
{% macro seeded_order(seed_setting, columns) -%}
    md5(concat_ws('|', {{ setting(seed_setting) }}, {{ columns | join(", ") }}))
{%- endmacro %}
