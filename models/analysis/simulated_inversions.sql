-- The simulation that fits the settings: as many candidates as a query has, the seed of the judging.
select simulated.*
from {{ ref("stg_simulated_rounds") }} as simulated
where
    simulated.n_documents = 3 * {{ setting("benchmark.candidates_per_class", "integer") }}
    and simulated.rounds = 2 * {{ setting("judging.rounds", "integer") }}
    and simulated.seed = {{ setting("judging.seed", "bigint") }}
    and simulated.ridge = coalesce(try_cast({{ setting("ratings.ridge") }} as double), 1.0)
