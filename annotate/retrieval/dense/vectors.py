"""The cache of vectors: Parquet files under ``home/vectors``, keyed by model and text.

One folder a model (the hash of everything its vectors depend on), many files in it, each written to a temporary
name, synced and renamed. A file that cannot be read whole, or that belongs to another model, is named and left
out; its texts are embedded again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.cli.common import note
from warehouse.identity import variant_hash

FloatMatrix = npt.NDArray[np.float32]
_MARK = b"saber.vectors"


def text_key(text: str, prefix: str) -> str:
    """Hash a text with the prefix it was embedded under, exactly as they stand: 32 hexadecimal digits."""
    joined = f"{prefix}\x1f{text}"
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True)
class TextVector:
    """The vector of one text.

    Attributes
    ----------
    vector
        Mean of the vectors of its pieces, shape (width,), not scaled.
    n_pieces
        Into how many pieces the text was cut.
    seconds
        Time its embedding took.
    """

    key: str
    vector: npt.NDArray[np.float32]
    n_pieces: int
    seconds: float


class VectorStore:
    """Vectors of one model.

    Parameters
    ----------
    home
        The warehouse home.
    label
        The system's name, for people who look into the folder.
    identity
        Everything the vectors depend on.
    """

    def __init__(self, home: Path, label: str, identity: Mapping[str, Any]) -> None:
        shown = re.sub(r"[^A-Za-z0-9._-]+", "-", label)[:60].strip(".") or "model"
        self.folder = home / "vectors" / f"{shown}-{variant_hash(identity)}"
        self._identity = json.dumps(identity, sort_keys=True).encode()

    def read(self, keys: Iterable[str]) -> Iterator[TextVector]:
        """Yield the cached vectors of the texts called for, each once."""
        wanted = set(keys)
        for path in sorted(self.folder.glob("*.parquet")) if wanted else []:
            try:
                if (pq.read_metadata(path).metadata or {}).get(_MARK) != self._identity:
                    raise ValueError("it belongs to another model")
                table = pq.read_table(path)
            except (OSError, ValueError, pa.ArrowException) as error:
                note(f"vectors {path} left out ({str(error).splitlines()[0]}): its texts are embedded again")
                continue
            chosen = table.filter(pc.is_in(table["text_hash"], pa.array(sorted(wanted), pa.string())))
            for vector in _from_table(chosen):
                if vector.key in wanted:
                    wanted.discard(vector.key)
                    yield vector

    def write(self, vectors: Sequence[TextVector]) -> None:
        """Land vectors of equal width in a new file; they are durable when this returns."""
        if not vectors:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        matrix = np.stack([vector.vector for vector in vectors]).astype(np.float32)
        table = pa.table(
            {
                "text_hash": pa.array([vector.key for vector in vectors], pa.string()),
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(matrix.ravel()), matrix.shape[1]),
                "n_pieces": pa.array([vector.n_pieces for vector in vectors], pa.int32()),
                "seconds": pa.array([vector.seconds for vector in vectors], pa.float64()),
            }
        ).replace_schema_metadata({_MARK: self._identity})
        path = self.folder / f"{secrets.token_hex(8)}.parquet"
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            pq.write_table(table, temporary, compression="zstd")
            with temporary.open("rb") as handle:
                os.fsync(handle.fileno())
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _from_table(table: pa.Table) -> Iterator[TextVector]:
    if not table.num_rows:
        return
    lists = table["vector"].combine_chunks()
    matrix = lists.flatten().to_numpy(zero_copy_only=False).reshape(table.num_rows, -1).astype(np.float32)
    rows = zip(
        table["text_hash"].to_pylist(), table["n_pieces"].to_pylist(), table["seconds"].to_pylist(), strict=True
    )
    for at, (key, n_pieces, seconds) in enumerate(rows):
        yield TextVector(key, matrix[at], n_pieces, seconds)
