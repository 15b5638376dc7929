"""Losses that are discrete: listed in float64, listed in balls, and the lattice that they lie on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
from flint import arb

from tests.oracle.discrete_gaussian import DiscreteGaussian
from tests.oracle.finite import FiniteLaw
from tests.oracle.integer_noise import Skellam
from tests.oracle.precision import ball, precision
from tests.oracle.truth import Ratio, Truth
from tightrope.core.losses.operators import registered as operators
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked, holds, meets

SHOWN = 20  # outputs of an infinite law
ENDLESS = (DiscreteGaussian, Skellam)


def losses(truth: Truth) -> list[arb]:
    """The finite losses in rising order, those that differ."""
    rate, law = Fraction(truth.rate), truth.law
    if isinstance(law, ENDLESS):
        ratios = [law._ratio(x) for x in range(-SHOWN, SHOWN + law.sensitivity + 1)]
    else:
        assert isinstance(law, FiniteLaw), "a list of losses that are not discrete"
        ratios = [
            output.ratio
            for output in law.outputs()
            if output.ratio.factor is not None and not (output.p.is_zero() and output.q.is_zero())
        ]
    found = []
    for ratio in ratios:
        mixture = ball(1 - rate) + ball(rate) * ball(ratio.factor) * ball(ratio.exponent).exp()
        both = ratio != Ratio(Fraction(0)) or rate < 1
        if both and mixture > 0:
            found.append(mixture.log() if truth.direction == "remove" else -mixture.log())
    ordered = sorted(found, key=float)
    return [one for one, two in pairwise([*ordered, None]) if two is None or not one.overlaps(two)]


def between(places: list[arb]) -> list[float]:
    """One place before, after and between all losses, told from both neighbours."""
    gaps = [float((one + two) / 2) for one, two in pairwise(places) if two - one > 1e-9]
    return [float(places[0]) - 1.0137, *gaps, float(places[-1]) + 1.0137] if places else [0.0]


def lost(truth: Truth) -> Fraction | object:
    """The second law of the outputs that the first law does not have."""
    return Truth(truth.law, truth.rate, "add" if truth.direction == "remove" else "remove").infinite_mass()


def atoms(asked: Asked) -> bool:
    found = asked.pair.atoms()
    if found is not None:
        with precision(300):
            known, hidden = losses(asked.truth), arb(0, found.left_out)
            for index in range(found.loss.value.size):
                here = arb(float(found.loss.value[index]), float(found.loss.radius[index]))
                reached = isinstance(asked.law, ENDLESS) and not known[0] < here < known[-1]
                assert reached or any(here.overlaps(loss) for loss in known), f"no output has the loss {here}"
            assert holds(found.infinite, ball(asked.truth.infinite_mass()))
            assert holds(found.lost, ball(lost(asked.truth)))  # type: ignore[arg-type]
            for t in between(known)[::3]:
                above, truth = found.loss.value > t, asked.truth.tails(t)
                p, q = (_sum(side.value[above], side.radius[above]) + hidden for side in (found.p, found.q))
                p += arb(float(found.infinite.value), float(found.infinite.radius))
                meets(p, truth.p_above, f"P of losses above {t!r}")
                meets(q, truth.q_above, f"Q of losses above {t!r}")
                assert p.rad() < 1e-11
    return found is not None


def _sum(values: np.ndarray, radii: np.ndarray) -> arb:
    return sum((arb(float(value), float(radius)) for value, radius in zip(values, radii, strict=True)), arb(0))


def finite(asked: Asked) -> bool:
    law = operators.finite_law(asked.pair)
    if law is not None:
        with working_precision(BITS):
            known, listed = losses(asked.truth), law.atoms()
            assert law.size() == len(listed)
            meets(law.infinite_mass(), ball(asked.truth.infinite_mass()), "the infinite mass")
            meets(law.lost_mass(), ball(lost(asked.truth)), "the lost mass")  # type: ignore[arg-type]
            for atom in listed:
                assert any(atom.loss.overlaps(loss) for loss in known), f"no output has the loss {atom.loss}"
                meets((atom.p / atom.q).log(), atom.loss, "log(p / q) of an atom")
            for t in between(known):
                above, truth = [atom for atom in listed if atom.loss > t], asked.truth.tails(t)
                p, q = sum((atom.p for atom in above), law.infinite_mass()), sum((atom.q for atom in above), arb(0))
                meets(p, truth.p_above, f"P of losses above {t!r}")
                meets(q, truth.q_above, f"Q of losses above {t!r}")
                value = law.hockey_stick(arb(t))
                if value is not None:
                    meets(value, asked.truth.delta(t), f"delta({t!r})")
    return law is not None


def lattice(asked: Asked) -> bool:
    """Every loss is shift + log factor + n step."""
    found = asked.pair.lattice()
    if found is not None:
        with precision(300):
            for loss in losses(asked.truth):
                rest = loss - ball(found.shift) - ball(found.factor).log()
                if found.step.trivial:
                    assert rest.overlaps(arb(0)), loss
                    continue
                step = ball(found.step.number).log() if found.step.logarithm else ball(found.step.number)
                whole = (rest / step + 0.5).floor().unique_fmpz()
                assert whole is not None, loss
                assert abs(rest / step - whole) < 1e-60, f"{loss} is not on the lattice"
    return found is not None
