{#- Rank of a value within a partition, from the smallest; equal values share the mean of the ranks they take. -#}
{% macro average_rank(value, partition) -%}
    (
        rank() over (partition by {{ partition | join(", ") }} order by {{ value }})
        + (count(*) over (partition by {{ partition | join(", ") }}, {{ value }}) - 1) / 2
    )
{%- endmacro %}
