{#- Chance that the first k of a random order of n documents hold one of r relevant ones: one minus the product of the
    chances that each draw misses, over the smaller of r and k. `udfs.exact_tests.chance_of_a_hit` is its second path. -#}
{% macro chance_of_a_hit(n, r, k) -%}
    (
        1 - list_product(
            list_transform(
                range(0, least({{ r }}, {{ k }})::bigint),
                lambda drawn:greatest(0.0, 1 - greatest({{ r }}, {{ k }}) / ({{ n }} - drawn))
            )
        )
    )
{%- endmacro %}
