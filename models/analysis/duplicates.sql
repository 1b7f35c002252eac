select
    copies.group_id,
    copies.problem_id,
    problems.source,
    copies.is_survivor,
    copies.kind,
    copies.similarity,
    problems.statement
from {{ ref("stg_duplicates") }} as copies
inner join {{ ref("stg_problems") }} as problems using (problem_id)
