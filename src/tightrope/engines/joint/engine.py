"""The joint engine: compositions in which one sample serves several mechanisms.

A use whose base is a product (pairs.product) has no tails of its own. One use of it maps the profile of the product;
several uses, or others beside it, are composed from two finite pairs that have the true one between them.
Guarantee: upper and lower. Proof: docs/proofs/joint.md.
Reference: Zhu, Dong, Wang 2021, Thms 10 and 11.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import UnsupportedMechanism
from ...pair import Pair
from ...pairs.product import ProductPair, peeled, serves_several
from ...question import Question
from ..evaluation import Evaluator, Term, named
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
    flat = tuple(unfolded(terms))
    if not any(serves_several(pair) for pair, _ in terms):
        raise UnsupportedMechanism(named(terms), "no sample here serves several mechanisms; leave out engine='joint'")
    if len(flat) == 1 and flat[0][1] == 1:
        layers, base = peeled(flat[0][0])
        inner = base.factors if isinstance(base, ProductPair) else ((base, 1),)
        return OnceEvaluator(layers, Planner(inner, Question("delta", proof=proof), several=True), accuracy)
    if not any(serves_several(pair) for pair, _ in flat):
        return OnceEvaluator((), Planner(flat, Question("delta", proof=proof), several=True), accuracy)
    return prepare_several(flat, epsilon, delta, accuracy, proof)


def unfolded(terms: Sequence[Term]) -> list[Term]:
    """Products that nothing samples are terms themselves."""
    found: dict[Pair, int] = {}
    for pair, count in terms:
        for each, uses in pair.factors if isinstance(pair, ProductPair) else ((pair, 1),):
            found[each] = found.get(each, 0) + uses * count
    return list(found.items())
