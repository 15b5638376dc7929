"""How a pair is made of others, or joins with its like: samples, products, closed forms, hits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from flint import arb

import tightrope as tr
from tests.oracle.chain import chain_delta
from tests.oracle.continuous import Centred, Gaussian, Laplace, Logistic
from tests.oracle.finite import FiniteLaw, Product
from tests.oracle.fold import CentredFold, GaussianFold
from tests.oracle.laplace_fold import LaplaceFold
from tests.oracle.precision import ball, precision
from tests.oracle.stability import Thresholded, ThresholdedFold, Unstable
from tests.oracle.truncated import GaussianNoise, Rounded
from tests.oracle.truth import Law, Truth
from tightrope.core.losses.operators import registered as operators
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked, meets, narrow

COUNT = 3
TIMES = 3
SHORT = 24  # outcomes


def fold(law: Law, direction: str) -> CentredFold | GaussianFold | LaplaceFold | ThresholdedFold | Truth:
    """COUNT uses of a law, by the oracle's own closed forms."""
    if isinstance(law, Gaussian):
        return GaussianFold(((law.sigma, law.sensitivity, COUNT),))
    if isinstance(law, Centred):
        return CentredFold(law.first, law.second, COUNT, direction == "remove")
    if isinstance(law, Laplace):
        return LaplaceFold(((law.scale, law.sensitivity, COUNT),))
    if isinstance(law, Thresholded):
        return ThresholdedFold(law, COUNT, direction == "remove")
    assert isinstance(law, FiniteLaw), f"no fold of {law!r}: add its closed form here"
    return Truth(Product(((law, COUNT),)), 1, direction)


def ties(law: Law) -> bool:
    """Whether sums of its losses are equal without being fractions: the oracle would compare them for ever.

    tests/losses/truncated/test_cells.py and tests/mechanisms/test_stability.py add them up without an order.
    """
    return (isinstance(law, Rounded) and isinstance(law.noise, GaussianNoise)) or isinstance(law, Unstable)


def compose_exact(asked: Asked) -> bool:
    found = asked.pair.compose_exact([(asked.pair, COUNT)])
    if found is not None and asked.rate == 1.0 and not ties(asked.law):
        truth = fold(asked.law, asked.direction)
        for epsilon in asked.epsilons()[1:]:
            at = epsilon * 1.37
            with working_precision(BITS):
                value = found.ball_hockey_stick(arb(at))
            meets(value, truth.delta(at), f"delta({at!r}) of {COUNT} uses")
            assert narrow(value), f"delta({at!r}) of {COUNT} uses is wide: {value}"
        assert found.hockey_stick_cost() >= 1
    return found is not None


def conditioned_on_finite_loss(asked: Asked) -> bool:
    """Without the infinite mass w, H is (H - w)/(1 - w)."""
    found = operators.condition_on_finite_loss(asked.pair)
    if found is not None:
        with working_precision(BITS):
            assert found.infinite_mass().is_zero()
            mass = ball(asked.truth.infinite_mass())
            for epsilon in asked.epsilons():
                truth = (asked.truth.delta(epsilon) - mass) / (1 - mass)
                meets(found.ball_hockey_stick(arb(epsilon)), truth, f"delta({epsilon!r}) without the infinite loss")
    return found is not None


def sampled(asked: Asked) -> bool:
    """A sample that stays in the family has the same profile as the oracle's mixture."""
    if asked.rate == 1.0:
        return False
    plain = Asked(asked.row, 1.0, asked.direction).pair
    found = operators.sampled_in_family(plain, asked.rate, asked.way)
    if found is not None:
        for epsilon in asked.epsilons():
            with working_precision(BITS):
                meets(found.ball_hockey_stick(arb(epsilon)), asked.truth.delta(epsilon), f"delta({epsilon!r})")
    return found is not None


def sampling(asked: Asked) -> bool:
    """The base, its rate and the direction are those that were asked for."""
    found = operators.sampling_of(asked.pair)
    if found is not None:
        assert (found.rate, found.direction) == (asked.rate, asked.way)
        for epsilon in asked.epsilons():
            with working_precision(BITS):
                meets(
                    found.base.ball_hockey_stick(arb(epsilon)),
                    asked.base.delta(epsilon),
                    f"delta({epsilon!r}) of the base",
                )
    return found is not None


def factors(asked: Asked) -> bool:
    """One sample for several uses: the base is their product, with each pair and its count."""
    if asked.rate == 1.0:
        return False
    leaf, other = asked.row.mechanism, tr.Gaussian(sigma=7.25)
    found = operators.sampling_of((leaf * 2 + other).poisson(rate=asked.rate).pair(asked.way))
    product = None if found is None else operators.factors_of(found.base)
    if product is not None:
        plain, left = Asked(asked.row, 1.0, asked.direction).pair, dict(product)
        assert left.pop(other.pair(asked.way)) == 1
        ((pair, count),) = left.items()
        if count == 1:  # two finite laws are one
            truth = Truth(Product(((asked.law, 2),)), 1, asked.direction)  # type: ignore[arg-type]
            for epsilon in () if ties(asked.law) else asked.epsilons():
                with working_precision(BITS):
                    meets(pair.ball_hockey_stick(arb(epsilon)), truth.delta(epsilon), f"delta({epsilon!r}) of two")
        else:
            assert (pair, count) == (plain, 2)
    return product is not None


def shifted(asked: Asked) -> bool:
    """The oracle's noise at TIMES its shift."""
    assert operators.shifted_pair(asked.pair, 1) == asked.pair
    found = operators.shifted_pair(asked.pair, TIMES)
    if found is not None:
        assert asked.rate == 1.0, "a sample is no noise that is shifted"
        law = asked.law
        field = next(name for name in ("sensitivity", "shift", "epsilon") if hasattr(law, name))
        assert field != "epsilon" or isinstance(law, Logistic), law
        shift = getattr(law, field)
        shift = TIMES * (shift if isinstance(shift, int) else Fraction(shift))
        longer = replace(law, **{field: shift})  # type: ignore[type-var]
        truth = Truth(longer, 1, asked.direction)
        for epsilon in asked.epsilons():
            with working_precision(BITS):
                meets(
                    found.ball_hockey_stick(arb(epsilon)), truth.delta(epsilon), f"delta({epsilon!r}) of {TIMES} shifts"
                )
    return found is not None


def group_privacy(asked: Asked) -> bool:
    """Two steps, against the definition in fractions that are as close to the masses as balls tell them."""
    if not isinstance(asked.law, FiniteLaw) or asked.rate < 1.0:
        return operators.chained_pair(asked.pair, [(asked.pair, 2)]) is not None
    outputs = exact_outputs(asked.law)
    found = operators.chained_pair(asked.pair, [(asked.pair, 2)]) if len(outputs) < SHORT else None
    if found is not None:
        steps = [outputs if asked.direction == "remove" else [(q, p) for p, q in outputs]] * 2
        with working_precision(BITS):
            for alpha in (Fraction(1, 3), Fraction(1), Fraction(9, 8), Fraction(7, 2)):
                truth = ball(chain_delta(steps, alpha)) + arb(0, 1e-40)
                meets(found.ball_hockey_stick(ball(alpha).log()), truth, f"H({alpha}) of two steps")
    return found is not None


def exact_outputs(law: FiniteLaw) -> list[tuple[Fraction, Fraction]]:
    """Fractions that are as close to the masses as balls tell them."""
    with precision(4 * BITS):
        return [(_fraction(each.p), _fraction(each.q)) for each in law.outputs()]


def _fraction(mass: arb) -> Fraction:
    middle = mass.mid().fmpq()
    return Fraction(int(middle.p), int(middle.q))


def visible_participation(asked: Asked) -> bool:
    """One use, told apart: delta of the hits and misses is that of the law up to what is hidden and blurred."""
    with working_precision(BITS):
        found = operators.visible_participation(asked.pair)
        if found is not None:
            for epsilon in asked.epsilons()[1:]:
                truth = asked.truth.delta(epsilon)
                ends = [_told(found, arb(epsilon) + blur) for blur in (arb(0), found.blur)]
                assert not truth > ends[0] + found.hidden, epsilon
                assert not truth < ends[1] - found.hidden, epsilon
    return found is not None


def _told(found: object, epsilon: arb) -> arb:
    """delta of: with `chance` a Gaussian loss on top of log chance, else log(1 - chance); `sure` on top of both."""
    chance, variance, sure = Fraction(found.chance), found.variance, found.sure  # type: ignore[attr-defined]
    left, total = epsilon - sure, arb(0)
    if chance > 0:
        root, at = variance.sqrt(), left - ball(chance).log()
        above = ((at / root - root / 2) / arb(2).sqrt()).erfc() / 2
        total += ball(chance) * (above - at.exp() * ((at / root + root / 2) / arb(2).sqrt()).erfc() / 2)
    if chance < 1:
        total += (ball(1 - chance) - left.exp()).max(arb(0))
    return total


def opaque(asked: Asked) -> bool:
    """No row of the table is: all of them are asked for tails."""
    assert not operators.is_opaque(asked.pair)
    return False


def divergence(asked: Asked) -> bool:
    """No row of the table has it: their moments are formulas or quadratures."""
    assert asked.pair.moments().divergence(2.0) is None
    return False
