"""The hits engine: compositions of Poisson-sampled uses in which few hits, or hits that are seen, decide.

Hits that are seen are counted (visible.py: little noise); few hits leave a law that is short once the losses that
decide alone are cut off (few.py, cut.py); and where no double is as small as delta, that is said at once (nothing.py).
Guarantee: lower <= delta <= upper. Proof: docs/proofs/hits.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UnsupportedMechanism
from ..evaluation import Evaluator, Term
from . import nothing, visible


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for one direction and one question; a refusal takes a millisecond."""
    if any(pair.sampling() is not None for pair, _ in terms):
        found = nothing.prepare(terms, epsilon)
        if found is not None:
            return found
    try:
        return visible.prepare(terms, epsilon, delta, accuracy)
    except UnsupportedMechanism:
        if proof:
            raise
    from . import few  # late: it needs numpy, which proofs do without

    return few.prepare(terms, epsilon, delta, accuracy)
