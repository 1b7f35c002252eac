{#- Generic tests of our own, so that no package hub is needed. -#}
{% test unique_together(model, columns) %}
    select {{ columns | join(", ") }}, count(*) as n_rows from {{ model }} group by all having count(*) > 1
{% endtest %}

{#- The same of a pair table that grows: in a build that keeps its rows, those of new problems or sets alone, since the
    build that brought the others has tested them. `dbt test` and a build from scratch look at all. -#}
{% test unique_pairs(model, columns, bound) %}
    {%- set grown = execute and flags.WHICH == "build" and not flags.FULL_REFRESH and is_kept(true) %}
    select {{ columns | join(", ") }}, count(*) as n_rows
    from {{ model }}
    {% if grown %} where {{ columns[-1] }} >= (select {{ bound }} from {{ last_generation() }}) {% endif %}
    group by all
    having count(*) > 1
{% endtest %}

{% test between(model, column_name, minimum=none, maximum=none) %}
    select {{ column_name }}
    from {{ model }}
    where
        isnan({{ column_name }}::double)
        {% if minimum is not none %} or {{ column_name }} < {{ minimum }} {% endif %}
        {% if maximum is not none %} or {{ column_name }} > {{ maximum }} {% endif %}
{% endtest %}

{% test is_empty(model) %} select * from {{ model }} {% endtest %}
