select stage, variant from {{ source("landing", "selected_variants") }}
