{#- Pearson's correlation of two measures over the rows of a group, NULL where fewer than three rows or a measure that
    is the same for all of them leave none (corr() gives NaN there). Rounding hides the order of addition. -#}
{% macro correlation(value, other) -%}
    case
        when count(*) >= 3 and min({{ value }}) < max({{ value }}) and min({{ other }}) < max({{ other }})
        then round(corr({{ value }}, {{ other }}), 9)
    end
{%- endmacro %}
