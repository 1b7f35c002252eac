"""The sample corpus and its ontology keep the promises that the rest of the pipeline builds on."""

import csv
import json
from collections import Counter, defaultdict

import pytest

from warehouse.errors import SaberError
from warehouse.sample import build
from warehouse.sample.templates import all_instances


@pytest.fixture(scope="module")
def problems():
    return [json.loads(line) for line in build.TARGET.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def edges():
    with build.ONTOLOGY.open(encoding="utf-8", newline="") as lines:
        return [(row["parent"], row["child"]) for row in csv.DictReader(lines)]


@pytest.fixture(scope="module")
def root_paths(edges):
    """Every root path, found by walking down; a cycle would repeat a label on its path."""
    children = defaultdict(list)
    for parent, child in edges:
        children[parent].append(child)
    paths, pending = [], [("Mathematics",)]
    while pending:
        path = pending.pop()
        assert len(set(path)) == len(path), f"cycle: {' > '.join(path)}"
        paths.append(path)
        pending += [(*path, child) for child in children[path[-1]]]
    return paths


def shingles(text, width=5):
    words = text.split()
    return {tuple(words[start : start + width]) for start in range(len(words) - width + 1)}


def overlap(left, right):
    return len(left & right) / len(left | right)


def test_rebuilding_gives_the_same_bytes():
    assert build.serialise(build.assemble()) == build.TARGET.read_bytes()


def test_counts(problems):
    assert len(problems) >= 400
    domains = Counter(problem["domain"] for problem in problems)
    assert set(domains) == set(build.DOMAINS)
    assert min(domains.values()) >= 60
    origins = Counter(problem["origin"] for problem in problems)
    assert set(origins) == {"written", "template", "planted-duplicate"}
    assert origins["template"] <= len(problems) / 2
    assert origins["planted-duplicate"] == 3


def test_ids_and_statements_are_unique(problems):
    assert len({problem["id"] for problem in problems}) == len(problems)
    assert len({" ".join(problem["statement"].split()) for problem in problems}) == len(problems)


def test_most_statements_contain_latex(problems):
    with_latex = sum("$" in problem["statement"] or r"\[" in problem["statement"] for problem in problems)
    assert with_latex > 0.9 * len(problems)


def test_every_problem_is_free_of_faults(problems):
    topics = build.read_topics()
    assert {problem["id"]: found for problem in problems if (found := build.problem_faults(problem, topics))} == {}


def test_most_problems_share_techniques_with_several_others(problems):
    holders = Counter(label for problem in problems for label in problem["techniques"])
    lonely = [problem["id"] for problem in problems if max(holders[label] for label in problem["techniques"]) < 3]
    assert lonely == []


def test_enough_trivial_problems(problems):
    assert sum(problem["techniques"] == ["direct-computation"] for problem in problems) >= 6


def test_planted_duplicates_and_no_others_are_near_copies(problems):
    """Three planted pairs reach 0.8 on statements and on full texts; no other pair of statements does."""
    marked = [shingles(problem["statement"]) for problem in problems]
    near = {
        frozenset((problems[i]["id"], problems[j]["id"]))
        for i in range(len(problems))
        for j in range(i)
        if marked[i] & marked[j] and overlap(marked[i], marked[j]) >= 0.8
    }
    copies = [problem for problem in problems if problem["origin"] == "planted-duplicate"]
    assert near == {frozenset((problem["id"], problem["duplicate_of"])) for problem in copies}
    by_id = {problem["id"]: problem for problem in problems}
    for copy in copies:
        original = by_id[copy["duplicate_of"]]
        assert original["origin"] == "written"
        assert copy["statement"] != original["statement"]
        texts = [shingles(f"{problem['statement']} {problem['solution']}") for problem in (copy, original)]
        assert overlap(*texts) >= 0.8


def test_templates_vary_in_wording_and_method():
    families = defaultdict(list)
    for instance in all_instances():
        families[instance.template.name].append(instance)
    assert len(families) >= 24
    assert {family[0].template.domain for family in families.values()} == set(build.DOMAINS)
    for name, family in families.items():
        template = family[0].template
        assert len(template.statements) >= 2, name
        assert len({method.techniques for method in template.methods}) >= 2, name
        assert len({tuple(instance.problem["techniques"]) for instance in family}) >= 2, name
        assert not any(
            "<<" in str(instance.problem[field]) for instance in family for field in ("statement", "solution")
        )


def test_ontology_size_and_depth(edges, root_paths):
    labels = {label for edge in edges for label in edge}
    assert len(labels) >= 330
    assert labels == {path[-1] for path in root_paths}, "every label hangs under the root"
    assert max(len(path) for path in root_paths) - 1 == 5
    assert len(root_paths) < 1000
    assert len(set(edges)) == len(edges)


def test_ontology_has_topics_with_several_parents(edges):
    parents = Counter(child for _, child in edges)
    assert sum(count > 1 for count in parents.values()) >= 25


def test_top_branches(edges):
    assert [child for parent, child in edges if parent == "Mathematics"] == [
        "Algebra",
        "Geometry",
        "Number Theory",
        "Discrete Mathematics",
        "Probability and Statistics",
        "Calculus and Analysis",
        "History and Terminology",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("$x", "an odd number of $ signs"),
        (r"\[x", r"unequal numbers of \[ and \]"),
        (r"$\frac{1}{2$", "unbalanced braces"),
        ("$}{$", "unbalanced braces"),
        ("$\x0crac12$", "a control character"),
    ],
)
def test_latex_faults_are_named(text, fault):
    assert fault in build.latex_faults(text)


def test_escaped_signs_are_no_faults():
    assert build.latex_faults(r"A price of \$5 and the set $\{1\}$ \\ and \[x\\[2pt]y\]") == []


def test_faulty_problem_is_named_with_its_id(problems):
    broken = [{**problems[0], "techniques": ["guessing"]}, *problems[1:]]
    with pytest.raises(SaberError, match=rf"{problems[0]['id']} has the unknown technique guessing"):
        build.check(broken)


def test_check_reports_an_outdated_file(tmp_path, monkeypatch, capsys):
    outdated = tmp_path / "problems.jsonl"
    outdated.write_bytes(build.TARGET.read_bytes()[:-1])
    monkeypatch.setattr(build, "TARGET", outdated)
    assert build.main(["--check"]) == 1
    assert "out of date" in capsys.readouterr().out
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
