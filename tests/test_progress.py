"""Progress bars: what is done, pairs a second, and nothing where nobody watches."""

from dataclasses import dataclass

import pytest

from udfs.progress import counting, progress


@dataclass(frozen=True)
class Block:
    block: int
    n_blocks: int = 10
    n_compared: int = 500


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setenv("SABER_PROGRESS", "1")


def test_blocks_pass_and_the_bar_ends_where_they_end(watched, capsys):
    blocks = [Block(n) for n in range(10)]
    assert list(progress(blocks, "summary pairs")) == blocks
    shown = capsys.readouterr().err
    assert "summary pairs: 100%" in shown
    assert "10/10" in shown
    assert "pairs/s" in shown


def test_a_resumed_run_begins_in_the_middle(watched, capsys):
    """Finished blocks are shown as done but do not count as computed: 2 blocks in no time, not 10."""
    list(progress([Block(8), Block(9)], "summary pairs"))
    assert "10/10" in capsys.readouterr().err


def test_blocks_that_do_not_say_what_they_compared_share_the_total(watched, capsys):
    @dataclass(frozen=True)
    class Silent:
        block: int

    list(progress([Silent(0), Silent(1)], "topic pairs", n_blocks=2, n_pairs=10_000))
    shown = capsys.readouterr().err
    assert "2/2" in shown
    assert "pairs/s" in shown


def test_a_callback_draws_and_closes_its_bar(watched, capsys):
    show = counting("histogram", 1_000)
    for done in (1, 2, 4):
        show(done, 4)
    shown = capsys.readouterr().err
    assert "histogram: 100%" in shown
    assert "pairs/s" in shown


def test_nobody_watching_nothing_shown(monkeypatch, capsys):
    monkeypatch.delenv("SABER_PROGRESS", raising=False)
    list(progress([Block(n) for n in range(10)], "summary pairs"))
    counting("histogram")(1, 1)
    assert capsys.readouterr().err == ""
