"""Every compiled model read by sqlglot: what it reads, what it calls, and where its columns come from."""

import json

import pytest
from homes import Home

from udfs.dbt_plugin import FUNCTIONS
from warehouse.errors import SaberError
from warehouse.lineage import called_functions, column_lineage, load_project, read_relations


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("lineage"))
    result = home.dbt("build", "--select", "staging", "ontology", "signals", "benchmark", "evaluation", "analysis")
    assert result.returncode == 0, result.stdout
    return home.path / "target"


@pytest.fixture(scope="module")
def project(target):
    return load_project(target)


def test_models_read_only_their_refs_and_sources(project):
    read = {
        name: read_relations(model) - set(model.parents) for name, model in project.items() if model.language == "sql"
    }
    assert len(read) > 30
    assert {name: others for name, others in read.items() if others} == {}


def test_no_view_calls_a_python_function(project):
    ours = set(FUNCTIONS)
    calls = {n: called_functions(m) & ours for n, m in project.items() if m.language == "sql"}
    assert {n for n, found in calls.items() if found and project[n].materialized == "view"} == set()
    assert calls["signals.token_sets"] == {"summary_tokens"}  # so the check does see such calls


def test_every_model_and_column_is_described_and_every_model_has_a_grain(target, project):
    nodes = json.loads((target / "manifest.json").read_text())["nodes"].values()
    models = [node for node in nodes if node["resource_type"] == "model"]
    assert [m["name"] for m in models if not m["description"].startswith("One row per ")] == []
    for model in models:
        name = f"{model['schema']}.{model['name']}"
        described = {column for column, about in model["columns"].items() if about["description"].strip()}
        assert described == set(project[name].columns), name


def test_lineage_ends_in_landed_columns(project):
    def ends(step):
        return {step.name} if not step.sources else set().union(*(ends(source) for source in step.sources))

    found = ends(column_lineage(project, "evaluation.leaderboard.overall"))
    assert {"landing.ratings.rating", "landing.runs.score"} <= found
    assert ends(column_lineage(project, "topics.label")) == {
        "landing.ontology_edges.label",
        "landing.ontology_edges.child",
    }


def test_unknown_names_are_answered_with_known_ones(project):
    with pytest.raises(SaberError, match=r"evaluation\.leaderboard"):
        column_lineage(project, "leaderboards.overall")
    with pytest.raises(SaberError, match="overall"):
        column_lineage(project, "leaderboard.overal")
    for relation in ("evaluation.leaderboard", "leaderboard"):  # it was: no relation 'evaluation' in the project
        with pytest.raises(SaberError, match=r"is a relation: name one of its columns.*overall"):
            column_lineage(project, relation)


def test_the_command_needs_no_build_and_takes_a_variants_schema(tmp_path):
    home = Home(tmp_path)
    plain = home.saber("lineage", "evaluation.leaderboard.overall")
    assert plain.returncode == 0, plain.stderr
    assert "landing.ratings.rating  [landed]" in plain.stdout
    beside = home.saber("lineage", "evaluation__paper.leaderboard.overall")
    assert beside.stdout == plain.stdout
