{#- One end ("-" or "+") of Wilson's 95 % interval of a share of `n` (Wilson 1927), within [0, 1]; NULL where n is 0. -#}
{% macro wilson(hits, n, end) -%}
    case
        when {{ n }} > 0
        then
            greatest(
                0.0,
                least(
                    1.0,
                    (
                        {{ hits }} + 1.920729411
                        {{ end }} 1.959963985 * sqrt({{ hits }} * ({{ n }} - {{ hits }}) / {{ n }} + 0.960364705)
                    )
                    / ({{ n }} + 3.841458821)
                )
            )
    end
{%- endmacro %}
