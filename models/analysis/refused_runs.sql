-- What a landed run holds that cannot be evaluated; `saber retrieve` and imports refuse such rows before they land.
with
    faults as (
        select run_id, benchmark, 'a score that is no finite number: the whole run is left out' as reason, query_id
        from {{ ref("run_queries") }}
        where n_not_finite > 0

        union all

        select run_queries.run_id, run_queries.benchmark, 'no query of the benchmark' as reason, run_queries.query_id
        from {{ ref("run_queries") }} as run_queries
        anti join {{ ref("evaluated_queries") }} as queries using (benchmark, query_id)

        union all

        select runs.run_id, runs.benchmark, 'a query ranked for itself' as reason, runs.query_id
        from {{ ref("run_queries") }} as runs
        where
            len(list_filter(runs.first_documents, lambda found:struct_extract(found, 'document_id') = runs.query_id))
            > 0
    )

select
    run_id,
    benchmark,
    reason,
    count(distinct query_id) as n_queries,
    array_to_string(list_sort(list(distinct query_id))[1:5], ', ') as queries
from faults
group by run_id, benchmark, reason
