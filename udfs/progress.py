"""A progress bar over kernel blocks: pairs a second and time to go, on stderr where someone is watching."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from tqdm import tqdm


class CountedBlock(Protocol):
    """What a kernel's block tells about the work behind it."""

    @property
    def block(self) -> int: ...
    @property
    def n_blocks(self) -> int: ...
    @property
    def n_compared(self) -> int: ...


Block = TypeVar("Block", bound=CountedBlock)


def progress(blocks: Iterable[Block], name: str) -> Iterator[Block]:
    """Yield `blocks` while a bar shows how many are done and how many pairs have been compared."""
    quiet = not sys.stderr.isatty() and "SABER_PROGRESS" not in os.environ
    with tqdm(desc=name, unit="block", disable=quiet, mininterval=1.0) as bar:
        compared = 0
        for block in blocks:
            bar.total = block.n_blocks
            compared += block.n_compared
            bar.update(block.block + 1 - bar.n)
            elapsed = bar.format_dict["elapsed"] or 1e-9
            bar.set_postfix_str(f"{compared / elapsed:.3g} pairs/s", refresh=False)
            yield block
