"""Deduplication: copies are found, and two problems that differ in what matters are never merged."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from udfs.answers import answer_key, answer_type, answers_differ, number_of
from warehouse.deduplication import SHINGLE, THRESHOLD, find_duplicates
from warehouse.deduplication.groups import components, preference, source_rank
from warehouse.deduplication.languages import script_of
from warehouse.deduplication.measure import score
from warehouse.deduplication.minhash import candidate_probability, candidates, signatures, similarities
from warehouse.deduplication.originality import check_originality, normalise
from warehouse.deduplication.search import pair_similarities
from warehouse.deduplication.shingles import jaccard, shingle
from warehouse.deduplication.synthetic import synthetic_problems
from warehouse.deduplication.tokens import canonical, plain_groups, tokenise
from warehouse.identity import content_hash

LONG = (
    "Let $ABC$ be an acute triangle with circumcenter $O$ and let $D$ be the foot of the altitude from $A$. "
    "The line through $D$ that is parallel to $AO$ meets the side $AB$ at $E$ and the circle at $F$. "
    "Given that $AB = 13$ and $BC = 14$, find the length of $EF$ in simplest form."
)


def record(problem_id: str, statement: str, **fields: Any) -> dict[str, Any]:
    base = {"solution": None, "answer": None, "language": None, "metadata": None, "source": problem_id.split("/")[0]}
    made = {"problem_id": problem_id, "statement": statement, **base, **fields}
    return {**made, "content_hash": content_hash(statement, made["solution"])}


def pair(first: str, second: str, **fields: Any) -> tuple[str, str]:
    """How two statements are related: ("merged", kind), ("near", kind) or ("apart", "")."""
    other = {key[:-1]: value for key, value in fields.items() if key.endswith("2")}
    own = {key: value for key, value in fields.items() if not key.endswith("2")}
    found = find_duplicates([record("a/1", first, **own), record("b/2", second, **{**own, **other})])
    if found.groups:
        (kind,) = (row["kind"] for row in found.groups if not row["is_survivor"])
        return "merged", kind
    return ("near", found.near[0]["kind"]) if found.near else ("apart", "")


# ---------------------------------------------------------------- tokens


def forms(text: str) -> list[str]:
    return [meaning.form for token in _find(text) if (meaning := canonical(token))]


def _find(text: str) -> list[str]:
    from warehouse.deduplication.tokens import _TOKEN

    return _TOKEN.findall(plain_groups(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"Find $\dfrac{1}{2}$.", r"find \(\frac12 \)".replace("12", "{1}{2}")),
        (r"$x^{2} \le y_{n}$", r"$ x^2\leq y_n $"),
        (r"$\left(a,b\right)$", "$(a,b)$"),
        (r"\text{if } $x \cdot y$", r"if $x\times y$"),
        ("There are three cats, 1,000 dogs", "there are 3 cats; 1000 dogs"),
        (r"$a_1, \ldots, a_n$", "$a_1, a_n$"),
        (r"\begin{align*} x \end{align*}", "x"),
        ("$\\{1, 2\\}$", "$\\left\\{1,2\\right\\}$"),
        ("\u2212x ≥ ½", "-x \\ge 1⁄2"),
    ],
)
def test_notations_of_one_thing_are_one(one: str, other: str) -> None:
    import unicodedata

    assert forms(unicodedata.normalize("NFKC", one)) == forms(unicodedata.normalize("NFKC", other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$2^{n+1}$", "$2^n+1$"),
        ("$f'(x)$", "$f(x)$"),
        ("$(a+b)c$", "$a+bc$"),
        ("$x-y$", "$x+y$"),
        ("$AB$", "$ab$"),
        ("$1.5$", "$15$"),
        ("$[0,1]$", "$(0,1)$"),
        ("two", "three"),
    ],
)
def test_notations_of_different_things_differ(one: str, other: str) -> None:
    assert forms(one) != forms(other)


def test_hard_and_soft_tokens() -> None:
    hard = {"\\frac", "=", "x", "AB", "7", "three", "maximum", "not", "f'", "MISSISSIPPI", "x1", "("}
    soft = {"a", "I", "find", "apples", "Find", "w1234"}
    meanings = {token: canonical(token) for token in hard | soft}
    assert {token for token, meaning in meanings.items() if meaning and meaning.hard} == hard
    assert canonical("\\left") is None
    assert canonical("。") is None
    three = canonical("three")
    assert three is not None
    assert (three.form, three.number) == ("3", True)


def test_token_arrays_line_up_with_statements() -> None:
    arrays = tokenise(["Find $x$.", "", "7 is 7"])
    assert np.diff(arrays.starts).tolist() == [2, 0, 3]
    assert arrays.number.tolist() == [False, False, True, False, True]
    assert arrays.masked[2] == arrays.masked[4] != arrays.plain[2]
    assert tokenise([]).starts.tolist() == [0]


# ---------------------------------------------------------------- shingles, signatures, candidates


_SETS = st.lists(st.lists(st.integers(0, 12), max_size=9), min_size=1, max_size=6)


def _packed(sets: list[list[int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    values = np.array([value for one in sets for value in one], np.uint64)
    return values, np.concatenate(([0], np.cumsum([len(one) for one in sets]))).astype(np.int64)


@settings(max_examples=60, deadline=None)
@given(_SETS, st.integers(1, 4))
def test_shingles_are_equal_where_runs_are(sets: list[list[int]], size: int) -> None:
    """Second way: tuples of tokens, a short set being one tuple."""
    hashes, starts = shingle(*_packed(sets), size)
    runs = [
        tuple(one[i : i + size]) for one in sets for i in range(max(1, len(one) - size + 1))
    ]  # a short one gives itself
    assert len(runs) == len(hashes) == starts[-1]
    for (i, left), (j, right) in itertools.combinations(enumerate(runs), 2):
        assert (left == right) == (hashes[i] == hashes[j])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sets(st.integers(0, 15), min_size=1), min_size=2, max_size=6))
def test_similarities_are_exact(sets: list[set[int]]) -> None:
    values, starts = _packed([sorted(one) * 2 for one in sets])  # repeats do not count
    pairs = np.array(list(itertools.combinations(range(len(sets)), 2)))
    expected = [len(sets[i] & sets[j]) / len(sets[i] | sets[j]) for i, j in pairs.tolist()]
    assert similarities(values, starts, pairs, chunk=2).tolist() == expected
    assert [
        jaccard(values[starts[i] : starts[i + 1]], values[starts[j] : starts[j + 1]]) for i, j in pairs
    ] == expected


def test_signatures_are_minima_and_agree_as_often_as_sets_do() -> None:
    rng = np.random.default_rng(5)
    universe = rng.integers(0, 2**63, 300).astype(np.uint64)
    first, second = universe[:200], universe[100:]  # Jaccard 1/3
    values, starts = np.concatenate([first, second]), np.array([0, 200, 400])
    signed = signatures(values, starts, count=2000, workers=1)
    assert abs((signed[0] == signed[1]).mean() - 1 / 3) < 0.04  # four standard errors
    assert (signatures(values, starts, count=2000, workers=3) == signed).all()


def test_signatures_do_not_depend_on_neighbours() -> None:
    rng = np.random.default_rng(6)
    values, starts = rng.integers(0, 2**63, 500_000).astype(np.uint64), np.arange(0, 500_001, 50)
    signed = signatures(values, starts, count=4)
    alone = signatures(values[50:100], np.array([0, 50]), count=4)
    assert (signed[1] == alone[0]).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=9), st.booleans())
def test_candidates_are_the_pairs_that_share_a_band(rows: list[list[int]], keyed: bool) -> None:
    signed = np.array(rows, np.uint32)
    key = np.arange(len(rows), dtype=np.uint64) % np.uint64(2) if keyed else None
    expected = [
        [i, j]
        for i, j in itertools.combinations(range(len(rows)), 2)
        if any(rows[i][band : band + 2] == rows[j][band : band + 2] for band in (0, 2))
        and not (keyed and (i - j) % 2)
    ]
    assert candidates(signed, bands=2, rows=2, key=key).tolist() == expected


def test_wide_buckets_give_a_ring_and_a_star() -> None:
    signed = np.zeros((6, 2), np.uint32)
    pairs = candidates(signed, bands=1, rows=2, widest=3)
    assert pairs.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert len(set(components(6, pairs).tolist())) == 1


def test_candidate_probability_by_hand() -> None:
    # 1 - (1 - 0.8^5)^20 = 1 - 0.67232^20
    assert candidate_probability(0.8) == pytest.approx(1 - 0.67232**20)
    assert candidate_probability(1.0) == 1.0


# ---------------------------------------------------------------- what is merged and what is not


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace("$AB = 13$", "\\(AB=13\\)").replace("find", "Find"),
        LONG.replace("an acute", "some acute"),
        LONG.replace("in simplest form", "in the simplest form"),
        LONG.replace("The line through", "The straight line through"),
    ],
)
def test_copies_are_merged(other: str) -> None:
    assert pair(LONG, other)[0] == "merged"


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (LONG.replace("13", "15"), "renumbered"),
        (LONG.replace("$BC = 14$", "$BC = 1.4$"), "renumbered"),
        (LONG.replace("meets the side $AB$", "meets the side $AC$"), "other formulas"),
        (LONG.replace("parallel", "perpendicular"), "other words"),
        (LONG.replace("acute", "obtuse"), "other words"),
        (LONG.replace("$AB = 13$", "$AB < 13$"), "other formulas"),
        (LONG.replace("altitude", "bisector"), "other words"),
        (LONG.replace("$AB = 13$ and $BC = 14$", "$AB = 14$ and $BC = 13$"), "renumbered"),
    ],
)
def test_problems_that_differ_in_what_matters_are_near_and_never_merged(other: str, kind: str) -> None:
    assert pair(LONG, other) == ("near", kind)


def test_brace_groups_matter() -> None:
    text = LONG + " Then find the last digit of the number $2^{n+1}$."
    assert pair(text, text.replace("2^{n+1}", "2^n+1")) == ("near", "other formulas")
    assert pair(text, text.replace("^{n+1}", "^{ n + 1 }")) == ("merged", "same text")


def test_short_equal_texts_with_other_answers_are_other_problems() -> None:
    text = "Find the area of the figure."
    assert pair(text, text, answer="12", answer2="$13$", solution2="s") == ("near", "other answer")
    assert pair(text, text, answer="0.5", answer2="\\frac{1}{2}", solution2="s") == ("merged", "same text")
    assert pair(text, text, answer="12", answer2=None, solution2="s") == ("merged", "same text")
    assert pair(LONG, LONG, answer="12", answer2="13", solution2="s") == ("merged", "same text")


def test_one_without_an_answer_joins_only_one_of_two_that_conflict() -> None:
    text = "Find the area of the figure."
    rows = [record(f"x/{n}", text, answer=answer, solution=f"s{n}") for n, answer in enumerate(("1", "2", None))]
    found = find_duplicates(rows)
    assert [(row["group_id"], row["problem_id"]) for row in found.groups] == [("x/0", "x/0"), ("x/0", "x/2")]
    assert [(row["first_id"], row["second_id"], row["kind"]) for row in found.near] == [
        ("x/0", "x/1", "other answer")
    ]


def test_reworded_copies_with_conflicting_answers_are_near() -> None:
    other = LONG.replace("in simplest form", "in the simplest form")
    assert pair(LONG, other, answer="12", answer2="13") == ("near", "other answer")


def test_equal_texts_with_other_drawings_are_other_problems() -> None:
    text = "What is the area of the shaded region in the figure, if all the arcs are arcs of circles? [figure]"
    one, other = '{"figures": ["draw(a);"]}', '{"figures": ["draw(b);"]}'
    assert pair(text, text, metadata=one, metadata2=other, solution2="s") == ("near", "other figures")
    assert pair(text, text, metadata=one, metadata2=one, solution2="s") == ("merged", "same text")


def test_one_hash_with_other_drawings_or_answers_is_other_problems() -> None:
    """Without a solution the content hash is the statement's alone; drawings and short texts' answers still count."""
    text = "The graph of $y=ax^2+bx+c$ is given below, where $a$, $b$ and $c$ are integers. Find $a$. [figure]"
    drawn, other = (json.dumps({"figures": [f"[asy]draw({n});[/asy]"]}) for n in (1, 2))
    for solution in (None, "Look at it."):
        assert pair(text, text, metadata=drawn, metadata2=other, solution=solution) == ("near", "other figures")
        assert pair(text, text, metadata=drawn, metadata2=drawn, solution=solution) == ("merged", "exact")
    short = "Find $XY$ below."
    assert pair(short, short, answer="3", answer2="4") == ("near", "other answer")
    assert pair(short, short, answer="3", answer2="4", solution="One proof of both.") == ("merged", "exact")


def test_exact_copies_and_other_problems() -> None:
    assert pair(LONG, LONG + " ", solution="s") == ("merged", "exact")
    assert pair(LONG, "Prove that there are infinitely many primes of the form $4k+3$.") == ("apart", "")


# ---------------------------------------------------------------- groups


def test_survivor_is_of_the_best_source_then_the_most_complete() -> None:
    rows = [
        record("aops/1", LONG, solution="a very long solution indeed", answer="12"),
        record("numina-1.5/1", LONG, solution="short"),
        record("numina-1.5/2", LONG, solution="shorter", answer="12"),
        record("zeta/1", LONG, solution="s"),
    ]
    for order in itertools.permutations(rows):
        found = find_duplicates(order)
        assert found.dropped == {"aops/1", "numina-1.5/1", "zeta/1"}
    assert find_duplicates(rows, priority=["aops"]).dropped == {"numina-1.5/1", "numina-1.5/2", "zeta/1"}


def test_source_rank_by_name_or_beginning() -> None:
    priority = ("official", "numina", "aops")
    names = ("official", "numina-1.5", "NUMINA", "numinous", "aops_wiki", "math")
    assert [source_rank(name, priority) for name in names] == [0, 1, 1, 3, 2, 3]
    assert [source_rank(name, ("math", "math-parquet")) for name in ("math", "math-parquet", "math-2")] == [0, 1, 0]


def test_preference_orders_by_completeness_and_then_id() -> None:
    rows = [record("s/3", "x"), record("s/2", "x", answer="1"), record("s/1", "x", solution="a"), record("s/0", "x")]
    assert [row["problem_id"] for row in sorted(rows, key=lambda row: preference(row, ()))] == [
        "s/1",
        "s/2",
        "s/0",
        "s/3",
    ]


def test_chains_are_one_group_with_similarities_to_the_survivor() -> None:
    words = LONG.split()
    second = " ".join([*words[:8], "surely", *words[8:]])
    third = " ".join([*words[:8], "surely", *words[8:20], "then", *words[20:]])
    rows = [record("a/1", LONG, solution="s"), record("b/2", second), record("c/3", third)]
    found = find_duplicates(rows)
    assert {row["group_id"] for row in found.groups} == {"a/1"}
    tokens = tokenise(row["statement"] for row in rows)
    exact = pair_similarities(tokens.plain, tokens.starts, np.array([[0, 0], [0, 1], [0, 2]]), SHINGLE)
    assert [row["similarity"] for row in found.groups] == exact.tolist()
    assert found.counts == {"groups": 1, "dropped": 2, "dropped similar text": 2}


def test_a_template_with_many_numbers_is_a_star_of_near_pairs() -> None:
    text = "A train goes {} miles an hour for {} hours along the river. How far does it get before it stops?"
    rows = [record(f"t/{n:02d}", text.format(n + 2, n + 3)) for n in range(30)]
    found = find_duplicates(rows)
    assert not found.groups
    assert [(row["first_id"], row["kind"]) for row in found.near] == [("t/00", "renumbered")] * 29


def test_translations_are_near_by_numbers_and_answer_or_by_formulas() -> None:
    rows = [
        record(
            "en/1",
            "Janet's ducks lay 16 eggs a day. She eats three and bakes with four. She sells at $2.",
            answer="18",
        ),
        record("bn/1", "জেনেটের হাঁসগুলি প্রতিদিন 16টি করে ডিম পাড়ে এবং $2 দরে বিক্রয় করেন।", answer="18"),
        record("en/2", "Find all real $x$ with $x^2 + 3x - 4 = \\sqrt{x + 5}$ and $x > 0$."),
        record("ru/2", "Найдите все $x$, для которых $x^2 + 3x - 4 = \\sqrt{x + 5}$ и $x > 0$."),
        record("en/3", "Buy 16 pens at $2 each.", answer="32"),
        record("en/4", "Some other English text with 5 words."),
    ]
    near = [(row["first_id"], row["second_id"], row["kind"]) for row in find_duplicates(rows).near]
    assert near == [("bn/1", "en/1", "translation"), ("en/2", "ru/2", "translation")]


def test_scripts() -> None:
    texts = ("Find $x$", "Найдите $x$", "ジャネットのアヒルは16個", "设偶函数", "123")
    assert [script_of(text) for text in texts] == ["LATIN", "CYRILLIC", "JAPANESE", "CJK", "LATIN"]


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("1,072", Fraction(1072)),
        ("34,\\!650", Fraction(34650)),
        ("$\\frac{3}{4}$", Fraction(3, 4)),
        ("-\\dfrac12", Fraction(-1, 2)),
        ("0.75", Fraction(3, 4)),
        ("x = 3", Fraction(3)),
        ("3/4", Fraction(3, 4)),
        ("$18$.", Fraction(18)),
        ("\\$5", Fraction(5)),
        ("50\\%", Fraction(50)),
        ("1, 2", None),
        ("\\sqrt{2}", None),
        ("1/0", None),
        ("\\frac{1}{0}", None),
        ("None", None),
        (None, None),
    ],
)
def test_answers_as_numbers(answer: str | None, value: Fraction | None) -> None:
    assert number_of(answer) == value


# ---------------------------------------------------------------- planted copies, second way


def test_planted_copies_are_found_and_nothing_else() -> None:
    planted = synthetic_problems(4000, seed=11)
    measured = score(planted, find_duplicates(planted.records))
    assert measured["planted pairs at the threshold"] > 150
    assert measured["recall"] >= 0.99
    assert measured["precision"] == 1.0
    assert measured["renumbered merged"] == 0
    assert measured["renumbered near"] == measured["renumbered planted"] == 80


def test_merged_pairs_are_those_of_a_search_over_all_pairs() -> None:
    """Second way: Python sets of token triples over every pair of statements."""
    planted = synthetic_problems(300, reworded=0.3, renumbered=0.1, seed=3)
    texts = {row["problem_id"]: forms(row["statement"]) for row in planted.records}
    hard = {key: [form for form in value if (m := canonical(form)) and m.hard] for key, value in texts.items()}
    grams = {key: {tuple(value[i : i + 3]) for i in range(len(value) - 2)} for key, value in texts.items()}
    expected = {
        frozenset((i, j))
        for i, j in itertools.combinations(texts, 2)
        if hard[i] == hard[j] and len(grams[i] & grams[j]) >= THRESHOLD * len(grams[i] | grams[j])
    }
    found = find_duplicates(planted.records)
    merged = {frozenset((row["group_id"], row["problem_id"])) for row in found.groups if not row["is_survivor"]}
    assert merged == expected
    assert len(expected) > 50


def test_the_same_groups_in_any_order_and_with_any_number_of_threads() -> None:
    planted = synthetic_problems(500, reworded=0.2, renumbered=0.1, seed=5)
    shuffled = random.Random(1).sample(planted.records, len(planted.records))
    first, second = find_duplicates(planted.records, workers=1), find_duplicates(shuffled, workers=3)
    assert first.groups == second.groups
    assert first.near == second.near


@pytest.mark.parametrize("rows", [[], [record("a/1", "x")], [record("a/1", "?"), record("b/1", "!")]])
def test_few_and_empty_statements(rows: list[Mapping[str, Any]]) -> None:
    assert find_duplicates(rows).groups == []


def test_synthetic_statements_are_seeded() -> None:
    first, second = synthetic_problems(50, seed=1), synthetic_problems(50, seed=1)
    assert first == second
    assert synthetic_problems(50, seed=2) != first
    assert len(first.records) == 50
    assert (len(first.reworded), len(first.renumbered)) == (3, 1)


# ---------------------------------------------------------------- originality


def test_originality_names_the_source_and_the_shared_text() -> None:
    reference = [record("r/1", "Find all primes $p$ such that $p^2 + 2$ is prime."), record("r/2", LONG)]
    ours = [
        record("o/1", "Today: " + LONG[:120].upper() + " and so on"),
        record("o/2", "Ten mice sit on nine chairs."),
        record("r/1", "Find all primes $p$ such that $p^2 + 2$ is prime."),
    ]
    (flag,) = check_originality(ours, reference)
    assert (flag["problem_id"], flag["reference_id"]) == ("o/1", "r/2")
    assert normalise(LONG[:120]) in flag["overlap"]


@settings(max_examples=40, deadline=None)
@given(st.text("ab c", min_size=10, max_size=40), st.text("ab c", min_size=10, max_size=40))
def test_share_of_grams_is_that_of_python_sets(ours: str, theirs: str) -> None:
    left, right = normalise(ours), normalise(theirs)
    if len(left) < 10 or len(right) < 10:
        return
    own, other = ({text[i : i + 10] for i in range(len(text) - 9)} for text in (left, right))
    found = check_originality([record("o/1", ours)], [record("r/1", theirs)], min_share=0.0, min_overlap=0)
    assert [row["share"] for row in found] == ([len(own & other) / len(own)] if own & other else [])
    for row in found:
        assert row["overlap"] in left
        assert row["overlap"] in right or len(row["overlap"]) > 10


# ---------------------------------------------------------------- answers and pictures


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1/2", r"\frac12"),
        (r"\(\boxed{337}\)", "337"),
        (r"$\frac{8}{\sqrt[3]{7}}$", r"{\frac{8}{\sqrt[3]{7}}}"),
        ("\\[\n\\boxed{\\frac{n+1}{4n-2}}\n\\]", r"\frac{n+1}{4n-2}"),
        ("$44$ $^{\\circ}$", r"44^\circ"),
        ("x^{3}-3x^{2}+9x-9", "x^3 - 3x^2 + 9x - 9"),
        (r"\left \lfloor \frac{2n-1}{5} \right \rfloor", r"$\lfloor\frac{2 n-1}{5}\rfloor$"),
        (r"\mathbf{2340}", "2,340."),
        ("", "7"),
        (None, "7"),
    ],
)
def test_answers_of_one_meaning_do_not_differ(one: str | None, other: str) -> None:
    assert not answers_differ(one, other)
    assert not answers_differ(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1431655764", "1431655765"),
        ("45752", "4, 5"),
        (r"\{(a,b):ab\leq e^3\}", r"\{(a,b):ab\geq e^3\}"),
        (r"2\lceil\frac{n}{2}\rceil", r"\lceil\frac{n}{2}\rceil"),
        ("51.2, 78.15, 125", "12, 8, 5"),
        (r"2^{12}", r"2^12"),
        (r"\frac{1}{23}", r"\frac{12}{3}"),
        (r"\sqrt{2}x", r"\sqrt{2x}"),
        ("-3", "3"),
        ("1, 234", "1234"),
    ],
)
def test_answers_of_two_meanings_differ(one: str, other: str) -> None:
    assert answers_differ(one, other)
    assert answer_key(one) == answer_key(f"$\\boxed{{{one}}}$")


CIRCUIT = (
    "Given $V_s = 5V$, $R_1 = 480$, $R_2 = 320$ and $R_3 = 200$, find the power dissipated by the resistors {where}. "
    "Represent your answer as a list $[P_1, P_2, P_3]$ in the unit of mW."
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Picture": "images/a.png"}, {"Picture": "images/b.png"}),
        ({"images": ["a.png"]}, {"images": ["a.png", "b.png"]}),
        ({"image_1": {"path": "a.png"}}, {"image_1": {"path": "b.png"}}),
        ({"attachments": ["a.pdf"]}, {}),
    ],
)
def test_one_text_with_two_pictures_is_two_problems(one: dict[str, Any], other: dict[str, Any]) -> None:
    text = CIRCUIT.format(where="here")
    for solution in (None, "Use the law."):
        metadata = {"metadata": json.dumps(one), "metadata2": json.dumps(other), "solution": solution}
        assert pair(text, text, **metadata) == ("near", "other figures")


def test_one_picture_in_two_folders_is_one_problem() -> None:
    metadata = [json.dumps({"Picture": path, "n": 1}) for path in ("images/a.png", "https://host/x/a.png")]
    text = CIRCUIT.format(where="in the figure")
    assert pair(text, text, metadata=metadata[0], metadata2=metadata[1]) == ("merged", "exact")
    empty = [json.dumps({"Picture": value}) for value in (None, "")]
    assert pair(text, text, metadata=empty[0], metadata2=empty[1]) == ("merged", "exact")


def test_a_text_about_a_picture_with_two_answers_is_two_problems() -> None:
    """The picture may be missing from the row; without one in the text the answers are two readings of it."""
    answers = {"answer": "51.2, 78.15, 125", "answer2": "12, 8, 5"}
    for where in ("in the figure", "shown below", "of the circuit diagram"):
        text = CIRCUIT.format(where=where)
        assert pair(text, text, **answers) == ("near", "other answer")
        assert pair(text, text, answer="51.2, 78.15, 125", answer2="$51.2, 78.15, 125$")[0] == "merged"
    text = CIRCUIT.format(where="here")
    assert pair(text, text, **answers)[0] == "merged"


def test_answer_types_are_those_of_the_view() -> None:
    import duckdb

    model = (Path(__file__).parents[1] / "models" / "analysis" / "answer_types.sql").read_text()
    texts = ["", "  ", None, "12", "-1,200", ".5", "-0.25", "\\frac{1}{2}", "\\frac" + "x" * 50, "(A)", "B", "F"]
    texts += ["x=2", "x^2", "\\pi", "all of them", " 7 ", "7\n", "3.", "1e5"]
    for text in texts:
        query = model.replace('{{ ref("stg_problems") }}', "(select 's' as source, ?::varchar as answer)")
        assert duckdb.execute(query, [text]).fetchall() == [("s", answer_type(text), 1)], text
