"""Copies in another language: words differ, but numbers, formulas and the answer stay.

A guess to look at, never a reason to merge.
"""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warehouse.deduplication.shingles import mix
from warehouse.deduplication.statements import Statements
from warehouse.deduplication.tokens import Hashes, token_hash

_WIDEST = 200
_FORMULA_TOKENS = 8
_COVERED, _ALIKE = 0.8, 0.5
# Two common numbers of one digit are an accident; three, or one of more digits, tell something.
_SMALL = frozenset(token_hash(str(number)) for number in range(10))


class Translation(NamedTuple):
    """Two statements in different languages with the same numbers or formulas."""

    first: int
    second: int
    similarity: float


class Tongue(NamedTuple):
    """What is known of a statement's language: the script of its letters, and its name if the record has one."""

    script: str
    name: str

    def differs(self, other: Tongue) -> bool:
        """Whether two statements are surely in different languages."""
        named = bool(self.name and other.name and self.name != other.name)
        return named or bool(self.script and other.script and self.script != other.script)


def tongue_of(record: Mapping[str, Any]) -> Tongue:
    """The language of a record."""
    return Tongue(script_of(record["statement"]), str(record.get("language") or "").casefold()[:2])


def script_of(text: str) -> str:
    """The script most letters of a text belong to ("LATIN", "CJK", "BENGALI", ...); "" without letters."""
    sample = text[:400]
    if sample.isascii():
        return "LATIN"
    counts = Counter(
        unicodedata.name(letter, "?").split(" ")[0].split("-")[0] for letter in sample if letter.isalpha()
    )
    japanese = counts.pop("HIRAGANA", 0) + counts.pop("KATAKANA", 0)
    if japanese:
        counts["JAPANESE"] = japanese + counts.pop("CJK", 0)
    return counts.most_common(1)[0][0] if counts else ""


def translations(statements: Statements, members: NDArray[np.int64]) -> list[Translation]:
    """Find pairs of statements in different languages that share their answer and numbers, or their formulas.

    Parameters
    ----------
    members : (M,) int64
        The statements to look at.

    Notes
    -----
    At least one of the pair is outside the most common language. Two routes: an equal numeric answer, four
    fifths of the fewer numbers common and half of all, one of them telling; or at least eight signs of
    formulas, the same ones. Blocks wider than 200 are passed over.
    """
    tongues = {place: tongue_of(statements.records[place]) for place in members.tolist()}
    counts = Counter(tongues.values())
    if len(counts) < 2:
        return []
    usual = counts.most_common(1)[0][0]
    foreign = [place for place, tongue in tongues.items() if tongue.differs(usual)]
    formulas = _formula_keys(statements)
    blocks: defaultdict[Any, list[int]] = defaultdict(list)
    wanted = {key for place in foreign for key in _keys(statements, formulas, place)}
    for place in tongues if wanted else ():
        for key in _keys(statements, formulas, place):
            if key in wanted:
                blocks[key].append(place)
    found: dict[tuple[int, int], float] = {}
    for block in blocks.values():
        for first, second in combinations(block, 2) if len(block) <= _WIDEST else ():
            if tongues[first].differs(tongues[second]) and (first, second) not in found:
                found[first, second] = _similarity(statements, formulas, first, second)
    return [Translation(*pair, value) for pair, value in sorted(found.items()) if value > 0]


def _formula_keys(statements: Statements) -> Hashes:
    """One hash for each statement's bag of formula signs; 0 for those with few."""
    tokens = statements.tokens
    with np.errstate(over="ignore"):
        signs = np.where(tokens.formula, mix(tokens.plain), np.uint64(0))
        sums = np.concatenate(([np.uint64(0)], np.cumsum(signs, dtype=np.uint64)))
        bags = mix(sums[tokens.starts[1:]] - sums[tokens.starts[:-1]])
    counts = np.concatenate(([0], np.cumsum(tokens.formula)))
    enough = counts[tokens.starts[1:]] - counts[tokens.starts[:-1]] >= _FORMULA_TOKENS
    return np.where(enough, bags, np.uint64(0))


def _keys(statements: Statements, formulas: Hashes, place: int) -> list[Any]:
    answer = statements.answers[place]
    keys: list[Any] = [("formula", int(formulas[place]))] if formulas[place] else []
    if answer is not None:
        keys += [(answer, number) for number in set(_numbers(statements, place)) if number]
    return keys


def _numbers(statements: Statements, place: int) -> Counter[int]:
    tokens = statements.tokens
    own = slice(tokens.starts[place], tokens.starts[place + 1])
    return Counter(tokens.plain[own][tokens.number[own]].tolist())


def _similarity(statements: Statements, formulas: Hashes, first: int, second: int) -> float:
    if formulas[first] and formulas[first] == formulas[second]:
        return 1.0
    one, other = statements.answers[first], statements.answers[second]
    if one is None or one != other:
        return 0.0
    left, right = _numbers(statements, first), _numbers(statements, second)
    common, union = left & right, (left | right).total()
    fewer = min(left.total(), right.total())
    telling = len(common) >= 3 or any(number not in _SMALL for number in common)
    if fewer < 2 or common.total() < _COVERED * fewer or common.total() < _ALIKE * union or not telling:
        return 0.0
    return common.total() / union
