-- A table, since a view that calls a Python function fails outside dbt.
{{ config(materialized="incremental") }}

select problem_index, summary_tokens(core_idea, {{ setting("signals.tokeniser") }}) as tokens
from {{ ref("problem_numbers") }}
{% if is_incremental() %} where problem_index not in (select kept.problem_index from {{ this }} as kept) {% endif %}
