select landed_table, file, n_rows, last_sequence, error from {{ source("landing", "files") }}
