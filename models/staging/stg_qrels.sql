-- Imported relevances. Of several imports of one benchmark (variants) marts read the one landed last.
with
    latest as (
        select * from {{ latest(source("landing", "qrels"), ["benchmark", "query_id", "document_id", "variant"]) }}
    )

select
    benchmark,
    query_id,
    document_id,
    variant,
    relevance,
    gain,
    origin,
    variant = arg_max(variant, sequence) over (partition by benchmark) as is_selected
from latest
