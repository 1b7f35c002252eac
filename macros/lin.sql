{#- Lin similarity from the information content of the lowest common ancestor and of both topics. -#}
{% macro lin(of_ancestor, of_topic, of_other) -%}
    greatest(0.0, least(1.0, 2 * {{ of_ancestor }} / ({{ of_topic }} + {{ of_other }} + 1e-12)))
{%- endmacro %}
