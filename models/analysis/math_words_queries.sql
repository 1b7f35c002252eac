-- What a system thinks of the five candidates of highest rating when it sees the mathematics of a query alone, and
-- when it sees its words alone (settings math-only, words-only). Both means are over the same documents: a query
-- whose ranking of either setting lacks one of them is left out.
with
    best as (
        select query_id, document_id
        from {{ ref("qrels") }}
        where relevance is not null
        qualify row_number() over (partition by query_id order by relevance desc, document_id) <= 5
    ),

    runs as (
        select run_id, system, setting, scope, idf, params
        from {{ ref("systems") }}
        where
            setting in ('math-only', 'words-only')
            and benchmark = {{ setting("benchmark.name") }}
            and coalesce(params ->> 'formulas', 'rules') = {{ setting("evaluation.formulas") }}
    ),

    counts as (select query_id, count(*) as n_documents from best group by query_id),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    -- scores of older texts are those of other documents
    means as (
        select runs.run_id, landed.query_id, {{ mean("landed.score") }} as score, count(*) as n_documents
        from {{ ref("stg_runs") }} as landed
        inner join runs using (run_id)
        inner join best using (query_id, document_id)
        left join texts as query on query.problem_id = landed.query_id
        left join texts as document on document.problem_id = landed.document_id
        where
            landed.content_hash is null
            or landed.content_hash = left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
        group by runs.run_id, landed.query_id
    )

select
    mathematics.run_id,
    words.run_id as words_run_id,
    mathematics.system,
    mathematics.scope,
    mathematics.idf,
    math_means.query_id,
    parts.share_mathematics,
    counts.n_documents,
    math_means.score as mathematics_score,
    words_means.score as words_score,
    sign(math_means.score - words_means.score)::integer as preference
from runs as mathematics
inner join
    runs as words
    on words.setting = 'words-only'
    and words.system = mathematics.system
    and words.scope = mathematics.scope
    and words.idf = mathematics.idf
    and words.params is not distinct from mathematics.params
inner join means as math_means on math_means.run_id = mathematics.run_id
inner join means as words_means on words_means.run_id = words.run_id and words_means.query_id = math_means.query_id
inner join
    counts
    on counts.query_id = math_means.query_id
    and counts.n_documents = math_means.n_documents
    and counts.n_documents = words_means.n_documents
inner join {{ ref("query_parts") }} as parts on parts.query_id = math_means.query_id
where mathematics.setting = 'math-only' and parts.has_both
