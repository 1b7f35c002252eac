"""The benchmark: its corpora are what they claim, its stages run and agree with their peers, its report computes."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench import child, run
from bench.corpus import CHUNK, Options, Problems, make_problems, words
from bench.ontology import make_ontology
from bench.plot import Line, log_log_plot
from bench.report import Row, growth, line, total, write
from bench.stage import Outcome, Stage, Workbench, stages
from bench.tables import connect
from udfs.stop_words import stop_words

OPTIONS = Options()


def whole(n_problems: int, options: Options = OPTIONS) -> Problems:
    parts = list(make_problems(make_ontology(options.seed, options.topic_exponent), n_problems, options))
    return Problems(
        np.concatenate([part.problem for part in parts]),
        np.concatenate([part.topic for part in parts]),
        pa.chunked_array([part.core_ideas for part in parts]).combine_chunks(),
    )


def test_ontology_is_a_tree_of_the_stated_levels() -> None:
    ontology = make_ontology(7)
    depth = (ontology.ancestors >= 0).sum(axis=1) - 1
    assert np.bincount(depth).tolist() == [1, 5, 60, 700, 4500, 11835]
    assert (ontology.parent[1:] < np.arange(1, len(depth))).all()
    assert ontology.popularity.sum() == pytest.approx(1.0)
    assert ontology.popularity[0] == 0.0
    np.testing.assert_array_equal(make_ontology(7).parent, ontology.parent)
    assert (make_ontology(8).parent != ontology.parent).any()


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one() -> None:
    large, small = whole(CHUNK + 500), whole(300)
    assert small.core_ideas.to_pylist() == large.core_ideas.to_pylist()[:300]
    within = large.problem < 300
    np.testing.assert_array_equal(small.problem, large.problem[within])
    np.testing.assert_array_equal(small.topic, large.topic[within])
    assert large.problem.max() == CHUNK + 499
    assert large.core_ideas[CHUNK] != large.core_ideas[0]  # a chunk is no copy of another


def test_problems_have_the_stated_density() -> None:
    problems = whole(5_000)
    sizes = np.bincount(problems.problem)
    assert sizes.min() >= 1
    assert sizes.max() <= 6
    assert sizes.mean() == pytest.approx(2.42, abs=0.1)
    texts = problems.core_ideas.to_pylist()
    content = [set(text.split()) - stop_words() for text in texts]
    assert {len(tokens) for tokens in content} <= set(range(6, 16))
    assert np.mean([len(tokens) for tokens in content]) == pytest.approx(11.0, abs=0.2)
    shares = [count / 5_000 for _, count in Counter(w for tokens in content for w in tokens).most_common(3)]
    assert shares[0] == pytest.approx(0.4, abs=0.05)
    assert len(set(words())) == 12_000


def test_common_topic_and_wide_problems() -> None:
    problems = whole(3_000, Options(common_topic=0.4, wide=0.01))
    sizes = np.bincount(problems.problem)
    assert (sizes == 60).sum() == pytest.approx(30, abs=20)
    assert sizes.max() == 60
    assert max(Counter(problems.topic.tolist()).values()) == pytest.approx(0.4 * 3_000, rel=0.15)
    everyone = whole(500, Options(common_topic=1.0))
    assert max(Counter(everyone.topic.tolist()).values()) == 500


def test_every_stage_runs_and_agrees_with_its_peers(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps(asdict(OPTIONS)))
    workbench = Workbench(tmp_path, 400)
    whole_builds = {"warehouse"}  # dbt from end to end, which other tests run
    found = {s.name: s.run(workbench).pairs for s in stages() if not s.once and s.name not in whole_builds}
    assert found["topic_pairs"]
    assert found["summary_pairs"]
    assert found["verification"]
    for stage in stages():
        if stage.peer_of is not None and found.get(stage.name) is not None:
            assert found[stage.name] == found[stage.peer_of], stage.name


def test_a_stage_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps(asdict(OPTIONS)))
    stage = stages()[0]
    measures = child.measure(stage, Workbench(tmp_path, 50))
    assert measures["pairs"] == 50
    assert measures["disk_mb"] > 0.1
    assert 20 < measures["peak_mb"] < 2_000
    assert measures["wall_s"] > 0 < measures["cpu_s"]
    (tmp_path / "options.json").write_text('{"seeds": 1}')
    assert "unexpected keyword argument 'seeds'" in child.measure(stage, Workbench(tmp_path, 50))["error"]


def test_verification_sees_a_missing_and_a_wrong_pair(tmp_path: Path) -> None:
    (tmp_path / "options.json").write_text(json.dumps(asdict(OPTIONS)))
    workbench = Workbench(tmp_path, 250)  # all of them are looked at
    by_name = {stage.name: stage for stage in stages()}
    for name in ("corpus", "topic_sets", "tokens", "density", "topic_pairs", "summary_pairs", "counts", "candidates"):
        by_name[name].run(workbench)
    with connect(workbench.database) as connection:
        connection.execute("delete from summary_pairs where rowid = 3")
    with pytest.raises(AssertionError, match=r"2 of .* summary pairs"):  # seen from either end
        by_name["verification"].run(workbench)
    with connect(workbench.database) as connection:
        connection.execute("insert into topic_pairs select 0, max(set_index) from topic_sets")
    with pytest.raises(AssertionError, match=r"2 of .* topic pairs"):
        by_name["verification"].run(workbench)


def done(name: str, n: int, cpu: float | None, peer_of: str | None = None, apart: bool = False) -> Row:
    measures = dict.fromkeys(["wall_s", "peak_mb", "disk_mb"], cpu)
    error = None if cpu is not None else "it broke"
    return Row(
        stage=name, peer_of=peer_of, n_problems=n, cpu_s=cpu, pairs=12, unit="pairs", growth=None, agrees=None,
        apart=apart, error=error, facts="{}", **measures,
    )  # fmt: skip


def test_growth_is_an_exponent_of_processor_time() -> None:
    assert growth(done("a", 1_000, 2.0), 4_000, 32.0) == 2.0  # 16 times the work for 4 times the problems
    assert growth(done("a", 1_000, 0.01), 4_000, 32.0) is None
    assert growth(None, 4_000, 32.0) is None


def test_totals_leave_out_peers_failures_and_what_is_timed_apart() -> None:
    rows = [done("a", 5, 1.0), done("b", 5, 2.0), done("b: other", 5, 9.0, "b"), done("c", 5, 7.0, apart=True)]
    rows += [done("d", 5, None), done("a", 6, 4.0)]
    assert total(rows, 5).split()[2:] == ["5", "3.00", "3.00", "2", "3.0"]
    assert line(rows[4]).endswith("it broke")


def test_results_land_as_a_table_and_a_plot(tmp_path: Path) -> None:
    rows = [
        done("a", 1_000, 1.0),
        done("a", 10_000, 90.0),
        done("a: other way", 1_000, 20.0, "a"),
        done("b", 9, None),
    ]
    parquet, csv, svg = write(rows, tmp_path)
    assert pq.read_table(parquet).column("cpu_s").to_pylist() == [1.0, 90.0, 20.0, None]
    assert csv.read_text().count("\n") == 5
    drawn = ET.fromstring(svg.read_text())
    lines = drawn.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 2
    (first, last) = (tuple(map(float, point.split(","))) for point in lines[0].attrib["points"].split())
    assert first[0] < last[0]
    assert first[1] > last[1]  # larger values stand higher, and y grows downwards
    assert ET.fromstring(log_log_plot([Line("<&>", ((1.0, 2.0),))], "x", "y")) is not None


def test_a_plot_of_many_lines_holds_its_whole_legend_and_tells_them_apart() -> None:
    """The legend ran off the bottom, and the eleventh line looked like the first."""
    drawn = log_log_plot([Line(f"line {n}", ((1.0, 2.0), (2.0, n))) for n in range(1, 41)], "x", "y")
    picture = ET.fromstring(drawn)
    names = [
        text for text in picture.iter("{http://www.w3.org/2000/svg}text") if (text.text or "").startswith("line ")
    ]
    assert len(names) == 40
    assert max(float(text.attrib["y"]) for text in names) < float(picture.attrib["height"])
    looks = set()
    for part in drawn.split("<polyline")[1:]:
        marks = {len(corners.split()) for corners in re.findall(r'<polygon points="([^"]+)"', part)}
        places = re.findall(r'<polygon points="[^,]+,([\d.]+)', part)[-1:]
        legend = re.search(r'y1="([\d.]+)"', part)
        assert legend is not None
        rise = float(places[0]) - float(legend[1]) if places else 0.0
        looks.add((re.findall(r'stroke="(#\w+)"', part)[0], *marks, rise))
    assert len(looks) == 40


def test_peers_are_run_on_what_they_bear() -> None:
    def named(name: str, order: int, **more: object) -> Stage:
        return Stage(name, order, lambda _: Outcome(), **more)  # type: ignore[arg-type]

    corpus, a, b = named("corpus", 0), named("a", 1), named("b", 2)
    slow = named("a: slow", 1, peer_of="a", largest=50)
    plan = run._plan([corpus, a, slow, b], [100, 200])
    assert [(n, [stage.name for stage in chosen]) for n, chosen in plan] == [
        (50, ["corpus", "a", "a: slow"]),
        (100, ["corpus", "a", "b"]),
        (200, ["corpus", "a", "b"]),
    ]
    assert run._plan([corpus, a, slow, b], [20])[0][1] == [corpus, a, slow, b]
