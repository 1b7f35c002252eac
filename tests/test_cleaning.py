r"""Cleaning steps: each on the real fault it was made for, each idempotent, each counted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warehouse.cleaning import (
    bbcode,
    characters,
    clean_problems,
    clean_record,
    clean_text,
    cleaning_version,
    credits,
    html,
    latex,
)
from warehouse.cleaning.segments import closing_brace, outside_formulas, split
from warehouse.cleaning.steps import STEPS
from warehouse.identity import content_hash


def record(statement: str, solution: str | None = None, answer: str | None = None, **metadata: Any) -> dict[str, Any]:
    return {
        "problem_id": "s/1",
        "source": "s",
        "source_id": "1",
        "statement": statement,
        "solution": solution,
        "answer": answer,
        "language": None,
        "licence": None,
        "metadata": json.dumps(metadata),
        "content_hash": content_hash(statement, solution),
    }


# ---------------------------------------------------------------- single steps


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("$\x0crac{1}{2}$", r"$\frac{1}{2}$"),
        ("$\x08eta + \x08inom{n}{k}$", r"$\beta + \binom{n}{k}$"),
        ("$3 \times 4$ and $\triangle ABC$, $\text{if}$", r"$3 \times 4$ and $\triangle ABC$, $\text{if}$"),
        ("$\\lfloor x \rfloor$ \rightarrow", "$\\lfloor x \\rfloor$ \rightarrow"),
        ("a\tan apple\nequal\nabout\tit", "a\tan apple\nequal\nabout\tit"),
        ("the fi\x0crst", "the fi\x0crst"),
    ],
)
def test_lost_backslashes_come_back_only_where_a_command_is_certain(before: str, after: str) -> None:
    assert characters.restore_lost_backslashes(before) == after


def test_characters() -> None:
    assert characters.normalise_line_ends("a\r\nb\rc\u2028d") == "a\nb\nc\nd"
    assert characters.remove_control_characters("a\x00b\x15c\td\ne\x0c") == "abc\td\ne"
    assert characters.remove_invisible_characters("\ufeffa\u200bb\u00a0c\u00add") == "ab cd"
    joined = "ক্\u200dষ"
    assert characters.remove_invisible_characters(joined) == joined
    assert characters.compose_unicode("Mo\u0308bius") == "Möbius"
    assert characters.tidy_white_space("\n a \t\n\n\n\nb\tc ") == "a\n\nb c"


def test_formulas_are_told_from_words() -> None:
    text = r"If $a<b$ then \[x\] and \(y\), $$z$$ costs \$5: \begin{align*}a&=b\end{align*} end"
    assert [piece for is_formula, piece in split(text) if is_formula] == [
        "$a<b$",
        r"\[x\]",
        r"\(y\)",
        "$$z$$",
        r"\begin{align*}a&=b\end{align*}",
    ]
    assert outside_formulas("x $x$ x", str.upper) == "X $x$ X"


@given(st.text(alphabet="$\\[](){}ab \n", max_size=40))
def test_split_loses_nothing(text: str) -> None:
    assert "".join(piece for _, piece in split(text)) == text


def test_price_in_dollars_does_not_open_a_formula_across_paragraphs() -> None:
    assert [is_formula for is_formula, _ in split("She pays $5.\n\nHe gets $3.")] == [False]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a &lt; b &amp;&amp; c&gt;d &quot;x&quot; &#39;y&#x27;", "a < b && c>d \"x\" 'y'"),
        ("x&lt;b&gt;", "x< b>"),
        ("&amp;lt;p", "< p"),
        (r"a &= b \\ c & d; &nosuch; &lt", r"a &= b \\ c & d; &nosuch; &lt"),
    ],
)
def test_entities(before: str, after: str) -> None:
    assert html.decode_entities(before) == after
    assert html.decode_entities(after) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '<p>Suppose <span class="math-container" id="q_2">$A$</span> is.</p><p>Then</p>',
            "\nSuppose $A$ is.\n\nThen\n",
        ),
        ("x<sup>2</sup> + a<sub>1</sub>", "x^{2} + a_{1}"),
        ("<ul><li>one</li><li>two</li></ul>", "\n\n- one\n- two\n"),
        ('see <img alt="f" src="fig/1.png"/> here', "see [image: fig/1.png] here"),
        ('<a href="https://x.org">link</a> <b>bold</b><!-- no --><script>alert(1)</script>', "link bold"),
        ("$a<b$ and $c>d$, edges <0,1>, <A,B>", "$a<b$ and $c>d$, edges <0,1>, <A,B>"),
        ("if a <b and c> d", "if a <b and c> d"),
        ("<sp<b></b>an>x</span>", "x"),
    ],
)
def test_tags(before: str, after: str) -> None:
    assert html.strip_tags(before) == after


def test_bbcode() -> None:
    assert bbcode.drop_hidden_blocks("Find x.\n[hide=Source]Cono Sur 2015[/hide]") == "Find x.\n"
    assert bbcode.hidden_blocks("a [hide=Hint]use b[/hide] [hide]c[/hide]") == ["use b", "c"]
    assert bbcode.open_hidden_blocks("[hide=Solution]Let $x=1$.[/hide][hide=Source]IMO[/hide]") == "\nLet $x=1$.\n"
    text = "such that [list][*]$a$\n[*]$b$[/list] is [i]nice[/i] [b][u]now[/u][/b]"
    assert bbcode.plain_bbcode(text) == "such that \n- $a$\n- $b$\n is nice now"
    assert bbcode.plain_bbcode("[list=1][*]a[*]b[list][*]c[/list][/list]") == "\n1. a\n2. b\n- c\n"
    assert (
        bbcode.plain_bbcode("[url=https://x.org]here[/url] [img]u.png[/img] [tex]x^2[/tex]")
        == "here [image: u.png] $x^2$"
    )
    area = "[ABC] = [DEF], a[i] < a[j], [/x]"
    assert bbcode.plain_bbcode(area) == area


def test_figures_are_marked_and_kept() -> None:
    text = "See [asy]draw((0,0)--(1,1)); if (a<b) {}[/asy] and\n```asy\nx\n```"
    assert latex.mark_figures(text) == "See [figure] and\n[figure]"
    assert latex.figures(text)[0].startswith("[asy]draw")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (r"Let \( x \) and \[ y = 1 \] be", r"Let $x$ and $$ y = 1 $$ be"),
        (
            r"\begin{cases} a \\[2pt] b \end{cases} \left[ 0, 1 \right]",
            r"\begin{cases} a \\[2pt] b \end{cases} \left[ 0, 1 \right]",
        ),
        (r"\[ x \text{ if $x>0$} \]", r"\[ x \text{ if $x>0$} \]"),
        (r"\begin{equation*}x\end{equation*} \begin{math} y \end{math}", r"$$x$$ $y$"),
        (r"\\\(x\)", r"\\$x$"),
        (r"no \( closing", r"no \( closing"),
    ],
)
def test_delimiters(before: str, after: str) -> None:
    assert latex.unify_delimiters(before) == after
    assert latex.unify_delimiters(after) == after


def test_leftovers() -> None:
    assert latex.remove_leftovers("minimum is $x$.\n\t\n\n\\end{problem}\n\\noindent") == "minimum is $x$.\n\t\n\n\n"
    assert latex.remove_leftovers("16\\\\\n\\noindent") == "16"
    assert latex.remove_leftovers(r"$\partial x \parallel y$") == r"$\partial x \parallel y$"


@pytest.mark.parametrize(
    ("solution", "answer"),
    [
        (r"so $\boxed{2}$ or rather \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\fbox{7} \boxed{\textbf{(B) } 3", None),
        (r"first \boxed{5}, then \boxed{", "5"),
        (r"\boxed 9$", "9"),
        (r"\boxed{ }", None),
        ("none", None),
    ],
)
def test_boxed_answers(solution: str, answer: str | None) -> None:
    assert latex.boxed_answer(solution) == answer


def test_closing_brace() -> None:
    assert closing_brace(r"{a\}{b}}x", 0) == 7
    assert closing_brace("{a{b}", 0) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Find $x$.\n\n[i]Proposed by Sean Li[/i]", "Find $x$."),
        ("Find $x$.\n[i]Carl Schildkraut, USA[/i]", "Find $x$."),
        ("Find $x$.\n\\textit{Proposed by Evan Chen}", "Find $x$."),
        ("Find $x$.\nSource: IMO 1998", "Find $x$."),
        ("Find $x$.\n(Author: A. Smith)\n[i]Israel[/i]", "Find $x$."),
        ("A set is\n[i]nice[/i]", "A set is\n[i]nice[/i]"),
        ("The motion was proposed by Anna. Find $x$.", "The motion was proposed by Anna. Find $x$."),
        ("Proposed by nobody", "Proposed by nobody"),
    ],
)
def test_credits(before: str, after: str) -> None:
    assert credits.strip_credits(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Problem 3. Let $x$.", "Let $x$."),
        ("**Problem 12:** Let", "Let"),
        ("8. （5 分）设偶函数", "设偶函数"),
        ("11. (5 分) 设函数", "设函数"),
        ("12. Find $x$.", "Find $x$."),
        ("1. Find $x$.\n2. Find $y$.", "1. Find $x$.\n2. Find $y$."),
        ("3.5 litres of water", "3.5 litres of water"),
        ("1998. A year", "1998. A year"),
        ("100 people sit", "100 people sit"),
        ("Problem solving is", "Problem solving is"),
    ],
)
def test_problem_numbers(before: str, after: str) -> None:
    assert credits.strip_problem_number(before) == after


def test_words_for_nothing() -> None:
    assert all(credits.says_nothing(text) for text in ("", " - ", "None.", "N/A", "(no solution available)", "..."))
    assert not any(credits.says_nothing(text) for text in ("0", "∞", "None of them is prime.", "$\\emptyset$", "是"))
    assert credits.is_no_answer("null")
    assert not credits.is_no_answer("None")


# ---------------------------------------------------------------- records


def test_record_keeps_its_original_and_names_its_steps() -> None:
    before = record("Let \\( x \\) be.\r\n[hide=Source]IMO[/hide]", "We get \\boxed{7}. [asy]draw(a);[/asy]", level=5)
    after, changes = clean_record(before)
    assert (after["statement"], after["solution"], after["answer"]) == (
        "Let $x$ be.",
        "We get \\boxed{7}. [figure]",
        "7",
    )
    assert after["content_hash"] == content_hash("Let $x$ be.", "We get \\boxed{7}. [figure]")
    metadata = json.loads(after["metadata"])
    assert metadata["original"] == {"statement": before["statement"], "solution": before["solution"], "answer": None}
    assert metadata["level"] == 5
    assert metadata["figures"] == ["[asy]draw(a);[/asy]"]
    assert metadata["hidden"] == ["IMO"]
    assert metadata["cleaning"] == [f"{c.field}:{c.step}@{c.version}" for c in changes]
    assert {(c.field, c.step) for c in changes} == {
        ("statement", "normalise_line_ends"),
        ("statement", "drop_hidden_blocks"),
        ("statement", "unify_delimiters"),
        ("statement", "tidy_white_space"),
        ("solution", "mark_figures"),
        ("answer", "extract_answer"),
    }


def test_clean_record_comes_back_untouched() -> None:
    before = record("Find $x$.", "It is 3.", "3")
    after, changes = clean_record(before)
    assert after is before
    assert changes == []


def test_solution_none_is_forgotten_but_answer_none_is_an_answer() -> None:
    after, _ = clean_record(record("Find all primes.", "None.", "None"))
    assert (after["solution"], after["answer"]) == (None, "None")
    assert json.loads(after["metadata"])["original"] == {"solution": "None."}
    assert after["content_hash"] == content_hash("Find all primes.", None)


def test_answer_present_is_never_replaced_by_a_box() -> None:
    after, _ = clean_record(record("q", "so \\boxed{3}", "4"))
    assert after["answer"] == "4"


def test_counts_are_problems_changed_by_step_and_field() -> None:
    cleaned = clean_problems([record("a\r\n"), record("b\r\nc", "d"), record("e", "f\r\ng")])
    counts = {(row["step"], row["field"]): row["rows"] for row in cleaned.counts}
    assert counts == {
        ("normalise_line_ends", "statement"): 2,
        ("normalise_line_ends", "solution"): 1,
        ("tidy_white_space", "statement"): 1,
    }


_SIGNS = (
    r"$ $$ \( \) \[ \] \\ [hide] [/hide] [list] [*] [/list] [i] [/i] <b> </b> <p> < > &lt; &amp; lt; [asy] [/asy]"
    r" rac imes None. \boxed{ } { a B \begin{equation} \end{equation} \noindent \end{problem} <sup> </sup> [tex]"
)
_SPACED = ["\r", "\n", "\t", "\x0c", " ", "ho ", "Problem 1. ", "2. ", "(5 points)", "Source: x", "\u200b", "e\u0301"]
_PIECES = st.sampled_from([*_SIGNS.split(), *_SPACED, "<img src=x>"])


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("".join), st.lists(_PIECES, max_size=14).map("".join))
def test_cleaning_twice_changes_nothing_more(statement: str, solution: str) -> None:
    once = clean_problems([record(statement, solution)])
    twice = clean_problems(once.rows)
    assert twice.rows == once.rows
    assert twice.changes == []


@settings(max_examples=100, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_every_step_alone_is_idempotent(text: str) -> None:
    for step in STEPS:
        once = step.change(text)
        assert step.change(once) == once, step.name


def test_fields_get_their_own_steps() -> None:
    assert clean_text("[hide]proof[/hide]", "solution")[0] == "proof"
    assert clean_text("[hide]proof[/hide]", "statement")[0] == ""


def test_version_depends_on_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from warehouse.cleaning import steps

    before = cleaning_version()
    monkeypatch.setattr(steps, "STEPS", (replace(STEPS[0], version=2), *STEPS[1:]))
    assert steps.cleaning_version() != before
