-- What kind of answer a problem has, by its form.
select
    source,
    case
        when coalesce(trim(answer), '') = ''
        then 'none'
        when regexp_full_match(trim(answer), '-?[0-9][0-9,]*')
        then 'integer'
        when regexp_full_match(trim(answer), '-?[0-9]*\.[0-9]+')
        then 'decimal'
        when contains(answer, '\frac') and length(answer) < 40
        then 'fraction'
        when regexp_full_match(trim(answer), '\(?[A-E]\)?')
        then 'choice'
        when contains(answer, chr(92)) or contains(answer, '^') or contains(answer, '=')
        then 'expression'
        else 'words'
    end as answer_type,
    count(*) as n_problems
from {{ ref("stg_problems") }}
group by source, answer_type
