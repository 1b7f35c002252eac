-- The index is what the pair kernels use inside; marts show problem_id.
{{ config(materialized="view") }}

select problem_id, problem_index, content_hash, core_idea
from {{ ref("problem_numbers") }}
where is_current
