-- Weight 1 of a problem, shared by the domains it bears, and once more by its subdomains: the topics at depth 2 that
-- its topics lie in, or the branch itself where a topic is no deeper. A branch of no domain counts as its own.
with
    placed as (
        select distinct
            problem_topics.problem_id,
            coalesce(domains.domain, topics.branch) as domain,
            domains.domain is not null as is_benchmark_domain,
            coalesce(ancestors.topic_id, topics.topic_id) as subdomain
        from {{ ref("problem_topics") }} as problem_topics
        inner join {{ ref("topics") }} as topics using (topic_id)
        left join {{ ref("domains") }} as domains using (branch)
        left join
            (
                select closure.descendant_id, upper.topic_id
                from {{ ref("topic_closure") }} as closure
                inner join {{ ref("topics") }} as upper on upper.topic_id = closure.ancestor_id
                where upper.depth = 2
            ) as ancestors
            on ancestors.descendant_id = problem_topics.topic_id
    ),

    domains as (select distinct problem_id, domain, is_benchmark_domain from placed)

select
    problem_id,
    'domain' as level,
    domain,
    null as subdomain,
    is_benchmark_domain,
    1.0 / count(*) over (partition by problem_id) as weight
from domains

union all

select
    problem_id,
    'subdomain' as level,
    domain,
    subdomain,
    is_benchmark_domain,
    1.0 / count(*) over (partition by problem_id) as weight
from placed
