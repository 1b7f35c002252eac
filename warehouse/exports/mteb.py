"""An MTEB task: a data set folder and ``saber_mteb_task.py``, which ``mteb.evaluate`` runs from the local folder."""

from __future__ import annotations

import re
from importlib import resources

from warehouse.exports.card import card, licence_tag
from warehouse.exports.folder import ExportFolder
from warehouse.exports.huggingface import front, write_data
from warehouse.exports.languages import language_codes
from warehouse.exports.request import ExportRequest

# The data library refuses a folder that holds a Python file of the folder's own name, so this one is unlikely.
_TASK = "saber_mteb_task"
_USE = """```python
import sys

import mteb

sys.path.insert(0, "THIS FOLDER")
from saber_mteb_task import SaberTask

mteb.evaluate(mteb.get_model("sentence-transformers/all-MiniLM-L6-v2"), SaberTask())   # main score: ndcg_at_10
```

Nothing is downloaded but the model. In scope `candidates` the task is a reranking of each query's candidates
(`top_ranked`), in scope `corpus` a retrieval over all documents, the query itself left out."""


def write(folder: ExportFolder, request: ExportRequest) -> None:
    """Write the data set and the task file; runs do not travel."""
    folder.manifest = request.manifest("mteb", ids="plain")
    is_reranking = request.scope == "candidates"
    splits = write_data(folder, _without_runs(request), with_candidates=is_reranking)
    collection = request.collection
    folder.manifest["task"] = {
        "name": task_name(f"{collection.name} {request.setting}") + ("Reranking" if is_reranking else "Retrieval"),
        "type": "Reranking" if is_reranking else "Retrieval",
        "description": f"Mathematical problems ranked by how close their solutions are, setting {request.setting}.",
        "languages": [code for _, code in language_codes(collection)],
        "license": "not specified"
        if licence_tag(collection.licences) == "other"
        else licence_tag(collection.licences),
    }
    source = resources.files("warehouse.exports").joinpath("mteb_task_source.txt").read_text("utf-8")
    folder.text(f"{_TASK}.py", source)
    folder.text("README.md", card(folder.manifest, [("Use", _USE)], front(request, splits)))


def task_name(text: str) -> str:
    """Return a name of letters and digits only, each word capitalised."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    return "".join(word[0].upper() + word[1:] for word in words) or "Saber"


def _without_runs(request: ExportRequest) -> ExportRequest:
    without = ExportRequest(request.settings, request.benchmark, request.setting, request.scope, run_ids=())
    without.__dict__["collection"] = request.collection  # read once
    return without
