"""Maps of other pairs, and pairs that are known between two finite ones."""

from __future__ import annotations

from flint import arb

from tightrope.derived.maximum import maximum_pair
from tightrope.derived.poisson import poisson_pair
from tightrope.facets.between import Fineness
from tightrope.kernels.ball import working_precision
from tightrope.pair import Pair
from tightrope.relation import Direction

from .asked import BITS, Asked, meets

FINE = Fineness(40, 1e-12, False)


def bases(asked: Asked) -> bool:
    """The same map of the same pairs is the pair itself, and maps know nothing of its base that it does not say."""
    found = asked.pair.bases()
    if found:
        same = asked.pair.over(found)
        for epsilon in asked.epsilons():
            with working_precision(BITS):
                meets(same.ball_profile(arb(epsilon)), asked.truth.delta(epsilon), f"delta({epsilon!r}) made again")
    return bool(found)


over = bases


def alternatives(asked: Asked) -> bool:
    """Both orders of the laws as alternatives: the larger profile, which is its own mirror."""
    pair = _either(asked)
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            meets(pair.ball_profile(arb(epsilon)), _largest(asked, epsilon), f"delta({epsilon!r}) of either order")
    return bool(pair.alternatives())


def between(asked: Asked) -> bool:
    """The finite pairs around the same."""
    assert asked.pair.bracketed() or asked.pair.between(FINE) is None
    pair = _either(asked)
    if asked.rate != 1.0 or asked.direction == "add" or not pair.bracketed():
        return False
    found = pair.between(FINE)
    assert found is not None
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            truth = _largest(asked, epsilon)
            low, high = (end.ball_profile(arb(epsilon)) for end in found)
            assert not low > truth, f"delta({epsilon!r}) below is {low}, above {truth}"
            assert not high < truth, f"delta({epsilon!r}) above is {high}, below {truth}"
    return True


def bracketed(asked: Asked) -> bool:
    """Only what is a map, a product, or between two finite pairs."""
    pair = asked.pair
    known = pair.bracketed()
    assert not known or pair.bases() or pair.factors() is not None or pair.between(FINE) is not None
    return known


def joined(asked: Asked) -> bool:
    """No row of the table is: each of them is one law, and what uses of it tell is their product."""
    assert asked.pair.joined([(asked.pair, 2)]) is None
    return False


def _either(asked: Asked) -> Pair:
    return maximum_pair([asked.pair, asked.pair.reversed()])


def _largest(asked: Asked, epsilon: float) -> arb:
    """H and 1 - a + a H(1/a)."""
    mirror = 1 - arb(epsilon).exp() * (1 - asked.truth.delta(-epsilon))
    return asked.truth.delta(epsilon).max(mirror)


def dominates(asked: Asked) -> bool:
    """Itself, and its own sample where it says so; the order of the profiles is that of the answers."""
    pair = asked.pair
    assert pair.dominates(pair)
    sample = poisson_pair(pair, 0.5, Direction(asked.direction))
    found = [(one, other) for one, other in ((pair, sample), (sample, pair)) if one.dominates(other)]
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            for one, other in found:
                high, low = one.ball_profile(arb(epsilon)), other.ball_profile(arb(epsilon))
                assert not high < low, f"delta({epsilon!r}) is {high}, below {low}"
    return bool(found)
