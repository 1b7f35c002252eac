import pyarrow as pa


def model(dbt, session):
    dbt.config(materialized="table")
    dbt.ref("summary_tokens"), dbt.ref("signal_thresholds")
    return pa.table({"first_index": pa.array([], pa.int32()), "second_index": pa.array([], pa.int32())})
