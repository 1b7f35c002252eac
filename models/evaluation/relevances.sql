-- Graded relevances of every benchmark in one relation: the built one's candidates, and imported qrels.
with
    pairs as (
        select benchmark, variant, query_id, document_id, class, relevance, judge
        from {{ ref("qrels") }}
        union all
        select
            benchmark,
            variant,
            query_id,
            document_id,
            null as class,
            relevance,
            coalesce(judge, origin, 'imported') as judge
        from {{ ref("stg_qrels") }}
        where is_selected and benchmark <> {{ setting("benchmark.name") }}
    )

select benchmark, variant, query_id, document_id, class, relevance, judge
from pairs
