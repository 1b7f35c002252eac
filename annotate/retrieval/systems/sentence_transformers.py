"""Dense models of the library sentence-transformers, run in this process."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from annotate.retrieval.base import Context
from annotate.retrieval.dense.cutting import room
from annotate.retrieval.dense.encoder import Encoded, cut_text
from annotate.retrieval.dense.profile import IN_PROCESS
from annotate.retrieval.dense.system import DenseSystem
from annotate.retrieval.systems.dense import profile_named
from warehouse.errors import SaberError

if TYPE_CHECKING:
    from typing import Self

    from warehouse.settings import Settings

_WEIGHTS = (".safetensors", ".bin", ".onnx")


@dataclass(frozen=True)
class SentenceTransformers(DenseSystem):
    """Cosine of the vectors of a sentence-transformers model.

    Code that comes with a model is never run.

    Attributes
    ----------
    provider
        Name of a profile ``[providers.NAME]`` of kind ``sentence-transformers``.
    model
        Folder or name of the model.
    revision, device
        Version of the model; where it runs, empty = as the library chooses.
    context_tokens
        Tokens of a piece, special ones included; 0 = the model's longest.
    batch
        Pieces encoded together.
    """

    name: ClassVar[str] = "sentence-transformers"
    provider: str = ""
    model: str = ""
    revision: str = ""
    device: str = ""
    context_tokens: int = 0
    batch: int = 32

    @classmethod
    def configured(cls, settings: Settings, parameters: Mapping[str, Any]) -> Self:
        """Lay the parameters over the profile's values."""
        values: dict[str, Any] = {}
        if parameters.get("provider"):
            profile = profile_named(settings, parameters["provider"], IN_PROCESS)
            shared = ("model", "revision", "device", "context_tokens", "batch", "query_prefix", "document_prefix")
            values = {key: getattr(profile, key) for key in shared}
        system = cls(**{**values, **parameters})
        if not system.model:
            raise SaberError(
                "The system sentence-transformers needs a model: --param model=FOLDER, or a profile "
                '[providers.NAME] with kind = "sentence-transformers".'
            )
        return system

    @property
    def title(self) -> str:
        """The profile's name, else the model's."""
        return self.provider or self.model.rstrip("/").rpartition("/")[2]

    @property
    def parameters(self) -> dict[str, Any]:
        """What vectors depend on; not where and in how large batches they are made."""
        shown = super().parameters
        del shown["device"], shown["batch"]
        return shown

    def encoder(self, context: Context) -> LibraryEncoder:
        """Load the model."""
        return LibraryEncoder(self)


class LibraryEncoder:
    """Pieces are texts."""

    width: int | None

    def __init__(self, system: SentenceTransformers) -> None:
        try:
            import sentence_transformers
        except ImportError as error:
            raise SaberError(
                f"This system needs the package sentence-transformers ({error}). Install the extra: "
                "pip install 'saber-warehouse[sentence-transformers]'"
            ) from error
        try:
            self._model = sentence_transformers.SentenceTransformer(
                system.model,
                revision=system.revision or None,
                device=system.device or None,
                trust_remote_code=False,
            )
        except (OSError, ValueError, ImportError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SaberError(f"The model {system.model} cannot be loaded: {reason}") from error
        self._batch = system.batch
        longest = self._model.max_seq_length
        context_tokens = system.context_tokens or longest or 0
        if system.context_tokens and longest and system.context_tokens > longest:
            raise SaberError(f"context_tokens of {system.title} must be at most {longest}, the model's longest.")
        self._context_tokens = int(context_tokens)
        # Version 6 of the library has another name for it.
        names = ("get_embedding_dimension", "get_sentence_embedding_dimension")
        self.width = next(getattr(self._model, name) for name in names if hasattr(self._model, name))()
        self.identity: Mapping[str, Any] = {
            "model": system.model,
            "revision": system.revision,
            "weights": _digest(Path(system.model)),
            "context_tokens": self._context_tokens,
        }

    def pieces(self, text: str, prefix: str) -> list[str]:
        """Cut at the borders of the model's tokens."""
        if not self._context_tokens:
            return [prefix + text]
        special = self._model.tokenizer.num_special_tokens_to_add(pair=False)
        size = room(self._context_tokens, special + len(self._spans(prefix)))
        return [prefix + piece for piece in cut_text(text, self._spans, size)]

    def encode(self, pieces: Sequence[str]) -> Iterator[Encoded]:
        """Encode the pieces in batches, longest first: texts of like length need little padding."""
        order = sorted(range(len(pieces)), key=lambda at: (-len(pieces[at]), at))
        for start in range(0, len(order), self._batch):
            chosen = order[start : start + self._batch]
            begun = time.perf_counter()
            # An empty prompt keeps the library from putting the model's default before our prefixes.
            vectors = self._model.encode(
                [pieces[at] for at in chosen],
                prompt="",
                batch_size=self._batch,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            share = (time.perf_counter() - begun) / len(chosen)
            for at, vector in zip(chosen, vectors, strict=True):
                yield Encoded(at, np.asarray(vector, dtype=np.float32), share)

    def _spans(self, text: str) -> list[tuple[int, int]]:
        found = self._model.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, truncation=False)
        return [(int(start), int(end)) for start, end in found["offset_mapping"]]


def _digest(folder: Path) -> str:
    """Hash the weights of a model in a folder, so that other weights are another model; "" for a name."""
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _WEIGHTS:
            digest.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as handle:
                digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()[:12]


SYSTEMS = (SentenceTransformers,)
