select position, domain, domain_column, branch from {{ ref("stg_domain_map") }}
