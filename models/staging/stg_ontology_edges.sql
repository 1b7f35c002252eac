with
    latest as (select * from {{ latest(source("landing", "ontology_edges"), ["ontology", "parent", "child"]) }}),

    in_use as (select value as ontology from {{ source("landing", "build") }} where name = 'ontology')

select ontology, parent, child, nfc_normalize(label) as label
from latest
where ontology = (select ontology from in_use)
