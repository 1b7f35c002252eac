select
    n_queries,
    n_documents,
    rounds,
    ridge,
    seed,
    spread,
    schedule,
    round,
    mean_comparisons,
    share_inverted,
    share_of_truth
from
    {{
        latest(
            source("landing", "simulated_rounds"),
            ["n_queries", "n_documents", "rounds", "ridge", "seed", "spread", "schedule", "round"],
        )
    }}
