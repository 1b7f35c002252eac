{#- Generic tests of our own, so that no package hub is needed. -#}
{% test unique_together(model, columns) %}
    select {{ columns | join(", ") }}, count(*) as n_rows from {{ model }} group by all having count(*) > 1
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
