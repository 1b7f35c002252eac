-- A table: its function is not there for readers of the snapshot.
{{ config(materialized="table") }}

with copies as (select * from {{ ref("stg_duplicates") }}), problems as (select * from {{ ref("stg_problems") }})

select
    copies.group_id,
    copies.problem_id,
    problems.source,
    copies.is_survivor,
    copies.kind,
    copies.similarity,
    problems.answer,
    survivors.answer as survivor_answer,
    answers_differ(problems.answer, survivors.answer) as answers_differ,
    problems.statement
from copies
inner join problems on problems.problem_id = copies.problem_id
inner join problems as survivors on survivors.problem_id = copies.group_id
