{{ config(materialized="view") }}

select problems.problem_id, problem_index, token_sets.tokens
from {{ ref("eligible_problems") }} as problems
inner join {{ ref("token_sets") }} as token_sets using (problem_index)
