"""Best-match averages of whole tiles of set pairs, for statistics that need every pair.

For a tile of sets x against a tile of sets y two sums are needed, and each is a product of a sparse and a dense
matrix: "topics of y" times "best match of a topic in x", and the mirror image. Similarities lie on a grid of 2^-20
(:mod:`udfs.lin`), so the sums carry no rounding error whatever the tiling: float32 holds up to 16 terms, tiles with
larger sets are summed in float64. Against the float64 definition a value is off by at most 2^-21.

Sets without a common branch of the ontology have similarity 0; tiles are cut so that most such pairs are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from udfs.bma_index import sum_type
from udfs.bma_space import BestMatches, IntArray, SetSpace
from udfs.ordered_map import ordered_map

TILE_SETS = 700
"""No power of two: transposed tiles with such a stride would fight for the same cache lines."""

Floats = npt.NDArray[np.floating]


class Tile:
    """A run of sets as the y side of a tile pair: largest sets first, so that the k-th topics form a prefix."""

    def __init__(self, space: SetSpace, sets: IntArray) -> None:
        order = np.argsort(-space.sizes[sets], kind="stable")
        self.sets = sets[order]
        self.order = order
        self.sizes = space.sizes[self.sets]
        self.largest = int(self.sizes[0])
        starts, positions = space.members(self.sets)
        self.columns = [
            positions[starts[: int(np.count_nonzero(self.sizes > place))] + place] for place in range(self.largest)
        ]
        self.membership = space.membership(self.sets, np.float32)
        self.branches = space.branches(self.sets)


class TileRows:
    """A run of sets as the x side: everything that does not depend on y, computed once."""

    def __init__(self, space: SetSpace, sets: IntArray, buffer: BestMatches) -> None:
        starts, positions = space.members(sets)
        self.sizes = space.sizes[sets]
        self.largest = int(self.sizes.max())
        self.branches = space.branches(sets)
        topics, local = np.unique(positions, return_inverse=True)
        rows, row_of_position = space.similarities.rows(topics)
        self._best = np.ascontiguousarray(buffer.fill(starts, positions, rows, row_of_position).T)
        self._similarity = np.ascontiguousarray(rows[row_of_position[topics]].T)
        ones = np.ones(len(local), dtype=np.float32)
        self._membership = sp.csr_array((ones, local, starts), shape=(len(sets), len(topics)))

    def shares_branch(self, tile: Tile) -> bool:
        """Whether any similarity to the sets of `tile` can differ from 0."""
        return bool(np.any(self.branches & tile.branches))

    def sums(self, tile: Tile) -> Floats:
        """Sums of the best matches in both directions, shape (n_x, n_y): |x| + |y| times the average."""
        kind = sum_type(self.largest + tile.largest)
        column_sums = tile.membership.astype(kind, copy=False) @ self._best.astype(kind, copy=False)
        best = self._similarity.take(tile.columns[0], axis=0)
        for column in tile.columns[1:]:
            head = best[: len(column)]
            np.maximum(head, self._similarity.take(column, axis=0), out=head)
        row_sums = self._membership.astype(kind, copy=False) @ np.ascontiguousarray(best.T, dtype=kind)
        row_sums += column_sums.T
        return np.asarray(row_sums)

    def averages(self, tile: Tile, unit: float = 1.0) -> Floats:
        """Best-match averages, shape (n_x, n_y), in multiples of `unit` (a power of two, so nothing is rounded)."""
        averages = self.sums(tile)
        kind = averages.dtype.type
        sizes = (self.sizes * unit).astype(kind)[:, None]
        bounds = np.flatnonzero(np.diff(tile.sizes, prepend=0, append=0))
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            averages[:, start:stop] /= sizes + kind(tile.sizes[start] * unit)
        return averages


def by_branch(space: SetSpace, sets: IntArray) -> IntArray:
    """An order of the sets in which tiles share few branches with other tiles, and members within."""
    starts, positions = space.members(sets)
    branch = space.similarities.branch_start[positions]
    lowest, highest = np.minimum.reduceat(branch, starts[:-1]), np.maximum.reduceat(branch, starts[:-1])
    return np.asarray(np.lexsort((positions[starts[:-1]], highest, lowest, space.sizes[sets] > 8)))


def bma_rows(space: SetSpace, sets: npt.NDArray[np.integer], *, workers: int = 2) -> npt.NDArray[np.float32]:
    """Best-match averages of some sets with all sets.

    Parameters
    ----------
    space : SetSpace
    sets : integer array, shape (n,)
        Set numbers; repeats are fine. Pass a few thousand at most: the result takes 4 n n_sets bytes.
    workers : int
        Threads.

    Returns
    -------
    float32 array, shape (n, n_sets)
        In [0, 1], within 2^-20 of the float64 definition and the same whatever is computed beside it. To decide
        whether a pair reaches a threshold use :func:`udfs.bma_blocks.partners_of_sets`, which is exact.
    """
    averages = np.zeros((len(sets), len(space.sets)), dtype=np.float32)
    fill_rows(space, sets, averages, workers=workers)
    return averages


def fill_rows(
    space: SetSpace,
    sets: npt.NDArray[np.integer],
    out: npt.NDArray[np.float32] | npt.NDArray[np.int32],
    *,
    unit: float = 1.0,
    workers: int = 2,
    by_set: bool = True,
) -> None:
    """Write the averages of some sets with all sets, in multiples of `unit`, into `out`, shape (n, n_sets).

    An integer array takes them rounded down. Columns are set numbers, or with ``by_set=False`` places in
    :func:`tile_order`, which saves sorting every row.
    """
    if not out.size:
        return
    rows = np.asarray(sets, dtype=np.int64)
    tiles, _ = _all_tiles(space)
    place = np.argsort(tile_order(space))

    def work(run: IntArray) -> None:
        block = TileRows(space, rows[run], BestMatches(space, len(run)))
        # Whole tiles side by side first, then every row into the order of the sets: a few times as fast as
        # scattering each tile.
        row_in_tiles = np.zeros((len(run), len(place)), dtype=out.dtype)
        start = 0
        for tile in tiles:
            stop = start + len(tile.sets)
            if block.shares_branch(tile):
                row_in_tiles[:, start:stop] = block.averages(tile, unit)
            start = stop
        for row, values in zip(run.tolist(), row_in_tiles, strict=True):
            if by_set:
                values.take(place, out=out[row], mode="clip")
            else:
                out[row] = values

    for _ in ordered_map(work, _runs(by_branch(space, rows)), workers):
        pass


def tiles_of(space: SetSpace) -> list[Tile]:
    """All sets as tiles, runs of :func:`by_branch`."""
    return _all_tiles(space)[0]


def tile_order(space: SetSpace) -> IntArray:
    """The sets in the order in which tiles hold them, shape (n_sets,)."""
    return _all_tiles(space)[1]


def _all_tiles(space: SetSpace) -> tuple[list[Tile], IntArray]:
    """All sets as tiles, and their numbers in that order; kept, because callers ask for a few rows at a time."""
    key = ("tiles", TILE_SETS)
    if key not in space.prepared:
        everything = np.arange(len(space.sets))
        tiles = [Tile(space, run) for run in _runs(everything[by_branch(space, everything)])]
        space.prepared[key] = tiles, np.concatenate([everything[:0], *(tile.sets for tile in tiles)])
    prepared: tuple[list[Tile], IntArray] = space.prepared[key]
    return prepared


def _runs(sets: IntArray) -> Iterator[IntArray]:
    return (sets[start : start + TILE_SETS] for start in range(0, len(sets), TILE_SETS))
