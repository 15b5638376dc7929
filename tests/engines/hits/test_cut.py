"""Few hits: what decides alone is cut off exactly; against quadrature, exact rationals and the contour."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import tightrope as tr
from tests.oracle.sampled_twice import Use, delta_of_two
from tests.reference.integrals import stored
from tightrope.core.engines.hits import cut
from tightrope.core.engines.hits.cut import CutQuestion
from tightrope.core.engines.hits.engine import SomeUse
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw
from tightrope.core.values.question import Direction

ORACLE_ERROR = mpmath.mpf(10) ** -12


@pytest.mark.parametrize(
    ("one", "other", "epsilon"),
    [
        (Use(1.059, 1.31e-4), Use(1.059, 1.31e-4), 0.0174075),
        (Use(1.0, 6.5e-4), Use(1.0, 6.5e-4), 0.0337),
        (Use(0.5, 1e-3), Use(2.0, 1e-2), 0.3),
        (Use(0.4, 1e-5), Use(0.6, 1e-4), 2.5),
        (Use(3.0, 1e-3), Use(3.0, 1e-3), 4e-3),
    ],
)
def test_two_removals(one: Use, other: Use, epsilon: float) -> None:
    run = tr.compose([tr.Gaussian(sigma=each.sigma).poisson(rate=each.rate) for each in (one, other)])
    bound = run.delta(epsilon, engine="hits", direction="remove")
    with mpmath.workdps(40):
        truth = mpmath.mpf(
            stored("one sampled Gaussian and another", one.sigma, one.rate, other.sigma, other.rate, epsilon)
        )
    assert bound.lower <= truth * (1 + ORACLE_ERROR)
    assert truth * (1 - ORACLE_ERROR) <= bound.upper
    assert bound.width < 2e-6 * bound.upper


@pytest.mark.parametrize("share", [0.2, 0.6, 0.9])
def test_two_additions(share: float) -> None:
    use = Use(1.0, 1e-3)
    epsilon = share * float(-2 * mpmath.log1p(-use.rate))
    run = tr.Gaussian(sigma=use.sigma).poisson(rate=use.rate) * 2
    bound = run.delta(epsilon, engine="hits", direction="add")
    truth = delta_of_two(use, use, epsilon, remove=False)
    assert bound.lower <= truth * (1 + ORACLE_ERROR)
    assert truth * (1 - ORACLE_ERROR) <= bound.upper
    assert bound.width < 1e-5 * bound.upper


@pytest.mark.parametrize(
    ("run", "delta"),
    [
        (tr.Gaussian(sigma=1.059).poisson(rate=1.31e-4) * 19, 4.67e-10),
        (tr.Gaussian(sigma=1.0).poisson(rate=6.5e-4) * 25, 1e-6),
        (tr.Gaussian(sigma=0.9).poisson(rate=1e-3) * 20 + tr.Gaussian(sigma=1.2).poisson(rate=2e-4) * 40, 1e-7),
    ],
    ids=repr,
)
def test_narrow(run: tr.Mechanism, delta: float) -> None:
    """Both questions to 1e-6, by this engine, and they agree."""
    found = run.epsilon(delta, engine="hits", direction="remove")
    assert found.certificate is not None
    assert found.width <= 1e-6 * found.upper
    assert run.delta(found.lower).upper >= delta >= run.delta(found.upper).lower
    lines = found.certificate.budget.upper
    assert lines["discretisation"] > max(lines["wrap_around"], lines["truncation"], lines["rounding"])


def test_overlaps_the_contour() -> None:
    run = tr.Gaussian(sigma=2.0).poisson(rate=1e-3) * 100
    for epsilon in (0.05, 0.1):
        cut_short, other = (run.delta(epsilon, engine=name, direction="remove") for name in ("hits", "contour"))
        assert max(cut_short.lower, other.lower) <= min(cut_short.upper, other.upper)


def rational_law(source: random.Random) -> tuple[list[Fraction], list[Fraction]]:
    """Two vectors of whole parts, some of them 0 on one side."""
    size = source.randint(2, 4)
    while True:
        p, q = ([source.choice([0, 1, 1, 2, 3, 5, 9]) for _ in range(size)] for _ in range(2))
        if any(a and b for a, b in zip(p, q, strict=True)):
            return [Fraction(a, sum(p)) for a in p], [Fraction(b, sum(q)) for b in q]


def exact_delta(laws: list[tuple[list[Fraction], list[Fraction]]], epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(40):
        factor, total = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(0)
        for outcome in itertools.product(*(list(zip(*law, strict=True)) for law in laws)):
            p, q = (math.prod(each) for each in zip(*outcome, strict=True))
            total += max(mpmath.mpf(p.numerator) / p.denominator - factor * q.numerator / q.denominator, 0)
        return total


def test_atoms_on_the_tops() -> None:
    """Triples of laws with atoms, with mass where one side is 0, and epsilons that put a top on an atom."""
    source = random.Random(7)
    for _ in range(120):
        laws = [rational_law(source) for _ in range(3)]
        losses = [[math.log(a / b) for a, b in zip(p, q, strict=True) if a and b] for p, q in laws]
        epsilon = max(losses[0]) + min(losses[1]) + min(losses[2])
        if not 1e-6 < epsilon < sum(map(max, losses)) - 1e-6:
            epsilon = 0.5 * max(sum(map(max, losses)), 0.2)
        terms = [(FinitePair(RationalLaw(tuple(p), tuple(q))), 1) for p, q in laws]
        asked = CutQuestion.of(terms)
        if not any(bottom < top for bottom, top in ((window.bottom, window.top) for window in asked.windows(epsilon))):
            continue
        with np.errstate(all="raise", under="ignore"):
            value = cut.evaluator(asked, epsilon, 500, 1e-3, 1e-3).delta(epsilon)
        truth = exact_delta(laws, epsilon)
        assert value.lower <= truth * (1 + ORACLE_ERROR)
        assert truth * (1 - ORACLE_ERROR) <= value.upper
        assert value.upper - value.lower < 0.05


def test_says_no_at_once() -> None:
    for run in (
        tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000,
        tr.Gaussian(sigma=1.0) * 3,
        tr.Laplace(scale=1.0) * 3,
    ):
        with pytest.raises(tr.UnsupportedMechanism):
            run.epsilon(1e-6, engine="hits")


def test_below_every_double() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=1e-300) * 2
    bound = run.delta(0.5)
    assert (bound.lower, bound.upper) == (0.0, 5e-324)
    assert bound.certificate is not None
    assert bound.certificate.parameters["way"] == "union bound"
    near = SomeUse(((tr.Gaussian(sigma=1.0).poisson(rate=0.1).pair(Direction.REMOVE), 2),))
    assert near.delta(0.5).upper >= delta_of_two(Use(1.0, 0.1), Use(1.0, 0.1), 0.5)


def test_little_time_keeps_the_coarse_grid() -> None:
    """Where the fine grid does not fit the time, the coarse one answers."""
    run = tr.Gaussian(sigma=0.54).poisson(rate=3.17e-5) * 1337
    bound = run.epsilon(2e-6, engine="hits", direction="remove", seconds=0.5)
    assert bound.lower <= 0.1337583 * (1 + 1e-5)
    assert bound.upper >= 0.1337583 * (1 - 1e-5)
    assert bound.width < 0.01 * bound.upper
