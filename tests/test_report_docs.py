"""`dbt docs generate` builds the documentation: every model and column of the warehouse described, lineage intact."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml
from homes import Home

from warehouse.settings import ROOT


@pytest.fixture(scope="module")
def docs(sample_home, tmp_path_factory):
    """Manifest and catalogue of a copy of the sample's warehouse: dbt locks the file, others read the sample."""
    target = tmp_path_factory.mktemp("docs")
    home = Home(target / "copy", sample_home.settings_file.read_text("utf-8"))
    shutil.copytree(sample_home.landing.home, home.landing.home, dirs_exist_ok=True)
    result = home.dbt("docs", "generate", DBT_TARGET_PATH=str(target))
    assert result.returncode == 0, result.stdout + result.stderr
    assert (target / "index.html").stat().st_size > 100_000
    return [json.loads((target / f"{name}.json").read_text("utf-8")) for name in ("manifest", "catalog")]


def test_every_model_and_column_is_described(docs):
    manifest, catalogue = docs
    assert not catalogue["errors"]
    models = {key: node for key, node in manifest["nodes"].items() if node["resource_type"] == "model"}
    assert len(models) > 50
    undescribed, gone = [], []
    for key, node in models.items():
        real = set(catalogue["nodes"][key]["columns"]) if key in catalogue["nodes"] else set()
        told = {name for name, column in node["columns"].items() if column["description"].strip()}
        undescribed += [f"{node['name']}.{name}" for name in sorted(real - told)]
        undescribed += [node["name"]] * (not node["description"].startswith("One row per"))
        gone += [f"{node['name']}.{name}" for name in sorted(set(node["columns"]) - real)]
    assert undescribed == []
    assert gone == []


def test_landed_tables_are_described(docs):
    manifest, _ = docs
    assert [node["name"] for node in manifest["sources"].values() if not node["description"].strip()] == []


def test_lineage_is_whole(docs):
    """Every parent of a model is a model or a landed table, and every landed table but a few is read by one."""
    manifest, _ = docs
    known = {*manifest["nodes"], *manifest["sources"]}
    for key, node in manifest["nodes"].items():
        assert set(node["depends_on"]["nodes"]) <= known, key
    for model in ("leaderboard", "qrels", "query_metrics"):
        ancestors, waiting = set(), [f"model.saber.{model}"]
        while waiting:
            parents = set(manifest["parent_map"][waiting.pop()]) - ancestors
            ancestors |= parents
            waiting += parents
        assert "source.saber.landing.problems" in ancestors
        assert "source.saber.landing.ratings" in ancestors


def test_every_model_file_has_its_description_beside_it():
    """A static check, so that it fails without a build too."""
    files = [path for path in (ROOT / "models").rglob("*") if path.suffix in (".sql", ".py")]
    assert files
    for path in files:
        beside = path.with_suffix(".yml")
        assert beside.is_file(), path
        (model,) = yaml.safe_load(beside.read_text("utf-8"))["models"]
        assert model["name"] == path.stem
        assert model["description"].startswith("One row per"), path
        assert all((column.get("description") or "").strip() for column in model["columns"]), path
