"""Stages that build models of the project."""

from __future__ import annotations

import udfs.bma_blocks
import udfs.bma_histogram
import udfs.jaccard_blocks
import udfs.relations  # noqa: F401  (imported ahead, so that no stage is charged for it)
from bench.models import run_model
from bench.stage import Outcome, Workbench
from bench.tables import connect
from udfs.block_store import clear_blocks
from udfs.stop_words import stop_words

stop_words()


def build_models(workbench: Workbench, *models: str, counted: str | None = None, pairs: str | None = None) -> Outcome:
    """Build `models` in order.

    Parameters
    ----------
    workbench : Workbench
    models : names of models
    counted : str, optional
        The model whose rows are reported, by default the last one.
    pairs : str, optional
        SQL that counts what is reported instead.
    """
    connection = connect(workbench.database)
    try:
        rows = {model: run_model(connection, model) for model in models}
        reported = rows[counted or models[-1]]
        if pairs is not None:
            reported = connection.execute(pairs).fetchall()[0][0] or 0
        connection.execute("checkpoint")
    finally:
        connection.close()
        clear_blocks(str(workbench.database), "main")
    return Outcome(int(reported), {f"rows of {model}": count for model, count in rows.items()})
