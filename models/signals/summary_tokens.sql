-- A table, since a view that calls a Python function fails outside dbt.
select problem_id, problem_index, summary_tokens(core_idea, {{ setting("signals.tokeniser") }}) as tokens
from {{ ref("eligible_problems") }}
