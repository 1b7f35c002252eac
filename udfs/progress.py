"""A progress bar over kernel blocks: pairs a second and time to go, on stderr where someone is watching."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from tqdm import tqdm


class Numbered(Protocol):
    """A block that knows its number."""

    @property
    def block(self) -> int: ...


Block = TypeVar("Block", bound=Numbered)


def progress(blocks: Iterable[Block], name: str, n_blocks: int | None = None) -> Iterator[Block]:
    """Yield `blocks` while a bar shows how many are done and, where they tell, the pairs compared a second."""
    quiet = not sys.stderr.isatty() and "SABER_PROGRESS" not in os.environ
    with tqdm(desc=name, unit="block", disable=quiet, mininterval=1.0, total=n_blocks) as bar:
        compared = 0
        for block in blocks:
            bar.total = getattr(block, "n_blocks", n_blocks)
            compared += getattr(block, "n_compared", 0)
            bar.update(block.block + 1 - bar.n)
            if compared and not quiet:
                bar.set_postfix_str(f"{compared / (bar.format_dict['elapsed'] or 1e-9):.3g} pairs/s", refresh=False)
            yield block
