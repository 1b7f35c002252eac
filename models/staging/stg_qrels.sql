select benchmark, query_id, document_id, variant, relevance, gain, origin
from {{ latest(source("landing", "qrels"), ["benchmark", "query_id", "document_id", "variant"]) }}
