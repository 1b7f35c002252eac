select landed_table, file, error from {{ ref("landing_files") }} where error is not null
