-- Rankings that marts leave out, down to their last document. Most runs rank the same documents of a query, so one of
-- them is looked at for all: 25 systems in three settings then cost as much as one.
with
    rankings as (
        select
            run_id,
            query_id,
            job_id,
            documents_key,
            n_documents,
            scope = 'candidates' and benchmark = {{ setting("benchmark.name") }} as is_of_candidates
        from {{ ref("run_queries") }}
    ),

    examples as (
        select
            query_id,
            documents_key,
            n_documents,
            is_of_candidates,
            min(run_id) as run_id,
            arg_min(job_id, run_id) as job_id
        from rankings
        group by query_id, documents_key, n_documents, is_of_candidates
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    candidates as (select query_id, document_id, true as is_candidate from {{ ref("candidates") }}),

    documents as (
        select
            examples.query_id,
            examples.documents_key,
            examples.n_documents,
            examples.is_of_candidates,
            coalesce(
                landed.content_hash <> left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32),
                false
            ) as is_older_text,
            examples.is_of_candidates and candidates.is_candidate is null as is_no_candidate
        from {{ source("landing", "runs") }} as landed
        inner join
            examples
            on examples.run_id = landed.run_id
            and examples.query_id = landed.query_id
            and examples.job_id = landed.job_id
        left join texts as query on query.problem_id = landed.query_id
        left join texts as document on document.problem_id = landed.document_id
        left join candidates on candidates.query_id = landed.query_id and candidates.document_id = landed.document_id
    ),

    outdated as (
        select
            query_id,
            documents_key,
            n_documents,
            is_of_candidates,
            count(*) filter (is_older_text) as n_older_texts,
            count(*) filter (is_no_candidate) as n_no_candidates
        from documents
        group by query_id, documents_key, n_documents, is_of_candidates
        having bool_or(is_older_text or is_no_candidate)
    )

select rankings.run_id, rankings.query_id, outdated.n_older_texts, outdated.n_no_candidates
from rankings
inner join outdated using (query_id, documents_key, n_documents, is_of_candidates)
