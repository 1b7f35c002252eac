-- Imported relevances. Of several imports of one benchmark (variants) marts read the one landed last. A row that
-- names
-- the texts it was judged by counts while they are still there: not of a retracted source, not of an older text.
with
    latest as (
        select * from {{ latest(source("landing", "qrels"), ["benchmark", "query_id", "document_id", "variant"]) }}
    ),

    chosen as (
        select *, variant = arg_max(variant, sequence) over (partition by benchmark) as is_selected from latest
    ),

    texts as (select problem_id, content_hash from {{ ref("stg_problems") }})

select
    chosen.benchmark,
    chosen.query_id,
    chosen.document_id,
    chosen.variant,
    chosen.relevance,
    chosen.gain,
    chosen.origin,
    chosen.judge,
    chosen.schedule,
    chosen.provider,
    chosen.model,
    chosen.std_error,
    chosen.class,
    chosen.is_selected
from chosen
left join texts as query on query.problem_id = chosen.query_id
left join texts as document on document.problem_id = chosen.document_id
where
    chosen.content_hash is null
    or chosen.content_hash = left(sha256(concat_ws(':', query.content_hash, document.content_hash)), 32)
