select near.first_id, near.second_id, near.kind, near.similarity, near.masked_similarity
from
    {{
        latest(
            source("landing", "near_duplicates"), ["first_id", "second_id"], "variant = " ~ selected_variant("duplicates")
        )
    }}
    as near
inner join {{ ref("stg_problems") }} as first on first.problem_id = near.first_id
inner join {{ ref("stg_problems") }} as second on second.problem_id = near.second_id
where first.content_hash = near.content_hash
