-- What the classes of candidates are worth under the ratings.
with
    ranked as (
        select
            class,
            relevance,
            percent_rank() over (partition by query_id order by relevance desc, document_id) as relative_rank,
            row_number() over (partition by query_id order by relevance desc, document_id) as rank
        from {{ ref("qrels") }}
        where relevance is not null
    )

select
    class,
    count(*) as n_candidates,
    {{ mean("relevance") }} as mean_relevance,
    median(relevance) as median_relevance,
    {{ mean("rank") }} as mean_rank,
    {{ mean("relative_rank") }} as mean_relative_rank,
    count(*) filter (rank <= 10) / count(*) as share_in_first_ten,
    count(*) filter (rank <= 10) / sum(count(*) filter (rank <= 10)) over () as share_of_first_tens
from ranked
group by class
