select query_id, document_id, class from {{ ref("qrels") }} where relevance is null
