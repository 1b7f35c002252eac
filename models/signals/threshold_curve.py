import pyarrow as pa


def model(dbt, session):
    dbt.config(materialized="table")
    dbt.ref("threshold_grid")
    return pa.table(
        {
            "domain": pa.array([], pa.string()),
            "p": pa.array([], pa.float64()),
            "topic_threshold": pa.array([], pa.float64()),
            "summary_threshold": pa.array([], pa.float64()),
            "n_eligible": pa.array([], pa.int64()),
        }
    )
