-- The dense index is what the pair kernels use inside; marts show problem_id.
select
    eligibility.problem_id,
    (row_number() over (order by eligibility.problem_id) - 1)::integer as problem_index,
    problems.content_hash,
    summaries.core_idea
from {{ ref("corpus_eligibility") }} as eligibility
inner join {{ ref("stg_problems") }} as problems using (problem_id)
inner join {{ ref("stg_summaries") }} as summaries using (problem_id)
where eligibility.is_eligible
