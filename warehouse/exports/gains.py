"""Integer gains: other tools take integers in qrels, and their linear nDCG of these is our ``ndcg_exp``."""

from __future__ import annotations

import math

SCALE = 1000
"""Gains are thousandths of 2^relevance - 1, so rounding moves a full-scale nDCG by less than 1e-3."""


def gain(relevance: float) -> int:
    """Return round(1000 (2^relevance - 1)), an integer >= 0.

    Raises
    ------
    ValueError
        For a relevance that is negative, not finite or too large for the 32 bits that tools give a gain.
    """
    if not math.isfinite(relevance) or relevance < 0 or relevance > 21:
        raise ValueError(f"a relevance must lie between 0 and 21, not {relevance}")
    return round(SCALE * (math.exp2(relevance) - 1))


def relevance_of_gain(value: float) -> float:
    """Return the relevance whose gain is `value` (inexact: the gain was rounded)."""
    if value < 0:
        raise ValueError(f"a gain must not be negative: {value}")
    return math.log2(1 + value / SCALE)
