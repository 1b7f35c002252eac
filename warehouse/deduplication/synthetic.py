"""Synthetic statements with planted copies, to measure deduplication where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from warehouse.identity import content_hash

_SYLLABLES = "ba be bi bo bu da de di do du fa fe fi ga ge go ka ke ki ko la le li lo ma me mi mo na ne no pa pe po"
_OPENINGS = ("Find", "Determine", "Compute", "Prove that", "Show that", "Let us evaluate", "Suppose that")
_LINKS = ("the", "of", "a", "such that", "for", "where", "in", "with", "then", "that", "is", "on", "to", "which")


@dataclass(frozen=True)
class Planted:
    """Synthetic problem records and what was planted in them.

    Attributes
    ----------
    records : list of dict
        Problem records.
    reworded : list of (str, str)
        Ids of an original and its copy with some words changed; numbers and formulas are the same.
    renumbered : list of (str, str)
        Ids of an original and its copy with one number changed: another problem.
    """

    records: list[dict[str, Any]]
    reworded: list[tuple[str, str]]
    renumbered: list[tuple[str, str]]


def synthetic_problems(
    count: int, reworded: float = 0.06, renumbered: float = 0.02, seed: int = 7, vocabulary: int = 20_000
) -> Planted:
    """Make statements of 25 to 70 words with formulas, and plant copies among them.

    Parameters
    ----------
    count : int
        Statements in all, copies included.
    reworded, renumbered : float
        Shares of copies.
    seed : int
        The same seed gives the same statements.
    vocabulary : int
        Number of content words; they follow Zipf's law as words of texts do.

    Returns
    -------
    Planted
        One to four words of a reworded copy are replaced, dropped or added, so that similarities around the
        threshold occur on both sides of it.
    """
    draw = np.random.default_rng(seed)
    words = _words(vocabulary, draw)
    frequency = 1 / np.arange(1, vocabulary + 1)
    frequency /= frequency.sum()
    n_reworded, n_renumbered = round(count * reworded), round(count * renumbered)
    n_originals = count - n_reworded - n_renumbered
    lengths = draw.integers(25, 71, n_originals)
    drawn = words[draw.choice(vocabulary, int(lengths.sum()), p=frequency)]
    statements = [_statement(part.tolist(), draw) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
    sources = draw.permutation(n_originals)[: n_reworded + n_renumbered]
    pairs: dict[str, list[tuple[str, str]]] = {"reworded": [], "renumbered": []}
    for place, original in enumerate(sources.tolist()):
        kind = "reworded" if place < n_reworded else "renumbered"
        change = _reworded if kind == "reworded" else _renumbered
        pairs[kind].append((_id(original), _id(len(statements))))
        statements.append(change(statements[original], words, draw))
    texts = [" ".join(statement) + "." for statement in statements]
    records = [_record(place, text) for place, text in enumerate(texts)]
    return Planted(records, pairs["reworded"], pairs["renumbered"])


def _words(count: int, draw: np.random.Generator) -> np.ndarray[Any, np.dtype[np.str_]]:
    syllables = np.array(_SYLLABLES.split())
    made: dict[str, None] = {}
    while len(made) < count:
        picked = syllables[draw.integers(0, len(syllables), (count, 4))]
        made.update(dict.fromkeys("".join(row) for row in picked.tolist()))
    return np.array(list(made)[:count])


def _statement(content: list[str], draw: np.random.Generator) -> list[str]:
    """Content words among link words, with two to four formulas."""
    links = draw.integers(0, 3 * len(_LINKS), len(content)).tolist()
    text = [_OPENINGS[draw.integers(len(_OPENINGS))]]
    for word, link in zip(content, links, strict=True):
        text += [_LINKS[link], word] if link < len(_LINKS) else [word]
    numbers = draw.integers(2, 2000, (4, 3)).tolist()
    for a, b, c in numbers[: draw.integers(2, 5)]:
        text.insert(int(draw.integers(1, len(text))), f"${a}x^{{{b % 9 + 2}}}+{b}y={c}$")
    return text


def _reworded(
    statement: list[str], words: np.ndarray[Any, np.dtype[np.str_]], draw: np.random.Generator
) -> list[str]:
    changed = list(statement)
    for _ in range(int(draw.integers(1, 5))):
        places = [place for place, word in enumerate(changed) if word[0] != "$"]
        place = places[draw.integers(len(places))]
        fresh, way = str(words[draw.integers(len(words))]), draw.integers(3)
        changed[place : place + 1] = [[fresh], [], [changed[place], fresh]][way]
    return changed


def _renumbered(statement: list[str], words: Any, draw: np.random.Generator) -> list[str]:
    changed = list(statement)
    places = [place for place, word in enumerate(changed) if word[0] == "$"]
    place = places[draw.integers(len(places))]
    head, _, right = changed[place].rpartition("=")
    changed[place] = f"{head}={int(right[:-1]) + 1}$"
    return changed


def _id(place: int) -> str:
    return f"synthetic/{place:07d}"


def _record(place: int, statement: str) -> dict[str, Any]:
    return {
        "problem_id": _id(place),
        "source": "synthetic",
        "statement": statement,
        "solution": None,
        "answer": None,
        "language": None,
        "metadata": None,
        "content_hash": content_hash(statement, None),
    }
