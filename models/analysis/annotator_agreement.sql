select
    a.annotator,
    b.annotator as other_annotator,
    count(*) as n_pairs,
    avg(1 - abs(a.choice - b.choice) / 2.0) as agreement,
    avg((a.choice = b.choice)::integer) as share_equal
from {{ ref("pair_choices") }} as a
inner join
    {{ ref("pair_choices") }} as b
    on b.query_id = a.query_id
    and b.document_id = a.document_id
    and b.other_id = a.other_id
    and b.judge = 'human'
    and b.annotator > a.annotator
where a.judge = 'human'
group by a.annotator, b.annotator
