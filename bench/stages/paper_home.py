"""A home at the size of the paper, landed and built as far as its candidates: what the stage evaluation works on."""

from bench.paper_home import PaperHome
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Land 1,000 queries' candidates, their ratings and 75 runs over them."""
    return Outcome(PaperHome(workbench.folder / "paper").make())


STAGE = Stage("paper_home", 200, run, once=True, unit="rows of runs", apart=True)
