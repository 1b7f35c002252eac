-- K partners of each class, uniform without replacement: the first K by a seeded hash.
with
    partners as (
        select
            query_id,
            document_id,
            class,
            row_number() over (
                partition by query_id, class
                order by {{ seeded_order("benchmark.seed", ["query_id", "document_id"]) }}, document_id
            ) as draw_position
        from {{ ref("query_partners") }}
    ),

    problems as (select problem_id, content_hash from {{ ref("eligible_problems") }})

select
    {{ setting("benchmark.name") }} as benchmark,
    {{ selected_variant("benchmark") }} as variant,
    partners.query_id,
    partners.document_id,
    partners.class,
    partners.draw_position::integer as draw_position,
    problems.content_hash as document_hash
from partners
inner join problems on problems.problem_id = partners.document_id
where draw_position <= {{ setting("benchmark.candidates_per_class", "integer") }}
