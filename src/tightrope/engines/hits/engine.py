"""The hits engine: compositions of Poisson-sampled uses in which few hits, or hits that are seen, decide.

Two ways: hits that are seen (visible.py, little noise).
Guarantee: lower <= delta <= upper. Proof: docs/proofs/hits.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluation import Evaluator, Term
from . import visible

NAME = "hits"


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for one direction and one question; a refusal takes a millisecond."""
    return visible.prepare(terms, epsilon, delta, accuracy)
