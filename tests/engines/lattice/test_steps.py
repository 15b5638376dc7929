"""Each step of the lattice keeps its side: chords, tilts, coarser grids, narrow windows, noise as large as claimed."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from tests.oracle import enumeration
from tightrope.core.engines.lattice import compose as lattice_compose
from tightrope.core.engines.lattice import compose as lattice_law
from tightrope.core.engines.lattice import grid as lattice_masses
from tightrope.core.engines.lattice import native as lattice_native
from tightrope.core.engines.lattice.compose import Side
from tightrope.core.losses.atoms import LatticeStep, SumLattice
from tightrope.core.losses.finite.finite_pair import FinitePair
from tightrope.core.losses.finite.laws import RationalLaw, response_law
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.poisson import PoissonRemove
from tightrope.core.numerics.convolution import Circular

STEP = 2.0**-22
CHANCE, USES = 0.75, 40


def chord_case() -> tuple[PoissonRemove, np.ndarray]:
    """A sampled Gaussian on a grid so fine that the difference of two profiles cancels to nine digits."""
    return PoissonRemove(GaussianPair(((1.0, 1.0, 1),)), 0.25), np.arange(-400, 400) * STEP


def test_chords_dominate() -> None:
    """The mass from each point on is at or above the exact chord's."""
    pair, points = chord_case()
    found = lattice_masses.masses_above(pair, points, STEP, float(points[400]))
    before = ctx.prec
    ctx.prec = 200
    try:
        span = -arb(-STEP).expm1()
        profile = [pair.ball_hockey_stick(arb(float(point))) for point in points]
        suffix = Fraction(float(found.infinite))
        for index in range(len(points) - 1, 0, -1):
            suffix += Fraction(float(found.masses[index])) * (1 + Fraction(4, 2**53))
            exact = profile[index] + (profile[index - 1] - profile[index]) / span
            assert arb(float(suffix)) >= exact * (1 - arb(2) ** -50), index
    finally:
        ctx.prec = before
    assert found.infinite >= 0.05, "the range is far too short for this pair: the rest is infinite"


def test_tilted_entries_keep_their_side() -> None:
    """e^(log_scale - slope i) t_i against the mass that it stands for."""
    rng = np.random.default_rng(3)
    masses = rng.random(300)
    masses /= masses.sum()
    before = ctx.prec
    ctx.prec = 200
    try:
        for side in Side:
            law = lattice_law.tilted(masses, 0, 2, 0.037, side)
            scale = arb(law.log_scale.numerator) / arb(law.log_scale.denominator)
            for index, (mass, entry) in enumerate(zip(masses, law.masses, strict=True)):
                stands_for = (scale - arb(law.slope) * index).exp() * arb(float(entry))
                gap = (stands_for / arb(float(mass)) - 1) * side.value
                assert gap > 0, (side, index)
                assert gap < 1e-12
    finally:
        ctx.prec = before


def test_coarser_grids_keep_their_side() -> None:
    """Chords: P and Q grow, entry sums against the exact split. Merging: sums of runs, in fractions."""
    rng = np.random.default_rng(4)
    masses = rng.random(257)
    masses /= masses.sum()
    width = 2.0**-6
    fine = lattice_law.tilted(masses, 8, 2, 0.01, Side.UP)
    coarse = lattice_law.coarsened_by_chords(fine, 4, width)
    assert _exact_mass(coarse) >= _exact_mass(fine)
    assert _exact_mass(coarse) <= _exact_mass(fine) * (1 + Fraction(1, 10**12))
    assert _exact_mass(coarse, -width * 4) >= _exact_mass(fine, -width) * (1 - Fraction(1, 10**30))
    for side in Side:
        fine = lattice_law.tilted(masses, 8, 2, 0.01, side)
        coarse = lattice_law.coarsened_by_merging(fine, 4)
        ratio = _exact_mass(coarse) / _exact_mass(fine)
        assert (ratio - 1) * side.value > 0
        assert abs(ratio - 1) < Fraction(1, 10**12)


def _exact_mass(law: lattice_law.LatticeLaw, tilt: float = 0.0) -> Fraction:
    """Sum of mass times e^(tilt i), from balls."""
    before = ctx.prec
    ctx.prec = 200
    try:
        scale = arb(law.log_scale.numerator) / arb(law.log_scale.denominator)
        total = sum(
            (
                (scale + (arb(tilt) - arb(law.slope)) * index).exp() * arb(float(entry))
                for index, entry in enumerate(law.masses)
            ),
            arb(0),
        )
        middle = total.mid().fmpq()
    finally:
        ctx.prec = before
    return Fraction(int(middle.p), int(middle.q))


def narrow_evaluator(tolerance: float, theta: float) -> lattice_native.NativeEvaluator:
    """Forty randomized responses in a window that leaves as much out as told."""
    pair = FinitePair(response_law(CHANCE, 2))
    floats, totals = pair.law.floats, []
    for side in Side:
        ends = floats.p.upper if side is Side.UP else floats.p.lower
        law = lattice_law.tilted(np.array([ends[0], 0.0, ends[1]]), -1, 1, theta * math.log(3.0), side)
        totals.append(lattice_compose.compose([(law, USES)], tolerance))
    assert len(totals[0].masses) < 2 * USES, "the window must be narrower than the law"
    lattice = SumLattice(LatticeStep(Fraction(3), True), Fraction(0), ())
    return lattice_native.NativeEvaluator(totals[0], totals[1], arb(3).log(), arb(0), lattice, (0.0, 0.0), theta)


def exact_response(epsilon: float) -> tuple[Fraction, Fraction]:
    """The same composition, outcome by outcome."""
    chance = Fraction(CHANCE)
    outcomes = tuple(
        (
            math.comb(USES, hits) * chance**hits * (1 - chance) ** (USES - hits),
            math.comb(USES, hits) * (1 - chance) ** hits * chance ** (USES - hits),
        )
        for hits in range(USES + 1)
    )
    return enumeration.delta(outcomes, epsilon)


def margins_in_narrow_windows() -> tuple[list[float], list[float]]:
    """How far each end is on its own side, over all epsilons of the window and beyond."""
    above, below = [], []
    for tolerance in (0.3, 0.1, 1e-3):
        for theta in (0.05, 0.2):
            evaluator = narrow_evaluator(tolerance, theta)
            for epsilon in np.linspace(0.0, 44.0, 45):
                low, high = exact_response(float(epsilon))
                value = evaluator.delta(float(epsilon))
                above.append(float(Fraction(value.upper) / low - 1) if low else 0.0)
                below.append(float(1 - Fraction(value.lower) / high) if high else 0.0)
    return above, below


def test_upper_end_in_narrow_windows() -> None:
    """Mass above and below the window counts for the upper end."""
    assert min(margins_in_narrow_windows()[0]) >= 0.0


def test_lower_end_in_narrow_windows() -> None:
    """Aliases of mass outside the window do not count for the lower end."""
    assert min(margins_in_narrow_windows()[1]) >= 0.0


def mixed(uses: tuple[int, int]) -> tuple[tuple[FinitePair, int], ...]:
    """Responses with odds of 3 and of 27, and a leak: their losses lie on the same lattice, at different steps."""
    rows = ((Fraction(3, 4), Fraction(1, 4)), (Fraction(27, 32), Fraction(1, 32), Fraction(1, 8)))
    others = (rows[0][::-1], (Fraction(1, 32), Fraction(27, 32), Fraction(1, 8)))
    leaky = RationalLaw((*(p / 2 for p in rows[1]), Fraction(1, 2)), (*(q / 2 for q in others[1]), Fraction(0)))
    lost = RationalLaw((*leaky.p, Fraction(0)), (*leaky.q, Fraction(1, 2)))
    return (FinitePair(RationalLaw(rows[0], others[0])), uses[0]), (FinitePair(lost), uses[1])


@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0 * math.log(3.0), 12.5])
def test_a_mix_of_steps_is_not_discretised(epsilon: float) -> None:
    terms = mixed((6, 3))
    outcomes = [(Fraction(1), Fraction(1))]
    for pair, count in terms:
        law = pair.law
        assert isinstance(law, RationalLaw)
        for _ in range(count):
            merged: dict[tuple[Fraction, Fraction], int] = {}
            for p, q in outcomes:
                for a, b in zip(law.p, law.q, strict=True):
                    merged[p * a, q * b] = merged.get((p * a, q * b), 0) + 1
            outcomes = [(p * ways, q * ways) for (p, q), ways in merged.items()]
    low, high = enumeration.delta(tuple(outcomes), epsilon)
    evaluator = lattice_native.prepare(terms, epsilon, None, 1e-9)
    assert evaluator is not None
    value = evaluator.delta(epsilon)
    assert Fraction(value.lower) <= high
    assert low <= Fraction(value.upper)
    assert value.upper - value.lower <= 1e-12 * value.upper


def noise_of_the_claimed_size(monkeypatch: pytest.MonkeyPatch, claimed: float = 1.0) -> None:
    """The transform is off by 0.9 of its radius, against either end; the engine is told `claimed` of the radius."""
    true_convolve = lattice_compose.fft_convolve
    pair = FinitePair(response_law(0.5625, 2))
    epsilon, chance, uses = 2.0, Fraction(9, 16), 200
    outcomes = tuple(
        (
            math.comb(uses, hits) * chance**hits * (1 - chance) ** (uses - hits),
            math.comb(uses, hits) * (1 - chance) ** hits * chance ** (uses - hits),
        )
        for hits in range(uses + 1)
    )
    low, high = enumeration.delta(outcomes, epsilon)
    for sign in (-1.0, 1.0):

        def noisy(factors: object, sign: float = sign) -> Circular:
            power = true_convolve(factors)  # type: ignore[arg-type]
            return Circular(power.masses + sign * 0.9 * power.radius, claimed * power.radius)

        monkeypatch.setattr(lattice_compose, "fft_convolve", noisy)
        evaluator = lattice_native.prepare([(pair, uses)], epsilon, None, 1e-9)
        assert evaluator is not None
        value = evaluator.delta(epsilon)
        assert Fraction(value.lower) <= high
        assert low <= Fraction(value.upper)


def test_noise_of_the_claimed_size_breaks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    noise_of_the_claimed_size(monkeypatch)


def test_half_the_radius_would_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        noise_of_the_claimed_size(monkeypatch, claimed=0.5)


def _two_far_apart(scale: float) -> lattice_law.LatticeLaw:
    """One atom, and next to nothing so far away that no exponential moment is a double."""
    masses = np.zeros(1 << 20)
    masses[0], masses[-1] = scale, 1e-20 * scale
    return lattice_law.LatticeLaw(masses, 0, 1, 0.0, Fraction(0), 0.0, Side.UP, 0)


def test_without_moments_all_that_there_is_may_lie_outside() -> None:
    sides = lattice_compose._Sides.of([(_two_far_apart(1.0), 1)], 1e-18)
    outside = sides.outside(0, 1 << 10, (1 << 20) - 1)
    assert 1e-20 <= outside <= 1.0 + 1e-9


def test_more_outside_than_a_double_holds_is_not_cut_down() -> None:
    sides = lattice_compose._Sides.of([(_two_far_apart(1e200), 2)], 1e-18)  # of 1e380 at least 1e360 are outside
    with pytest.raises(OverflowError):
        sides.outside(0, 1 << 10, 2 * (1 << 20) - 2)
