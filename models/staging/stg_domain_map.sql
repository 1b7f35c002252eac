select position, domain, domain_column, branch from {{ source("landing", "domain_map") }}
