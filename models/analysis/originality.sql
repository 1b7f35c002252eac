select flags.problem_id, flags.reference, flags.reference_id, flags.share, flags.overlap
from {{ latest(source("landing", "originality_flags"), ["problem_id", "reference_id", "variant"]) }} as flags
inner join {{ ref("stg_problems") }} as problems using (problem_id, content_hash)
