-- How early the candidates of each class come when a query's candidates stand in the order of their ratings.
with
    ranked as (
        select
            query_id,
            class,
            row_number() over (partition by query_id order by relevance desc, document_id) as rank,
            count(*) over (partition by query_id) as n_documents
        from {{ ref("qrels") }}
        where relevance is not null
    ),

    placed as (select class, rank, count(*) as n_here from ranked group by class, rank),

    classes as (select class, count(*) as n_candidates from ranked group by class),

    ranks as (select unnest(range(1, (select coalesce(max(rank), 0) + 1 from ranked))) as rank),

    -- what a class would reach whose candidates stood anywhere: rank / documents, a mean over its candidates
    by_chance as (
        select
            sizes.class,
            ranks.rank,
            round(fsum(sizes.weight * least(1.0, ranks.rank / sizes.n_documents)) / sum(sizes.weight), 12) as chance
        from (select class, n_documents, count(*) as weight from ranked group by class, n_documents) as sizes
        cross join ranks
        group by sizes.class, ranks.rank
    )

select
    classes.class,
    ranks.rank::integer as rank,
    classes.n_candidates,
    sum(coalesce(placed.n_here, 0)) over so_far::bigint as n_within,
    sum(coalesce(placed.n_here, 0)) over so_far / classes.n_candidates as share_within,
    by_chance.chance
from classes
cross join ranks
inner join by_chance on by_chance.class = classes.class and by_chance.rank = ranks.rank
left join placed on placed.class = classes.class and placed.rank = ranks.rank
window so_far as (partition by classes.class order by ranks.rank)
