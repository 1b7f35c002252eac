"""The benchmark's stage on copies counts what it was given, and the peer beside it finds the planted copies too."""

from bench.stage import Workbench, stages

STAGES = {stage.name: stage for stage in stages()}


def test_copies_are_found_and_scored(tmp_path) -> None:
    outcome = STAGES["copies"].run(Workbench(tmp_path, 200))
    assert outcome.pairs == 1_000
    assert (outcome.facts["recall"], outcome.facts["precision"], outcome.facts["renumbered_merged"]) == (1, 1, 0)
    assert 40 <= outcome.facts["dropped"] <= 60  # 60 planted, those below the threshold apart


def test_the_peer_merges_renumbered_copies_too(tmp_path) -> None:
    peer = STAGES["copies: datasketch"]
    assert peer.peer_of == "copies"
    facts = peer.run(Workbench(tmp_path, 200)).facts
    assert facts["recall"] > 0.9
    assert facts["precision"] < 0.95  # 20 of 1,000 are renumbered: other problems, and as similar
