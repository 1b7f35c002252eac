with
    -- one choice a person and pair, whichever variants of the benchmark it was asked in
    choices as (
        select benchmark, query_id, document_id, other_id, annotator, sign(avg(choice))::integer as choice
        from {{ ref("pair_choices") }}
        where judge = 'human'
        group by benchmark, query_id, document_id, other_id, annotator
    )

select
    a.annotator,
    b.annotator as other_annotator,
    count(*) as n_pairs,
    avg(1 - abs(a.choice - b.choice) / 2.0) as agreement,
    avg((a.choice = b.choice)::integer) as share_equal
from choices as a
inner join
    choices as b
    on b.benchmark = a.benchmark
    and b.query_id = a.query_id
    and b.document_id = a.document_id
    and b.other_id = a.other_id
    and b.annotator > a.annotator
group by a.annotator, b.annotator
