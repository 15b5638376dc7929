"""Maps of other pairs, and pairs that are known between two finite ones."""

from __future__ import annotations

from flint import arb

from tests.conformance.cases import STANDARD, rates_of
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.losses.operators import registered as operators
from tightrope.core.losses.operators.extremes import maximum_pair
from tightrope.core.losses.operators.registered import remake
from tightrope.core.losses.pair import Pair
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked, meets

FINE = Resolution(40, 1e-12, False)


def bases(asked: Asked) -> bool:
    """The same map of the same pairs is the pair itself, and maps know nothing of its base that it does not say."""
    found = asked.pair.bases()
    if found:
        same = remake(asked.pair, found)
        for epsilon in asked.epsilons():
            with working_precision(BITS):
                meets(
                    same.ball_hockey_stick(arb(epsilon)), asked.truth.delta(epsilon), f"delta({epsilon!r}) made again"
                )
    return bool(found)


over = bases


def alternatives(asked: Asked) -> bool:
    """Both orders of the laws as alternatives: the larger profile, which is its own mirror."""
    pair = _either(asked)
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            meets(pair.ball_hockey_stick(arb(epsilon)), _largest(asked, epsilon), f"delta({epsilon!r}) of either order")
    return bool(operators.alternatives_of(pair))


def bracket(asked: Asked) -> bool:
    """The finite pairs around the same."""
    assert operators.has_bracket_only(asked.pair) or asked.pair.bracket(FINE) is None
    pair = _either(asked)
    if asked.rate != 1.0 or asked.direction == "add" or not operators.has_bracket_only(pair):
        return False
    found = pair.bracket(FINE)
    assert found is not None
    for epsilon in asked.epsilons():
        with working_precision(BITS):
            truth = _largest(asked, epsilon)
            low, high = (end.ball_hockey_stick(arb(epsilon)) for end in found)
            assert not low > truth, f"delta({epsilon!r}) below is {low}, above {truth}"
            assert not high < truth, f"delta({epsilon!r}) above is {high}, below {truth}"
    return True


def hockey_stick_bounds(asked: Asked) -> bool:
    """The truth is between the two, by float64 and by balls."""
    offered = False
    for proof in (False, True):
        bounds = operators.hockey_stick_bounds(asked.pair, proof)
        offered = offered or bounds is not None
        for epsilon in asked.epsilons() if bounds is not None else ():
            truth = asked.truth.delta(epsilon)
            assert not arb(bounds.lower(epsilon)) > truth, f"delta({epsilon!r}) below"
            assert not arb(bounds.upper(epsilon)) < truth, f"delta({epsilon!r}) above"
    return offered


def of_bounds(asked: Asked) -> bool:
    """A pair of which masses are known stands for one law: both orders of it, and its products, do too."""
    found = operators.of_bounds(asked.pair)
    assert not found or operators.is_opaque(asked.pair) or asked.pair.bases() or operators.factors_of(asked.pair)
    assert (
        found
        == operators.of_bounds(asked.pair.reversed())
        == operators.of_bounds(maximum_pair([asked.pair, asked.pair.reversed()]))
    )
    return found


def has_bracket_only(asked: Asked) -> bool:
    """Only what is a map, a product, or between two finite pairs."""
    pair = asked.pair
    known = operators.has_bracket_only(pair)
    assert not known or pair.bases() or operators.factors_of(pair) is not None or pair.bracket(FINE) is not None
    return known


def compose_dominating(asked: Asked) -> bool:
    """No row of the table is: each of them is one law, and what uses of it tell is their product."""
    assert operators.compose_dominating(asked.pair, [(asked.pair, 2)]) is None
    return False


def _either(asked: Asked) -> Pair:
    return maximum_pair([asked.pair, asked.pair.reversed()])


def _largest(asked: Asked, epsilon: float) -> arb:
    """H and 1 - a + a H(1/a)."""
    mirror = 1 - arb(epsilon).exp() * (1 - asked.truth.delta(-epsilon))
    return asked.truth.delta(epsilon).max(mirror)


def dominated(asked: Asked) -> bool:
    """Of either order: what it says to dominate lies nowhere above the larger profile."""
    found = operators.dominated_pairs(_either(asked))
    for epsilon in asked.epsilons() if found else ():
        with working_precision(BITS):
            for each in found:
                assert not each.ball_hockey_stick(arb(epsilon)) > _largest(asked, epsilon), f"delta({epsilon!r})"
    return bool(found)


def dominates(asked: Asked) -> bool:
    """Itself, and of the pairs of all rows and of their samples only those whose profile lies nowhere above."""
    pair = asked.pair
    assert operators.dominates(pair, pair)
    found = False
    for row in STANDARD:
        for rate in rates_of(row, [*{asked.rate, 0.01}]):
            other = Asked(row, rate, asked.direction)
            if other.pair != pair and operators.dominates(pair, other.pair):
                found = True
                for epsilon in (*asked.epsilons(), *other.epsilons()):
                    mine, theirs = asked.truth.delta(epsilon), other.truth.delta(epsilon)
                    assert not theirs > mine + arb(1e-30), f"delta({epsilon!r}) of {other.pair} is more: {theirs}"
    return found
