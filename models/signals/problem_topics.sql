select distinct scores.problem_id, scores.topic_id
from {{ ref("stg_topic_scores") }} as scores
inner join {{ ref("topics") }} as topics using (topic_id)
inner join {{ ref("corpus_eligibility") }} as eligibility using (problem_id)
where scores.assigned and not topics.is_excluded and eligibility.is_eligible
