"""The generated corpus itself."""

import json

from bench.corpus import Options
from bench.stage import Outcome, Stage, Workbench
from bench.tables import write_corpus


def run(workbench: Workbench) -> Outcome:
    """Write the corpus of the options found in the folder."""
    options = Options(**json.loads((workbench.folder / "options.json").read_text()))
    write_corpus(workbench.database, workbench.n_problems, options)
    return Outcome(workbench.n_problems)


STAGE = Stage("corpus", 0, run, unit="problems", apart=True)
