-- Weight 1 is shared by the domains of a problem.
with
    borne as (
        select distinct problem_topics.problem_id, domains.domain
        from {{ ref("problem_topics") }} as problem_topics
        inner join {{ ref("topics") }} as topics using (topic_id)
        inner join {{ ref("domains") }} as domains using (branch)
    )

select problem_id, domain, 1.0 / count(*) over (partition by problem_id) as weight
from borne
