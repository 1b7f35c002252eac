{{ config(materialized="view") }}

select problem_id, problem_index, set_index, content_hash
from {{ ref("problem_numbers") }}
where is_current
