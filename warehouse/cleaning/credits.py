"""What surrounds a problem without being part of it: numbers before it, credits behind it, words for nothing."""

from __future__ import annotations

import re

_SAID = (
    r"(?:proposed|authored|written|submitted|communicated|suggested|contributed|created|composed|posed)"
    r"\s+by\b|authors?\s*:|(?:problem\s+)?sources?\s*:|credits?\s*:|based on a proposal\b"
)
_MARKS = r"(?:\[i\]|\\textit\{|\\emph\{|\*{1,2}|_{1,2}|\(|\[|—|–|-|~)"
_CREDIT_LINE = re.compile(rf"(?:^|\n)[ \t]*{_MARKS}*[ \t]*(?:{_SAID})[^\n]{{0,200}}\s*\Z", re.IGNORECASE)
_NAME = r"(?:[A-Z][\w.'’-]*|de|la|van|von|der|and|&)"
_SIGNED = re.compile(rf"(?:^|\n)[ \t]*\[i\]\s*{_NAME}(?:[\s,]+{_NAME}){{0,11}}\.?\s*\[/i\]\s*\Z")
_NUMBERED = re.compile(
    r"\A\s*(?:\*\*|\\textbf\{)?(?:Problem|Question|Exercise|Task|Aufgabe|Problème|Problema|Задача)\s+(?:No\.?\s*)?"
    r"[A-Z]?\d{1,4}(?:\.\d{1,3})?\s*(?:[.:)]|\}|\*\*)+\s*(?=\S)",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(
    r"\A\s*(\d{1,3})\s?[.．、]\s*(?=(?:[（(]\s*\d{1,2}\s*(?:分|points?|pts?|marks?)\s*[)）])|[^\W\d_]|\$|\\)"
)
_POINTS = re.compile(r"\A\s*[（(\[]\s*\d{1,2}\s*(?:分|points?|pts?|marks?)\s*[)）\]]\s*", re.IGNORECASE)
# The last sentence of a prompt: where to put the answer, or how to think. It must follow another sentence.
_INSTRUCTION = re.compile(
    r"(?<=[\s.?!$\])}])(?:"
    r"(?:let's|let us|please|you should|you must|put|give|present|write|output|return|express)\b[^.?!\n]{0,120}"
    r"\banswers?\b[^.?!\n]{0,60}\\boxed\s*\{[^{}\n]{0,40}\}[^.?!\n]{0,80}"
    r"|(?:(?:let's|let us|please|you should|you must)\s+)?(?:think|reason|solve)\b[^.?!\n]{0,60}"
    r"step[ -]by[ -]step[^.?!\n]{0,80}"
    r")[.!]?\s*\Z",
    re.IGNORECASE,
)
_ANSWER_FORM = re.compile(r"\s*After solving the above problem,? please output.*\Z", re.IGNORECASE | re.DOTALL)
_NOTHING = re.compile(
    r"\A[\s.*_()\[\]{}?-]*(?:none|null|nan|n/?a|tbd|todo|no (?:solution|answer|proof)"
    r"(?: (?:given|available|provided|found|yet))?)?[\s.*_()\[\]{}?-]*\Z",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(r"\A\s*(?:null|nan|n/?a|\[\]|\{\})?\s*\Z", re.IGNORECASE)


def credit(text: str) -> str | None:
    """The credit at the end of a statement, if there is one."""
    found = _CREDIT_LINE.search(text) or _SIGNED.search(text)
    return found.group().strip() if found and found.start() > 0 else None


def strip_credits(text: str) -> str:
    """Take "Proposed by …", "Source: …" and a signature in italics off the end of a statement."""
    while (found := credit(text)) is not None:
        text = text[: text.rindex(found)].rstrip()
    return text


def strip_problem_number(text: str) -> str:
    """Take "Problem 3.", "8. (5 points)" and the like off the beginning of a statement.

    A bare number stays when the next one follows on a later line: then it counts the parts of the problem.
    """
    while True:
        changed = _POINTS.sub("", _NUMBERED.sub("", text, count=1), count=1)
        bare = _BARE_NUMBER.match(changed)
        if bare and not re.search(rf"\n\s*{int(bare.group(1)) + 1}\s?[.．、)]", changed):
            changed = changed[bare.end() :]
        if changed == text:
            return text
        text = changed


def strip_instructions(text: str) -> str:
    r"""Take off what a prompt adds to a problem: how to think and where to put the answer.

    "Let's think step by step and output the final answer within \\boxed{}." at the end is no part of a problem.
    """
    while (changed := _INSTRUCTION.sub("", _ANSWER_FORM.sub("", text)).rstrip()) != text.rstrip():
        text = changed
    return text


def says_nothing(text: str) -> bool:
    """Whether a statement or solution is empty or only a word for "there is none"."""
    return len(text) < 60 and _NOTHING.match(text) is not None


def is_no_answer(text: str) -> bool:
    """Whether an answer is empty or null; "None" is an answer (no such number exists)."""
    return len(text) < 10 and _NO_ANSWER.match(text) is not None
