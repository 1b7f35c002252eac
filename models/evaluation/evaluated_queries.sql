-- The queries that scores are means over, whether or not they have judgments.
select {{ setting("benchmark.name") }} as benchmark, query_id
from {{ ref("queries") }}

union all

select distinct benchmark, query_id
from {{ ref("relevances") }}
where benchmark <> {{ setting("benchmark.name") }}
