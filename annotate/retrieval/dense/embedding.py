"""From texts to unit vectors: cut, encode what is not cached, average, check, cache, scale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from annotate.retrieval.dense.encoder import Encoded, Encoder, EncodingError
from annotate.retrieval.dense.vectors import FloatMatrix, TextVector, VectorStore, text_key
from warehouse.errors import SaberError

_TEXTS_PER_FILE = 2048
_SHOWN = 5


class Wanted(NamedTuple):
    """One text to embed, under the prefix of its role, and the problem it belongs to."""

    problem_id: str
    text: str
    prefix: str

    @property
    def key(self) -> str:
        """Key of the text in the cache."""
        return text_key(self.text, self.prefix)


@dataclass(frozen=True)
class Embedded:
    """Unit vectors of distinct texts.

    Attributes
    ----------
    matrix
        Shape (distinct texts, width), rows of length 1.
    row
        {key of a text: its row}.
    seconds
        Time each text's embedding took when it was made, shape (distinct texts,).
    """

    matrix: FloatMatrix
    row: Mapping[str, int]
    seconds: npt.NDArray[np.float64]


def embed(wanted: Sequence[Wanted], encoder: Encoder, store: VectorStore, label: str) -> Embedded:
    """Return unit vectors of texts, from the cache where they are in it.

    A text over the encoder's context is the plain mean of the vectors of its non-overlapping pieces (SABER-Math,
    appendix on running embedding models), then scaled to length 1 for the cosine.

    Raises
    ------
    SaberError
        For vectors that are zero, not finite or of another width, naming the problems. What was embedded before
        is kept.
    """
    distinct: dict[str, Wanted] = {}
    problems: dict[str, list[str]] = defaultdict(list)
    for one in wanted:
        distinct.setdefault(one.key, one)
        problems[one.key].append(one.problem_id)
    found = {vector.key: vector for vector in store.read(distinct)}
    absent = [one for key, one in distinct.items() if key not in found]
    width = encoder.width or next((len(vector.vector) for vector in found.values()), None)
    width = _check(found.values(), width, problems, label)
    waiting: list[TextVector] = []
    try:
        for vector in _encoded(absent, encoder, label):
            width = _check([vector], width, problems, label)
            found[vector.key] = vector
            waiting.append(vector)
            if len(waiting) >= _TEXTS_PER_FILE:
                store.write(waiting)
                waiting = []
    finally:
        store.write(waiting)  # a model's work is dear: what it gave before a failure is kept
    missing = [key for key in distinct if key not in found]
    if missing:
        raise SaberError(f"{label} gave no vector for {_ids(missing, problems)}. Run the same command again.")
    keys = list(distinct)
    matrix = np.stack([found[key].vector for key in keys]) if keys else np.empty((0, width or 1), np.float32)
    unit = (matrix / np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)).astype(np.float32)
    return Embedded(unit, {key: row for row, key in enumerate(keys)}, np.array([found[key].seconds for key in keys]))


def _encoded(absent: Sequence[Wanted], encoder: Encoder, label: str) -> Iterator[TextVector]:
    """Yield the mean vector of each text as soon as all of its pieces are there."""
    owners: list[int] = []
    pieces = []
    for at, one in enumerate(absent):
        cut = encoder.pieces(one.text, one.prefix)
        pieces += cut
        owners += [at] * len(cut)
    counts = np.bincount(np.array(owners, dtype=np.int64), minlength=len(absent))
    vectors: dict[int, list[tuple[int, npt.NDArray[np.float32], float]]] = defaultdict(list)
    with tqdm(
        total=len(pieces), desc=f"{label}: embedding", unit="text", leave=False, disable=None if pieces else True
    ) as progress:
        for position, vector, seconds in _named(encoder.encode(pieces), absent, owners, label):
            at = owners[position]
            vectors[at].append((position, vector, seconds))
            progress.update()
            if len(vectors[at]) == counts[at]:
                # In the order of the text: sums of floats depend on their order, arrival does not repeat.
                parts = sorted(vectors.pop(at), key=lambda part: part[0])
                total = sum(part[2] for part in parts)
                yield TextVector(absent[at].key, mean_vector([part[1] for part in parts]), len(parts), total)


def _named(
    encoded: Iterator[Encoded], absent: Sequence[Wanted], owners: Sequence[int], label: str
) -> Iterator[Encoded]:
    """Pass vectors on; say of which problems the texts were that the model failed at."""
    try:
        yield from encoded
    except EncodingError as error:
        keys = {absent[owners[position]].key: None for position in error.positions}
        problems = {one.key: [one.problem_id] for one in absent if one.key in keys}
        raise SaberError(f"{label}: no vectors for {_ids(list(keys), problems)}: {error.reason}") from error


def mean_vector(vectors: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """Return the elementwise mean of the vectors of a text's pieces, shape (width,).

    Vectors of unequal width have no mean: the first of another width than the first vector's is returned as it
    is, to be refused by its width.
    """
    for vector in vectors:
        if vector.shape != vectors[0].shape:
            return vector
    mean = np.mean(np.stack(vectors).astype(np.float64), axis=0)
    return np.asarray(mean, dtype=np.float32)


def _check(
    vectors: Iterable[TextVector], width: int | None, problems: Mapping[str, Sequence[str]], label: str
) -> int | None:
    zero, broken, wrong = [], [], []
    for vector in vectors:
        values = vector.vector
        width = width or len(values)
        if values.ndim != 1 or len(values) != width:
            wrong.append(vector.key)
        elif not np.isfinite(values).all():
            broken.append(vector.key)
        elif not values.any():
            zero.append(vector.key)
    for keys, what in ((wrong, f"of another width than {width}"), (broken, "not finite"), (zero, "zero")):
        if keys:
            raise SaberError(f"{label} gave vectors that are {what}, for {_ids(keys, problems)}. Mend the model.")
    return width


def _ids(keys: Sequence[str], problems: Mapping[str, Sequence[str]]) -> str:
    ids = sorted({problem for key in keys for problem in problems[key]})
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more
