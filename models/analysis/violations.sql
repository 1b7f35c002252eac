-- Invariants of the marts; a test says that this view is empty.
select 'ontology: deeper than 63, so it has a cycle' as invariant, topic_id as subject
from {{ ref("topics") }}
where depth >= 64

union all

select 'ontology: more topics than ontology.max_topics allows' as invariant, count(*)::varchar as subject
from {{ ref("topics") }}
having count(*) > {{ setting("ontology.max_topics", "bigint") }}

union all

select 'topics: an ancestor of an assigned topic is assigned too' as invariant, lower.problem_id as subject
from {{ ref("problem_topics") }} as lower
inner join {{ ref("topic_closure") }} as closure on closure.descendant_id = lower.topic_id and closure.distance > 0
inner join
    {{ ref("problem_topics") }} as upper
    on upper.problem_id = lower.problem_id
    and upper.topic_id = closure.ancestor_id

union all

select 'candidates: a query is its own candidate' as invariant, query_id as subject
from {{ ref("candidates") }}
where query_id = document_id

union all

select 'candidates: a document bears the text of its query' as invariant, candidates.query_id as subject
from {{ ref("candidates") }} as candidates
inner join {{ ref("eligible_problems") }} as queries on queries.problem_id = candidates.query_id
where queries.content_hash = candidates.document_hash

union all

select 'candidates: a query without K candidates in a class' as invariant, query_id as subject
from {{ ref("candidates") }}
group by query_id
having count(*) <> 3 * {{ setting("benchmark.candidates_per_class", "integer") }}

union all

select 'qrels: a document that is no problem of the corpus' as invariant, qrels.document_id as subject
from {{ ref("qrels") }} as qrels
left join {{ ref("eligible_problems") }} as documents on documents.problem_id = qrels.document_id
where documents.problem_id is null

union all

select 'qrels: ratings of more than one variant' as invariant, min(ratings_variant) as subject
from {{ ref("qrels") }}
having count(distinct ratings_variant) > 1

union all

select 'pairs: a problem paired with itself' as invariant, first_index::varchar as subject
from {{ ref("summary_pairs") }}
where first_index >= second_index
