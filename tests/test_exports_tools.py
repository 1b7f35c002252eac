"""Other tools read the exports and give our ndcg_exp to 1e-3: ranx, ir_measures, pytrec_eval and MTEB themselves."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import warehouse
from warehouse.cli import main

CLOSE = 1e-3


@pytest.fixture(scope="module")
def exported(sample_home, tmp_path_factory):
    """The sample's TREC export and its leaderboard."""
    folder = tmp_path_factory.mktemp("export") / "trec"
    assert main(["export", "trec", str(folder), "--home", str(sample_home.landing.home)]) == 0
    manifest = json.loads((folder / "saber.json").read_text())
    ours = dict(sample_home.rows("select run_id, overall from evaluation.leaderboard"))
    return folder, {run["run_id"]: folder / run["file"] for run in manifest["runs"]}, ours


def test_every_run_of_the_leaderboard_is_there(exported):
    _, runs, ours = exported
    assert runs.keys() == ours.keys()
    assert len(runs) >= 12


def test_pytrec_eval_gives_our_scores_for_each_query(exported, sample_home):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder, runs, _ = exported
    with (folder / "qrels.txt").open() as handle:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(handle), {"ndcg_cut.10"})
    metrics = sample_home.rows(
        "select run_id, query_id, value from evaluation.query_metrics where measure = 'ndcg_exp@10'"
    )
    ours = {(run, query): value for run, query, value in metrics}
    for run_id, file in runs.items():
        with file.open() as handle:
            found = evaluator.evaluate(pytrec_eval.parse_run(handle))
        assert len(found) == 50
        for query, values in found.items():
            assert values["ndcg_cut_10"] == pytest.approx(ours[run_id, query], abs=CLOSE), (run_id, query)


def test_ir_measures_gives_our_scores(exported):
    ir_measures = pytest.importorskip("ir_measures")
    folder, runs, ours = exported
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    measure = ir_measures.nDCG @ 10
    for run_id, file in runs.items():
        found = ir_measures.calc_aggregate([measure], qrels, ir_measures.read_trec_run(str(file)))
        assert found[measure] == pytest.approx(ours[run_id], abs=CLOSE)


def test_ranx_gives_our_scores(exported):
    ranx = pytest.importorskip("ranx")
    folder, runs, ours = exported
    qrels = ranx.Qrels.from_file(str(folder / "qrels.txt"), kind="trec")
    for run_id in sorted(runs)[:4]:
        run = ranx.Run.from_file(str(runs[run_id]), kind="trec")
        assert ranx.evaluate(qrels, run, "ndcg@10", make_comparable=False) == pytest.approx(ours[run_id], abs=CLOSE)


def test_a_plain_reader_of_a_beir_folder_gives_our_scores(sample_home, tmp_path):
    """BEIR's own loader is three lines of JSON and a table; so is this one."""
    home = str(sample_home.landing.home)
    assert main(["export", "beir", str(tmp_path / "beir"), "--home", home]) == 0
    corpus = _json_lines(tmp_path / "beir" / "corpus.jsonl")
    queries = _json_lines(tmp_path / "beir" / "queries.jsonl")
    candidates = {row["query-id"]: row["corpus-ids"] for row in _json_lines(tmp_path / "beir" / "candidates.jsonl")}
    header, *lines = (tmp_path / "beir" / "qrels" / "test.tsv").read_text().splitlines()
    assert header == "query-id\tcorpus-id\tscore"
    gains: dict[str, dict[str, int]] = {}
    for line in lines:
        query, document, score = line.split("\t")
        gains.setdefault(query, {})[document] = int(score)
    texts = {row["_id"]: row["text"] for row in corpus}
    values = []
    for row in queries:
        documents = candidates[row["_id"]]
        scores = dict(zip(documents, _overlap(row["text"], [texts[one] for one in documents]), strict=True))
        order = sorted(documents, key=lambda one: (-scores[one], one))
        ideal = sorted(gains[row["_id"]].values(), reverse=True)
        values.append(_dcg([gains[row["_id"]][one] for one in order]) / _dcg(ideal))
    ours = warehouse.evaluate(_overlap, home=home)
    assert sum(values) / len(values) == pytest.approx(ours["overall"], abs=CLOSE)


def _json_lines(path: Path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _overlap(query, documents):
    words = set(query.split())
    return [len(words & set(document.split())) for document in documents]


def _dcg(gains):
    return sum(value / math.log2(rank + 1) for rank, value in enumerate(gains[:10], start=1))


def letters(text):
    """A vector of letter counts: a model that needs no weights. A little of each position tells texts apart."""
    return [text.count(sign) + 1e-3 for sign in "abcdefghijklmnopqrstuvwxyz0123456789$\\^=+"]


MTEB = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import torch
from mteb.models import ModelMeta
from saber_mteb_task import SaberTask

class Letters:
    mteb_model_meta = ModelMeta.create_empty()
    def encode(self, inputs, **kwargs):
        signs = "abcdefghijklmnopqrstuvwxyz0123456789$\\\\^=+"
        return np.array([[t.count(s) + 1e-3 for s in signs] for batch in inputs for t in batch["text"]])
    def similarity(self, one, other):
        one, other = (torch.nn.functional.normalize(torch.as_tensor(np.asarray(x)), dim=-1) for x in (one, other))
        return one @ other.T
    def similarity_pairwise(self, one, other):
        raise NotImplementedError

task = SaberTask()
scores = task.evaluate(Letters(), split="test", encode_kwargs={"batch_size": 32})["default"]
print(json.dumps({"type": task.metadata.type, "ndcg": scores["ndcg_at_10"], "main": scores["main_score"]}))
"""


def test_mteb_loads_the_task_and_gives_our_score(sample_home, tmp_path):
    """Set SABER_MTEB_PYTHON to an interpreter that has mteb where the tests' own has not."""
    python = os.environ.get("SABER_MTEB_PYTHON") or (sys.executable if find_spec("mteb") else None)
    if python is None:
        pytest.skip("mteb is not installed (pip install mteb, or name an interpreter in SABER_MTEB_PYTHON)")
    home = str(sample_home.landing.home)
    assert main(["export", "mteb", str(tmp_path / "task"), "--home", home]) == 0
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf"), "TQDM_DISABLE": "1"}
    environment.pop("PYTHONPATH", None)
    command = [python, "-c", MTEB, str(tmp_path / "task")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])

    def cosine(query, documents):
        one = letters(query)
        return [_cosine(one, letters(document)) for document in documents]

    ours = warehouse.evaluate(cosine, home=home)
    assert found["type"] == "Reranking"
    assert found["main"] == found["ndcg"] == pytest.approx(ours["overall"], abs=CLOSE)


def _cosine(one, other):
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))
