with latest as (select source, action from {{ latest(source("landing", "tombstones"), ["source"]) }})

select source
from latest
where action = 'retract'
