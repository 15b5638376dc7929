"""The joint engine: compositions in which one sample serves several mechanisms.

A use whose base is a product (derived.product) has no tails of its own. One use of it maps the profile of the product;
several uses, or others beside it, are composed from two finite pairs that have the true one between them.
Guarantee: upper and lower. Proof: docs/proofs/joint.md.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...derived.product import serves_several, unfolded
from ...errors import UnsupportedMechanism
from ...pair import Pair
from ...question import Question
from ..evaluation import Evaluator, Term
from ..plan import Planner
from .once import OnceEvaluator
from .several import prepare_several


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-6,
    proof: bool = False,
) -> Evaluator:
    """An evaluator for terms of which some are samples of a product."""
    if not any(serves_several(pair) for pair, _ in terms):
        raise UnsupportedMechanism("no sample here serves several mechanisms; leave out engine='joint'")
    counts: dict[Pair, int] = {}
    for pair, count in unfolded(terms):
        counts[pair] = counts.get(pair, 0) + count
    flat = tuple(counts.items())
    question = Question("delta", proof=proof)
    if not any(serves_several(pair) for pair, _ in flat):
        return OnceEvaluator(None, Planner(flat, question, several=True), accuracy)
    sampling = flat[0][0].sampling() if len(flat) == 1 and flat[0][1] == 1 else None
    if sampling is not None:
        return OnceEvaluator(sampling, Planner(unfolded([(sampling.base, 1)]), question, several=True), accuracy)
    return prepare_several(flat, epsilon, delta, accuracy, proof)
