with
    topics as (select problem_id, count(*) as n_topics from {{ ref("problem_topics") }} group by problem_id),

    dropped as (select problem_id, answers_differ from {{ ref("duplicates") }} where not is_survivor)

select
    problems.source,
    coalesce(problems.language, 'unknown') as language,
    coalesce(problems.licence, 'unknown') as licence,
    count(*) as n_problems,
    count(*) filter (not problems.has_solution) as n_without_solution,
    count(*) filter (coalesce(problems.answer, '') = '') as n_without_answer,
    count(dropped.problem_id) as n_copies,
    count(*) filter (dropped.answers_differ) as n_copies_answers_differ,
    median(length(problems.statement)) as median_statement_characters,
    median(length(problems.solution)) as median_solution_characters,
    round(fsum(coalesce(topics.n_topics, 0)) / count(*), 6) as topics_per_problem
from {{ ref("stg_problems") }} as problems
left join topics on topics.problem_id = problems.problem_id
left join dropped on dropped.problem_id = problems.problem_id
group by problems.source, problems.language, problems.licence
