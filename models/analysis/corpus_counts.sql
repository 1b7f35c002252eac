select source, coalesce(reason, 'eligible') as state, count(*) as n_problems
from {{ ref("corpus_eligibility") }}
group by source, reason
