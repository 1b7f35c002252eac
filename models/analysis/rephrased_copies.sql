-- Where a query's own problem in other words stands: in a ranking of the whole corpus, and among the candidates by
-- the
-- same scores. Rankings that are out of date are left out, as everywhere. Copies are near duplicates that say the
-- same, and problems whose metadata name the one they rephrase.
with
    found as (
        select first_id as query_id, second_id as document_id, kind
        from {{ ref("near_duplicates") }}
        where kind in ('other wording', 'other words', 'translation')
        union all
        select second_id as query_id, first_id as document_id, kind
        from {{ ref("near_duplicates") }}
        where kind in ('other wording', 'other words', 'translation')
        union all
        select try_cast(metadata as json) ->> 'rephrases' as query_id, problem_id as document_id, 'rephrased' as kind
        from {{ ref("stg_problems") }}
    ),

    copies as (
        select found.query_id, found.document_id, min(found.kind) as kind
        from found
        semi join {{ ref("queries") }} as queries using (query_id)
        group by found.query_id, found.document_id
    ),

    systems as (
        select run_id, system, setting, scope
        from {{ ref("systems") }}
        where benchmark = {{ setting("benchmark.name") }}
    ),

    runs as (
        select landed.run_id, landed.query_id, landed.document_id, landed.score
        from {{ ref("stg_runs") }} as landed
        semi join systems using (run_id)
        semi join {{ ref("ranked_runs") }} as current using (run_id, query_id)
        semi join copies using (query_id)
    ),

    candidates as (select query_id, document_id, true as is_candidate from {{ ref("candidates") }}),

    ranked as (
        select
            runs.*,
            coalesce(candidates.is_candidate, false) as is_candidate,
            row_number() over places as rank,
            count(*) filter (candidates.is_candidate) over (places rows between unbounded preceding and 1 preceding)
            + 1 as rank_among_candidates,
            count(*) over (partition by runs.run_id, runs.query_id) as n_ranked
        from runs
        left join candidates using (query_id, document_id)
        window places as (partition by runs.run_id, runs.query_id order by runs.score desc, runs.document_id)
    ),

    depths as (select run_id, query_id, max(n_ranked) as n_ranked from ranked group by run_id, query_id)

select
    systems.run_id,
    systems.system,
    systems.setting,
    systems.scope,
    copies.query_id,
    copies.document_id,
    copies.kind,
    ranked.is_candidate,
    ranked.score,
    ranked.rank,
    ranked.rank_among_candidates,
    depths.n_ranked
from systems
inner join depths using (run_id)
inner join copies using (query_id)
left join
    ranked
    on ranked.run_id = systems.run_id
    and ranked.query_id = copies.query_id
    and ranked.document_id = copies.document_id
-- among the candidates alone a copy that is none of them has no place
where systems.scope = 'corpus' or ranked.rank is not null
