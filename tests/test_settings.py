"""saber.toml: layers, checks and errors that name the key."""

import pytest

from warehouse.errors import SaberError
from warehouse.landing import Landing
from warehouse.settings import ROOT, load_settings


def settings_file(tmp_path, text):
    path = tmp_path / "saber.toml"
    path.write_text(text)
    return path


def test_the_shipped_file_loads_and_its_variants_lie_over_it(tmp_path):
    plain = load_settings(home=tmp_path)
    paper = load_settings(home=tmp_path, variant="paper")
    assert plain.benchmark.candidates_per_class == 10
    assert (paper.benchmark.queries, paper.benchmark.candidates_per_class, paper.judging.rounds) == (1000, 50, 20)


def test_the_sample_table_counts_only_while_the_sample_stands_alone(tmp_path):
    path = settings_file(tmp_path, "[benchmark]\nqueries = 9\n[sample]\nbenchmark = { queries = 3 }\n")
    landing = Landing(tmp_path / "home")
    assert load_settings(landing.home, path=path).benchmark.queries == 3
    landing.append("problems", [{"problem_id": "sample/1", "source": "sample"}], "j")
    assert load_settings(landing.home, path=path).benchmark.queries == 3
    landing.append("problems", [{"problem_id": "own/1", "source": "own"}], "j")
    assert load_settings(landing.home, path=path).benchmark.queries == 9


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[nonsense]\nx = 1\n", "nonsense"),
        ("[signals]\ntokenizer = 'unicode'\n", "signals.tokenizer"),
        ("[signals]\ntokeniser = 'words'\n", "signals.tokeniser"),
        ("[benchmark]\nqueries = '50'\n", "benchmark.queries"),
        ("[benchmark]\nqueries = true\n", "benchmark.queries"),
        ("[judging]\nanswer_only = 1\n", "judging.answer_only"),
        ("[evaluation]\ncutoffs = 10\n", "evaluation.cutoffs"),
        ("x = [", "cannot be read"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, text, named):
    with pytest.raises(SaberError, match=named):
        load_settings(home=tmp_path, path=settings_file(tmp_path, text))


def test_an_unknown_variant_is_named(tmp_path):
    with pytest.raises(SaberError, match=r"variants\.nowhere"):
        load_settings(home=tmp_path, variant="nowhere")


@pytest.mark.parametrize("given", [["a"], {"linear": 1}, 3, True])
def test_a_variant_that_is_no_name_is_told(tmp_path, given):
    with pytest.raises(SaberError, match="must be a name"):  # lists ended in an error of Python within dbt
        load_settings(home=tmp_path, variant=given, overrides={"judging.rounds": 3})


def test_variants_that_would_build_over_each_other_are_refused(tmp_path):
    path = settings_file(tmp_path, "[variants.low-k]\n[variants.low_k]\n[variants.other]\n")
    with pytest.raises(SaberError, match="low_k and low-k would share their schemas"):
        load_settings(home=tmp_path, path=path, variant="low_k")
    assert load_settings(home=tmp_path, path=path, variant="other").variant == "other"


def test_overrides_may_be_nested_as_yaml_nests_them(tmp_path):
    path = settings_file(tmp_path, "[judging]\nrounds = 4\n")
    overrides = {"judging": {"rounds": 7, "schedule": "random"}, "judging.judge": "ordinal"}
    judging = load_settings(home=tmp_path, path=path, variant="mine", overrides=overrides).judging
    assert (judging.rounds, judging.schedule, judging.judge) == (7, "random", "ordinal")
    with pytest.raises(SaberError, match=r"unknown setting judging\.round"):
        load_settings(home=tmp_path, path=path, variant="mine", overrides={"judging": {"round": 7}})


def test_a_threshold_is_data_or_a_number(tmp_path):
    path = settings_file(tmp_path, "[signals]\ntopic_threshold = 0.5\n")
    assert load_settings(tmp_path, path=path).signals.topic_threshold == 0.5
    with pytest.raises(SaberError, match="topic_threshold"):
        load_settings(tmp_path, path=settings_file(tmp_path, "[signals]\ntopic_threshold = 'high'\n"))


def test_the_file_stands_in_the_root():
    assert (ROOT / "saber.toml").is_file()
