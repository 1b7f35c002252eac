-- Landed rows that no mart reads: of another variant, of an older text, of a problem that is gone, or of a document
-- that
-- is no candidate of the query any more.
with
    texts as (select problem_id, content_hash from {{ ref("stg_problems") }}),

    annotations as (
        select 'topic_scores' as landed_table, problem_id, null as query_id, variant, content_hash, 'topics' as stage
        from {{ source("landing", "topic_scores") }}
        group by all
        union all
        select 'summaries' as landed_table, problem_id, null as query_id, variant, content_hash, 'summaries' as stage
        from {{ source("landing", "summaries") }}
        group by all
    ),

    judged as (
        select
            'judgments' as landed_table,
            landed.first_id || coalesce(' | ' || landed.second_id, '') as problem_id,
            landed.query_id,
            landed.variant,
            case when landed.kind = 'human' then 'human' else 'judgments' end as stage,
            landed.content_hash = left(
                sha256(concat_ws(':', query.content_hash, first.content_hash, second.content_hash)), 32
            ) as is_current
        from {{ source("landing", "judgments") }} as landed
        left join texts as query on query.problem_id = landed.query_id
        left join texts as first on first.problem_id = landed.first_id
        left join texts as second on second.problem_id = landed.second_id
        group by all
    ),

    of_documents as (
        select
            'ratings' as landed_table,
            document_id,
            query_id,
            variant,
            content_hash,
            'ratings' as stage,
            true as is_bound
        from {{ source("landing", "ratings") }}
        group by all
        union all
        select
            'runs' as landed_table,
            document_id,
            query_id,
            variant,
            content_hash,
            'benchmark' as stage,
            scope = 'candidates' as is_bound
        from {{ source("landing", "runs") }}
        group by all
    ),

    candidates as (select query_id, document_id, true as is_candidate from {{ ref("candidates") }}),

    -- of an imported benchmark marts read the import landed last
    imported as (
        select
            query_id,
            document_id,
            variant,
            content_hash,
            variant = arg_max(variant, sequence) over (partition by benchmark) as is_last
        from {{ latest(source("landing", "qrels"), ["benchmark", "query_id", "document_id", "variant"]) }}
    ),

    compared as (
        select
            annotations.landed_table,
            annotations.problem_id,
            annotations.query_id,
            annotations.variant,
            annotations.stage,
            annotations.content_hash = texts.content_hash as is_current,
            true as is_wanted
        from annotations
        left join texts using (problem_id)
        union all
        select landed_table, problem_id, query_id, variant, stage, is_current, true as is_wanted
        from judged
        union all
        select
            of_documents.landed_table,
            of_documents.document_id as problem_id,
            of_documents.query_id,
            of_documents.variant,
            of_documents.stage,
            of_documents.content_hash
            = left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32) as is_current,
            candidates.is_candidate or not of_documents.is_bound as is_wanted
        from of_documents
        left join texts as query on query.problem_id = of_documents.query_id
        left join texts as document on document.problem_id = of_documents.document_id
        left join
            candidates
            on candidates.query_id = of_documents.query_id
            and candidates.document_id = of_documents.document_id
    )

select
    compared.landed_table,
    compared.query_id,
    compared.problem_id,
    compared.variant,
    case
        when compared.variant <> selected.variant
        then 'another variant'
        when compared.is_current is null
        then 'problem gone'
        when not compared.is_current
        then 'older text'
        else 'no candidate'
    end as reason
from compared
inner join {{ ref("stg_selected_variants") }} as selected using (stage)
where compared.variant <> selected.variant or not coalesce(compared.is_current and compared.is_wanted, false)

union all

select
    'qrels' as landed_table,
    imported.query_id,
    imported.document_id as problem_id,
    imported.variant,
    case
        when not imported.is_last
        then 'another variant'
        when query.problem_id is null or document.problem_id is null
        then 'problem gone'
        else 'older text'
    end as reason
from imported
left join texts as query on query.problem_id = imported.query_id
left join texts as document on document.problem_id = imported.document_id
where
    not imported.is_last
    or imported.content_hash <> left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
