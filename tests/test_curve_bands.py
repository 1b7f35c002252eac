"""The curve band by band: the whole of it in one corpus, and no more than the thresholds need in another."""

import numpy as np
import pytest

from udfs import curve_bands
from udfs.curve_bands import bands, curve_blocks
from udfs.similarity_levels import SimilarityRows
from udfs.threshold_curve import choose_thresholds, threshold_curve

SHARES = np.array([0.5, 0.8, 0.92, 0.97, 0.991, 0.999])
DOMAINS = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def first_band(monkeypatch):
    monkeypatch.setattr(curve_bands, "LOWEST_OF_FIRST_BAND", 0.9)


@pytest.fixture(scope="module")
def curve():
    """120 problems in three domains, the third of which never has enough eligible problems."""
    rng = np.random.default_rng(8)
    n = 120
    topic, summary = (rng.random((n, n)) for _ in range(2))
    topic, summary = (topic + topic.T) / 2, (summary + summary.T) / 2
    membership = np.stack([np.arange(n) % 2 == 0, np.arange(n) % 3 == 0, np.arange(n) > 116], axis=1)
    grids = [np.tile(np.quantile(m, SHARES), (3, 1)) for m in (topic, summary)]
    signals = [SimilarityRows(lambda rows, m=m: m[rows].copy()) for m in (topic, summary)]
    return (*signals, membership), grids


def blocks(curve, **options):
    arguments, grids = curve
    return list(curve_blocks(*arguments, DOMAINS, SHARES, *grids, 1, **options))


def as_rows(found):
    return sorted(
        (row for _, b in found for row in zip(*(column.to_pylist() for column in b.columns), strict=True)),
        key=lambda row: row[:2],
    )


def expected(curve):
    arguments, grids = curve
    return threshold_curve(*arguments, *grids, 1)


def test_bands_go_down_and_hold_every_level_once():
    assert [band.tolist() for band in bands(SHARES, whole=False)] == [[2, 3, 4, 5], [0, 1]]
    assert [band.tolist() for band in bands(SHARES, whole=True)] == [[0, 1, 2, 3, 4, 5]]
    assert [band.tolist() for band in bands(np.array([0.7, 0.8]), whole=False)] == [[0, 1]]


def test_the_whole_curve_is_that_of_one_pass(curve):
    counts = expected(curve)
    rows = as_rows(blocks(curve, min_eligible=None))
    assert [row[4] for row in rows] == counts.ravel().tolist()
    assert [row[:2] for row in rows] == [(domain, p) for domain in DOMAINS for p in SHARES.tolist()]


def test_no_domain_is_counted_below_the_band_of_its_level(curve):
    counts, (_, grids) = expected(curve), curve
    enough = 22
    chosen = choose_thresholds(counts, SHARES, *grids, enough).level
    assert chosen[2] is None
    assert chosen[:2] == (2, 1)  # one in the first band, one in the second
    rows = as_rows(blocks(curve, min_eligible=enough))
    for number, domain in enumerate(DOMAINS):
        mine = [row[4] for row in rows if row[0] == domain]
        assert mine[2:] == counts[number, 2:].tolist()
        assert mine[:2] == ([None, None] if number == 0 else counts[number, :2].tolist())
    kept = np.array([[-1 if row[4] is None else row[4] for row in rows]]).reshape(counts.shape)
    assert choose_thresholds(kept, SHARES, *grids, enough) == choose_thresholds(counts, SHARES, *grids, enough)


@pytest.mark.parametrize("start", [1, 2])
def test_a_resumed_curve_knows_what_earlier_bands_found(curve, start):
    whole = blocks(curve, min_eligible=22)
    late = blocks(curve, min_eligible=22, earlier=[batch for _, batch in whole[:start]], start_block=start)
    assert as_rows(late) == as_rows(whole[start:])
