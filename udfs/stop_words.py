"""Words that say nothing about a solution's method and are left out of token sets."""

from __future__ import annotations

from functools import cache

MATHEMATICAL_STOP_WORDS: frozenset[str] = frozenset(
    {
        "let",
        "assume",
        "consider",
        "given",
        "suppose",
        "find",
        "compute",
        "solve",
        "show",
        "determine",
        "value",
        "expression",
        "equation",
        "result",
        "step",
        "term",
        "method",
        "approach",
        "solution",
        "thus",
        "hence",
        "therefore",
        "so",
        "then",
        "if",
        "and",
        "or",
        "but",
        "theorem",
        "lemma",
    }
)
"""The paper's words that occur in most solution summaries whatever the method is."""


@cache
def stop_words() -> frozenset[str]:
    """Lower-case stop words: scikit-learn's English list and the mathematical ones.

    The English list is read from the installed scikit-learn, so it is the list of the version that
    runs; the import waits for the first call because it costs most of a second.

    Returns
    -------
    frozenset of str
        About 340 words, all lower case.
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | MATHEMATICAL_STOP_WORDS
