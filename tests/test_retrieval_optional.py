"""Systems whose packages are optional: Approach Zero and sentence-transformers.

The engine's own tests are skipped where pya0 is absent; the library is played by a stand-in of its interface, and
used itself where it is installed.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from retrieval_home import RetrievalHome, scores_of, task_of

from annotate.retrieval.job import configured_systems
from annotate.retrieval.systems.approach_zero import ApproachZero, content_of, keywords_of
from annotate.retrieval.systems.sentence_transformers import SentenceTransformers
from warehouse.errors import SaberError

# --- Approach Zero ---------------------------------------------------------------------------------------

needs_engine = pytest.mark.skipif(
    importlib.util.find_spec("pya0") is None, reason="the package pya0 is not installed"
)
DOCUMENTS = ["Find the roots of $x^2-5x+6=0$.", "Solve $x^2+x-6=0$.", "A triangle of area six", "primes $p < n^2$"]


def test_keywords_are_distinct_formulas_then_words():
    found = [(keyword["str"], keyword["type"]) for keyword in keywords_of(r"Let $x$ and \[y^2\] be $x$, let it Be.")]
    assert found == [("x", "tex"), ("y^2", "tex"), ("let", "term"), ("and", "term"), ("be", "term"), ("it", "term")]


def test_marks_of_the_engine_inside_a_text_are_no_marks():
    assert content_of("a [imath]evil[/imath] $x$").split() == ["a", "evil", "[imath]x[/imath]"]


@needs_engine
def test_the_same_formula_is_nearest_and_what_is_not_found_scores_zero():
    scores = scores_of(ApproachZero(), task_of(DOCUMENTS, ["roots $x^2-5x+6=0$", "triangle", ""], None))
    assert np.argmax(scores[0]) == 0
    assert scores[0][0] > scores[0][1] > scores[0][2] == 0.0
    assert [score > 0 for score in scores[1]] == [False, False, True, False]
    assert scores[2] == [0.0] * 4


@needs_engine
def test_statistics_of_the_candidates_alone_are_others():
    query = ["roots of $x^2-5x+6=0$"]
    corpus = scores_of(ApproachZero(), task_of(DOCUMENTS, query, None, candidates=[[0, 3]]))
    local = scores_of(ApproachZero(), task_of(DOCUMENTS, query, None, idf="candidates", candidates=[[0, 3]]))
    assert len(local[0]) == 2
    assert corpus[0][0] != local[0][0]


@needs_engine
def test_a_query_at_which_the_engine_breaks_down_is_left_out(capsys):
    # Beyond 128 keywords it ends its process; the next query must still be answered.
    system = ApproachZero()
    object.__setattr__(system, "keywords", 1000)
    long = " ".join(f"$x_{{{number}}}$ word{number}" for number in range(150))
    task = task_of(DOCUMENTS, [long, "triangle"], None)
    assert [scored.query.text.problem_id for scored in system.run(task)] == ["q1"]
    assert "broke down at query q0" in capsys.readouterr().err


def test_a_missing_engine_and_too_many_keywords_are_named(tmp_path, monkeypatch):
    settings = RetrievalHome(tmp_path).settings
    with pytest.raises(SaberError, match="1 to 128"):
        configured_systems(["approach-zero"], settings, ["keywords=129"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SaberError, match="pip install pya0"):
        configured_systems(["approach-zero"], settings, [])


# --- sentence-transformers -------------------------------------------------------------------------------


class Words:
    """A tokeniser whose tokens are words, two special ones around every text."""

    def num_special_tokens_to_add(self, pair: bool) -> int:
        return 2

    def __call__(self, text: str, **given: Any) -> dict[str, Any]:
        assert given == {"add_special_tokens": False, "return_offsets_mapping": True, "truncation": False}
        spans, at = [], 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            spans.append((start, at))
        return {"offset_mapping": spans}


class Library:
    """What of the library's model is used; a vector counts words and letters."""

    made: dict[str, Any]

    def __init__(self, model: str, **given: Any) -> None:
        if model == "absent":
            raise OSError("no such model\nand a long story")
        Library.made = {"model": model, **given}
        Library.encoded = []
        self.max_seq_length = 6
        self.tokenizer = Words()

    def get_sentence_embedding_dimension(self) -> int:
        return 2

    def encode(self, texts: list[str], **given: Any) -> np.ndarray:
        assert given["prompt"] == ""  # otherwise the model's default prompt would stand before our prefixes
        assert all(len(text.split()) + 2 <= self.max_seq_length for text in texts)
        Library.encoded.append(list(texts))
        return np.array([[len(text.split()), len(text)] for text in texts], dtype=np.float64)


@pytest.fixture
def library(monkeypatch):
    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = Library  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("library")
def test_long_texts_are_cut_at_the_models_tokens_and_averaged(tmp_path):
    context = RetrievalHome(tmp_path).context()
    system = SentenceTransformers(model="org/model", document_prefix="doc: ", batch=2)
    task = task_of(["one two three four five", "six"], ["seven"], context, "none")
    ((first, second),) = scores_of(system, task)
    assert {piece for batch in Library.encoded for piece in batch} == {
        "doc: one two three",
        "doc: four five",
        "doc: six",
        "seven",
    }
    mean = np.array([3.5, (len("doc: one two three") + len("doc: four five")) / 2])
    query = np.array([1, 5])
    assert first == pytest.approx(mean @ query / np.linalg.norm(mean) / np.linalg.norm(query), rel=1e-6)
    assert second == pytest.approx((2 + 8 * 5) / np.sqrt((4 + 64) * 26), rel=1e-6)
    assert max(map(len, Library.encoded)) == 2


@pytest.mark.usefixtures("library")
def test_code_of_a_model_is_never_run_and_secrets_of_placement_are_no_identity(tmp_path):
    context = RetrievalHome(tmp_path).context()
    system = SentenceTransformers(model="org/model", revision="r1", device="cpu")
    encoder = system.encoder(context)
    assert Library.made == {"model": "org/model", "revision": "r1", "device": "cpu", "trust_remote_code": False}
    assert encoder.identity == {"model": "org/model", "revision": "r1", "weights": "", "context_tokens": 6}
    assert system.parameters.keys().isdisjoint({"device", "batch"})
    assert system.title == "model"


@pytest.mark.usefixtures("library")
def test_other_weights_in_the_same_folder_are_another_model(tmp_path):
    context = RetrievalHome(tmp_path).context()
    folder = tmp_path / "model"
    folder.mkdir()
    digests = []
    for weights in (b"one", b"two"):
        (folder / "model.safetensors").write_bytes(weights)
        digests.append(SentenceTransformers(model=str(folder)).encoder(context).identity["weights"])
    assert digests[0] != digests[1]


@pytest.mark.usefixtures("library")
def test_failures_are_explained(tmp_path):
    context = RetrievalHome(tmp_path).context()
    with pytest.raises(SaberError, match=r"absent cannot be loaded: no such model$"):
        SentenceTransformers(model="absent").encoder(context)
    with pytest.raises(SaberError, match="at most 6"):
        SentenceTransformers(model="m", context_tokens=7).encoder(context)
    with pytest.raises(SaberError, match="Raise context_tokens"):
        SentenceTransformers(model="m", context_tokens=3).encoder(context).pieces("a", "four words of prefix")


def test_a_profile_of_the_library_is_a_system(tmp_path):
    toml = '[providers.local]\nkind = "sentence-transformers"\nmodel = "/models/x"\nquery_prefix = "q: "\n'
    home = RetrievalHome(tmp_path, settings=toml)
    (system,) = configured_systems(["local"], home.settings, [])
    assert system == SentenceTransformers(provider="local", model="/models/x", query_prefix="q: ", batch=64)
    assert system.title == "local"
    with pytest.raises(SaberError, match="is of kind 'sentence-transformers'"):
        configured_systems(["dense"], home.settings, ["provider=local"])
    with pytest.raises(SaberError, match="model=FOLDER"):
        configured_systems(["sentence-transformers"], home.settings, [])


@pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None, reason="sentence-transformers is not installed"
)
def test_the_library_itself(tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    import sentence_transformers
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij", "prime", "number"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=8,
        max_position_embeddings=16,
    )
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"),
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    fast.save_pretrained(tmp_path / "bert")
    folder = Path(tmp_path / "model")
    layers = [Transformer(str(tmp_path / "bert"), max_seq_length=8), Pooling(8)]
    sentence_transformers.SentenceTransformer(modules=layers, device="cpu").save(str(folder))
    system = SentenceTransformers(model=str(folder), device="cpu")
    encoder = system.encoder(RetrievalHome(tmp_path / "home").context())
    pieces = encoder.pieces("prime number a b c d e f g h i j", "")
    assert pieces == ["prime number a b c d", "e f g h i j"]
    vectors = {encoded.position: encoded.vector for encoded in encoder.encode(pieces)}
    assert vectors[0].shape == (encoder.width,) == (8,)
