"""A progress bar over kernel blocks: pairs a second and time to go, on stderr where someone is watching."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from tqdm import tqdm


class Numbered(Protocol):
    """A block that knows its number."""

    @property
    def block(self) -> int: ...


Block = TypeVar("Block", bound=Numbered)


def progress(
    blocks: Iterable[Block], name: str, n_blocks: int | None = None, n_pairs: int | None = None
) -> Iterator[Block]:
    """Yield `blocks` while a bar shows how many are done and the pairs compared a second.

    Parameters
    ----------
    blocks : iterable
        Blocks with a number, ascending; they may begin above 0. Those that have ``n_blocks`` and ``n_compared``
        speak for themselves.
    name : str
    n_blocks, n_pairs : int, optional
        How many blocks there are, and the pairs all of them compare, for blocks that do not say so.
    """
    with _bar(name, "block", n_blocks) as bar:
        compared = 0.0
        for number, block in enumerate(blocks, 1):
            bar.total = getattr(block, "n_blocks", n_blocks)
            compared += getattr(block, "n_compared", n_pairs / n_blocks if n_pairs and n_blocks else 0)
            # Blocks that an earlier run finished were not computed now and say nothing about the time to go.
            bar.initial = block.block + 1 - number
            bar.update(block.block + 1 - bar.n)
            if compared and not bar.disable:
                bar.set_postfix_str(f"{compared / (bar.format_dict['elapsed'] or 1e-9):.3g} pairs/s", refresh=False)
            yield block


def counting(name: str, n_pairs: int | None = None) -> Callable[[int, int], None]:
    """Return a callback ``(done, in all)`` that draws a bar; `n_pairs` are compared when all is done."""
    bars: list[Any] = []

    def show(done: int, total: int) -> None:
        if not bars:
            bars.append(_bar(name, "block", total))
        bar = bars[0]
        bar.update(done - bar.n)
        if n_pairs and not bar.disable:
            rate = n_pairs * done / total / (bar.format_dict["elapsed"] or 1e-9)
            bar.set_postfix_str(f"{rate:.3g} pairs/s", refresh=False)
        if done >= total:
            bar.close()

    return show


def _bar(name: str, unit: str, total: int | None) -> Any:
    quiet = not sys.stderr.isatty() and "SABER_PROGRESS" not in os.environ
    return tqdm(desc=name, unit=unit, disable=quiet, mininterval=1.0, total=total)
