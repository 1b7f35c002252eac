select name, value from {{ source("landing", "settings") }}
