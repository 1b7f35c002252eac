"""Information content of the topics, and the distinct topic sets of the problems."""

from bench.building import build_models
from bench.stage import Outcome, Stage, Workbench


def run(workbench: Workbench) -> Outcome:
    """Build topic_closure, topic_information_content, and the numbers of topic sets and problems."""
    models = ("topic_closure", "topic_information_content", "topic_set_numbers", "problem_numbers")
    views = ("eligible_problems", "problem_topic_sets", "topic_sets")
    return build_models(workbench, *models, *views, counted="topic_sets")


STAGE = Stage("topic_sets", 20, run, unit="sets")
