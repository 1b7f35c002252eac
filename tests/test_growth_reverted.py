"""A rebuild that was stopped part-way, then a build as before: rows of the one never stand beside rows of the other.

The rows of the last finished build were once taken for valid as long as its settings were in force: renumbered
problems stood beside the pairs of their old numbers, and every count was wrong without a word.
"""

import pytest
from test_growth import Growing

NOTES = "select count(*) from signals.pair_rebuilds"


class Stopped(Growing):
    """A home whose problems get other numbers in a build from scratch: a source that sorts first came later."""

    def __init__(self, path):
        super().__init__(path)
        self.add([f"own/{n:03d}" for n in range(24)], 1)
        self.run()
        self.add([f"early/{n}" for n in range(6)], 2)
        self.run()
        self.check()
        assert self.home.rows(NOTES) == [(0,)]

    def numbers(self):
        return self.home.rows("select problem_index, problem_id from signals.problem_numbers order by 1")

    def is_kept_next(self):
        """Whether the next build keeps what is there: then the information content of every used topic is frozen."""
        self.run()
        used = "select bool_and(is_frozen) from ontology.topic_information_content where n_subtree > 0"
        return self.home.rows(NOTES) == [(0,)] and self.home.rows(used) == [(True,)]

    def set(self, line):
        """Put a line into [signals]; return what stood there before."""
        before = self.home.settings_file.read_text()
        self.home.settings_file.write_text(before.replace("[signals]", f"[signals]\n{line}"))
        return before


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return Stopped(tmp_path_factory.mktemp("stopped"))


def test_a_rebuild_stopped_after_the_numbers_is_followed_by_a_rebuild(home):
    before = home.numbers()
    home.run("--full-refresh", "--select", "+problem_numbers")
    assert home.numbers() != before
    home.run()
    home.check()
    assert home.is_kept_next()


def test_other_thresholds_given_up_after_the_topic_pairs_leave_nothing_behind(home):
    before = home.set("topic_threshold = 0.5\nsummary_threshold = 0.1")
    home.run("--select", "+topic_pairs")
    home.home.settings_file.write_text(before)
    home.run()
    home.check()


def test_pairs_rebuilt_in_part_are_rebuilt_whole_and_the_basis_stays(home):
    numbers = home.numbers()
    home.run("--full-refresh", "--select", "topic_pairs", "pair_generations")
    assert home.home.rows("select count(*) from signals.pair_generations") == [(0,)]  # covers nothing for sure
    home.run()
    home.check()
    assert home.numbers() == numbers
    assert home.home.rows(NOTES) == [(0,)]
