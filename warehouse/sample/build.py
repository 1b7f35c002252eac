"""Assemble ``problems.jsonl`` from the written problems, the templates and the planted duplicates.

Run ``python -m warehouse.sample.build`` after any change to the sources; ``--check`` compares without writing.
"""

import argparse
import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from warehouse.errors import SaberError
from warehouse.sample.templates import all_instances

FOLDER = Path(__file__).parent
TARGET = FOLDER / "problems.jsonl"
ONTOLOGY = FOLDER / "ontology.csv"
REMEDY = "Correct the entry and run `python -m warehouse.sample.build` again."

WRITTEN = ("algebra", "number_theory", "geometry", "combinatorics", "calculus")
DOMAINS = ("Algebra", "Number Theory", "Geometry", "Combinatorics", "Calculus and Analysis")
LARGEST_TEMPLATE_SHARE = 0.45

TECHNIQUE_LABELS = """
am-gm angle-chasing area-method bijection bounding casework cauchy-schwarz ceva-menelaus chinese-remainder
coloring complementary-counting completing-the-square complex-numbers conditional-probability contradiction
coordinates cyclic-quadrilateral derivative direct-computation divisibility double-counting euclidean-algorithm
euler-totient extremal-principle factoring fermat-little-theorem functional-equation games-strategy
generating-functions graph-theory homothety inclusion-exclusion induction infinite-descent integration-by-parts
intermediate-value invariant inversion legendre-formula lifting-the-exponent linear-algebra
linearity-of-expectation mean-value modular-arithmetic monotone-convergence monovariant parity pigeonhole
polynomial-division power-of-a-point quadratic-residues rearrangement recursion reflection riemann-sums
roots-of-unity similar-triangles size-argument squeeze stars-and-bars strong-induction substitution symmetry
taylor-expansion telescoping trigonometry vectors vieta-formulas
"""
TECHNIQUES = frozenset(TECHNIQUE_LABELS.split())

# A copy keeps the solution of its original, and the edits leave the answer as it is: up to 101 there are as many
# multiples of 3 as up to 100.
PLANTED: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("dup-1", "alg-049", (("the speed of the current.", "the speed of the current, in km/h."),)),
    ("dup-2", "num-052", (("digits are all $1$.", "digits are all equal to $1$."),)),
    ("dup-3", "com-056", ((r"\ldots, 100\}", r"\ldots, 101\}"),)),
)

Problem = dict[str, Any]


def read_written() -> list[Problem]:
    """Read the written problems of all domains, in the order of the domains.

    Raises
    ------
    SaberError
        If a line is not JSON.
    """
    problems: list[Problem] = []
    for name in WRITTEN:
        path = FOLDER / f"written_{name}.jsonl"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            try:
                problems.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise SaberError(f"{path.name} line {number} is not JSON: {error.msg}. {REMEDY}") from error
    return problems


def plant_duplicates(problems: Iterable[Problem]) -> list[Problem]:
    """Return the planted near-duplicates: copies of written problems with a slightly edited statement.

    Raises
    ------
    SaberError
        If an original or the text to edit is missing.
    """
    originals = {problem["id"]: problem for problem in problems}
    copies = []
    for copy_id, original_id, edits in PLANTED:
        original = originals.get(original_id)
        if original is None:
            raise SaberError(f"Planted duplicate {copy_id} refers to the missing problem {original_id}. {REMEDY}")
        statement = original["statement"]
        for old, new in edits:
            if statement.count(old) != 1:
                raise SaberError(f"Problem {original_id} does not contain the text {old!r} once. {REMEDY}")
            statement = statement.replace(old, new)
        edited = {"id": copy_id, "statement": statement, "origin": "planted-duplicate", "duplicate_of": original_id}
        copies.append({**original, **edited})
    return copies


def read_topics(path: Path = ONTOLOGY) -> set[str]:
    """Return the labels of the sample ontology."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {label for row in csv.DictReader(lines) for label in (row["parent"], row["child"])}


def latex_faults(text: str) -> list[str]:
    """Name what is out of balance in a LaTeX text: dollar signs, display brackets or braces."""
    faults = []
    bare = text.replace("\\\\", "")
    if len(re.findall(r"(?<!\\)\$", bare)) % 2:
        faults.append("an odd number of $ signs")
    if bare.count(r"\[") != bare.count(r"\]"):
        faults.append(r"unequal numbers of \[ and \]")
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", bare):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth != 0:
        faults.append("unbalanced braces")
    if re.search(r"[\x00-\x1f]", text):
        faults.append("a control character")
    return faults


def problem_faults(problem: Mapping[str, Any], topics: set[str]) -> list[str]:
    """Name everything that is wrong with one problem; an empty list means it is fine."""
    faults = [
        f"{fault} in the {field}" for field in ("statement", "solution") for fault in latex_faults(problem[field])
    ]
    labels = problem["techniques"]
    if not 1 <= len(labels) <= 4 or len(set(labels)) != len(labels):
        faults.append("not one to four different techniques")
    faults += [f"the unknown technique {label}" for label in labels if label not in TECHNIQUES]
    faults += [f"the unknown topic {label}" for label in problem["topics_hint"] if label not in topics]
    if problem["domain"] not in DOMAINS:
        faults.append(f"the unknown domain {problem['domain']}")
    if not problem["statement"].strip() or not problem["solution"].strip():
        faults.append("an empty statement or solution")
    return faults


def check(problems: Sequence[Problem]) -> None:
    """Check single problems and the corpus as a whole.

    Raises
    ------
    SaberError
        With the ids of the first problems that have faults, or the rule that the corpus breaks.
    """
    topics = read_topics()
    faults = [f"{problem['id']} has {fault}" for problem in problems for fault in problem_faults(problem, topics)]
    if faults:
        raise SaberError(f"The sample has {len(faults)} faults: {'; '.join(faults[:10])}. {REMEDY}")
    for field in ("id", "statement"):
        seen: set[str] = set()
        for problem in problems:
            if problem[field] in seen:
                raise SaberError(f"Problem {problem['id']} repeats the {field} of another problem. {REMEDY}")
            seen.add(problem[field])
    share = sum(problem["origin"] == "template" for problem in problems) / len(problems)
    if share > LARGEST_TEMPLATE_SHARE:
        raise SaberError(f"Templates make {share:.0%} of the sample, more than 45 %. Add written problems.")


def assemble() -> list[Problem]:
    """Return the whole sample: written problems, template instances, planted duplicates."""
    written = read_written()
    problems = written + [dict(instance.problem) for instance in all_instances()] + plant_duplicates(written)
    check(problems)
    return problems


def serialise(problems: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the problems as JSON Lines in UTF-8, the same bytes for the same problems."""
    return "".join(json.dumps(problem, ensure_ascii=False) + "\n" for problem in problems).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``problems.jsonl``, or with ``--check`` say whether it is up to date."""
    parser = argparse.ArgumentParser(description="Assemble the sample problems.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    wanted = parser.parse_args(arguments)
    content = serialise(assemble())
    if wanted.check:
        current = TARGET.exists() and TARGET.read_bytes() == content
        print(f"{TARGET.name} is {'up to date' if current else 'out of date'}.")
        return 0 if current else 1
    TARGET.write_bytes(content)
    print(f"{TARGET.name}: {len(content.splitlines())} problems.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
