with counts as (select * from {{ ref("pair_counts") }})

select problem_id as query_id, {{ seeded_order("benchmark.seed", ["'query'", "problem_id"]) }} as draw
from counts
where least(n_topic_only, n_summary_only, n_both) >= {{ setting("benchmark.candidates_per_class", "integer") }}
