import pyarrow as pa


def model(dbt, session):
    dbt.config(materialized="table")
    dbt.ref("topic_sets"), dbt.ref("summary_tokens"), dbt.ref("problem_domains")
    return pa.table(
        {
            "domain": pa.array([], pa.string()),
            "signal": pa.array([], pa.string()),
            "value": pa.array([], pa.float64()),
            "n_pairs": pa.array([], pa.int64()),
        }
    )
