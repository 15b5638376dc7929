"""Many uses: every closed form against an oracle of its own kind, and each row of the table that has few outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import ROWS
from tests.conformance.containment import misses, misses_epsilon, relative_width
from tests.conformance.facets.structure import ties
from tests.oracle.finite import DiscreteLaplace, FiniteLaw, Histogram, Leaky, Product, response
from tests.oracle.fold import GaussianFold, Mixture, ResponseFold
from tests.oracle.laplace_fold import LaplaceFold
from tests.oracle.precision import Number
from tests.oracle.staircase import Staircase
from tests.oracle.truth import Ratio, Truth
from tests.search import shared


class Curve(Protocol):
    """Anything that knows delta at epsilon."""

    def delta(self, epsilon: Number, bits: int = 100) -> arb: ...


@dataclass(frozen=True)
class Composed:
    """A curve with its edges; the infinite mass of very many uses has too many digits to be written down."""

    curve: Curve
    mass: Fraction | None
    highest: Fraction | None

    def delta(self, epsilon: float) -> arb:
        return self.curve.delta(epsilon)

    def infinite_mass(self) -> Fraction:
        assert self.mass is not None
        return self.mass

    def supremum(self) -> arb | None:
        return None if self.highest is None else arb(float(self.highest)).union(arb(float(self.highest) * (1 + 1e-15)))


NOTHING = Fraction(0)
FEW_OUTPUTS = 8  # the truth lists all that seven uses can say
ZEROS = ((0.5, 0.25, 0.25, 0.0), (0.25, 0.5, 0.0, 0.25))


def gaussians(*uses: tuple[float, float, int]) -> Composed:
    return Composed(GaussianFold(uses), NOTHING, None)


def laplaces(*uses: tuple[float, float, int]) -> Composed:
    highest = sum((Fraction(shift) / Fraction(scale) * count for scale, shift, count in uses), NOTHING)
    return Composed(LaplaceFold(uses), NOTHING, highest)


def responses(epsilon: float, delta: float, count: int) -> Composed:
    mass = 1 - (1 - Fraction(delta)) ** count if count <= 1000 else None
    return Composed(ResponseFold(Ratio(Fraction(1), Fraction(epsilon)), delta, count), mass, Fraction(epsilon) * count)


def finite(*parts: tuple[object, int]) -> dict[str, Truth]:
    return {direction: Truth(Product(parts), 1, direction) for direction in ("remove", "add")}  # type: ignore[arg-type]


def powers() -> Iterator[tuple[tr.Mechanism, dict[str, object], tuple[float, ...]]]:
    """Seven uses of every row of the conformance table that has few outputs: nothing is to be added for them.

    Of what is not tight the law of the pair is not the truth about lower ends.
    """
    for row in ROWS:
        few = isinstance(row.law, FiniteLaw) and len(row.law.outputs()) <= FEW_OUTPUTS
        if few and not ties(row.law) and row.mechanism.tight:
            truths = finite((row.law, 7))
            last = float(truths["remove"].supremum())
            yield row.mechanism * 7, {**truths}, (0.0, 0.3 * last, 0.9 * last)


def both(truth: object) -> dict[str, object]:
    return {"remove": truth, "add": truth}


G, L, A, R = tr.Gaussian, tr.Laplace, tr.ApproximateDP, tr.RandomizedResponse
TABLE: tuple[tuple[tr.Mechanism, dict[str, object], tuple[float, ...]], ...] = (
    (G(sigma=10.0) * 100, both(gaussians((10, 1, 100))), (0.0, 1e-9, 0.5, 4.9, 21.0, 38.0)),
    (G(sigma=1.0) * 10**9, both(gaussians((1, 1, 10**9))), (0.0, 1e8, 5e8, 5.001e8, 6e8)),
    (G(sigma=1e-6) * 7, both(gaussians((1e-6, 1, 7))), (0.0, 1e12, 3.5e12, 3.50001e12)),
    (G(sigma=1e6) * 3, both(gaussians((1e6, 1, 3))), (0.0, 1e-6, 1e-5, 6e-5)),
    (G(sigma=5.0) * 3 + G(sigma=0.7, sensitivity=0.2) * 5, both(gaussians((5, 1, 3), (0.7, 0.2, 5))), (0.0, 0.7, 9.0)),
    (
        tr.Staircase(epsilon=1.0, gamma=0.75) * 9 + tr.PureDP(epsilon=0.5) * 3,
        finite((Staircase(1.0, 0.75), 9), (Leaky(0.5), 3)),
        (0.0, 1.0, 6.0, 10.4),
    ),
    (tr.MatrixMechanism(4.0, [[1.0], [0.3]]) * 3, both(gaussians((4, 1, 3), (4, 0.3, 3))), (0.0, 0.4, 5.0)),
    (tr.GDP(mu=0.5) * 4 + G(sigma=3.0), both(gaussians((1, 0.5, 4), (3, 1, 1))), (0.0, 0.3, 12.0)),
    (tr.PureDP(epsilon=0.1) * 60, both(responses(0.1, 0, 60)), (0.0, 0.05, 0.1, 2.0, 5.9, 5.999)),
    (A(epsilon=0.25, delta=1e-8) * 100, both(responses(0.25, 1e-8, 100)), (0.0, 0.3, 4.0, 20.0, 24.9)),
    (A(epsilon=0.01, delta=1e-6) * 1000, both(responses(0.01, 1e-6, 1000)), (0.0, 0.5, 1.0, 9.0)),
    (A(epsilon=1e-5, delta=1e-12) * 10**9, both(responses(1e-5, 1e-12, 10**9)), (0.5, 2.0)),
    (A(epsilon=0.0, delta=0.01) * 5, both(responses(0.0, 0.01, 5)), (0.0, 1.0)),
    (R(p=0.625, neighbours="add_remove") * 31, finite((response(0.625), 31)), (0.0, 0.4, 3.0, 15.0)),
    (R(p=0.75, categories=4, neighbours="add_remove") * 9, finite((response(0.75, 4), 9)), (0.0, 1.1, 8.0, 19.0)),
    (R(p=0.125, categories=3, neighbours="add_remove") * 6 + A(epsilon=0.5, delta=0.125),
     finite((response(0.125, 3), 6), (Leaky(0.5, 0.125), 1)), (0.0, 0.5, 4.0)),
    (tr.DiscreteLaplace(scale=2.0, sensitivity=3) * 6, finite((DiscreteLaplace(2.0, 3), 6)), (0.0, 0.25, 1.0, 8.9)),
    (tr.DiscreteLaplace(scale=3.0) * 40, finite((DiscreteLaplace(3.0), 40)), (0.0, 1.0 / 3.0, 4.0, 13.0)),
    (tr.Finite(p=ZEROS[0], q=ZEROS[1]) * 4, finite((Histogram(*ZEROS), 4)), (0.0, 0.5, 1.3, 2.7)),
    (L(scale=2.0) * 2, both(laplaces((2, 1, 2))), (0.0, 0.3, 0.5, 0.999)),
    (L(scale=2.0) * 5, both(laplaces((2, 1, 5))), (0.0, 0.3, 1.5, 2.4968, 2.4999999)),
    (L(scale=10.0) * 20, both(laplaces((10, 1, 20))), (0.0, 0.05, 1.0, 1.99)),
    (L(scale=0.1) * 4, both(laplaces((0.1, 1, 4))), (0.0, 20.0, 39.5)),
    (L(scale=2.0) * 2 + L(scale=5.0, sensitivity=3.0) * 3, both(laplaces((2, 1, 2), (5, 3, 3))), (0.0, 0.7, 2.7)),
    (L(scale=2.0) * 3 + tr.PureDP(epsilon=0.5) * 2,
     both(Composed(Mixture(Product(((Leaky(0.5), 2),)), LaplaceFold(((2, 1, 3),))), NOTHING, Fraction(5, 2))),
     (0.0, 1.0, 2.4)),
    (G(sigma=5.0) * 3 + G(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1),
     both(Composed(GaussianFold(((5, 1, 3), (8, 1, 5)), Leaky(0.1)), NOTHING, None)), (0.0, 1.5, 2.03, 20.0)),
    (G(sigma=2.0) * 2 + A(epsilon=0.3, delta=1e-9) * 10,
     both(Composed(GaussianFold(((2, 1, 2),), Product(((Leaky(0.3, 1e-9), 10),))),
                   1 - (1 - Fraction(1e-9)) ** 10, None)), (0.0, 1.0, 5.0, 30.0)),
    (G(sigma=2.0) + tr.Finite(p=ZEROS[0], q=ZEROS[1]) * 2,
     {direction: Composed(GaussianFold(((2, 1, 1),), Product(((Histogram(*ZEROS), 2),)), direction == "remove"),
                          Fraction(7, 16), None) for direction in ("remove", "add")}, (0.0, 0.8, 6.0)),
    *powers(),
)  # fmt: skip
INVERTIBLE = [row[:2] for row in TABLE if getattr(row[1]["remove"], "mass", NOTHING) is not None]


@pytest.mark.parametrize("direction", ("remove", "add"))
@pytest.mark.parametrize("mechanism, truths, epsilons", TABLE, ids=[repr(row[0]) for row in TABLE])
def test_composition(
    mechanism: tr.Mechanism, truths: dict[str, object], epsilons: tuple[float, ...], direction: str
) -> None:
    truth = truths[direction]
    for epsilon in shared(epsilons, direction):
        exact = truth.delta(epsilon)  # type: ignore[attr-defined]
        bound = mechanism.delta(epsilon=epsilon, direction=direction)
        reason = misses(bound, exact)
        assert not reason, f"{mechanism!r:.120}, {direction}, delta({epsilon!r}): {reason}"
        assert bound.upper < 1e-300 or relative_width(bound) <= 1e-6, (epsilon, bound)
        proven = mechanism.delta(epsilon=epsilon, direction=direction, proof=True)
        reason = misses(proven, exact)
        assert not reason, f"{mechanism!r:.120}, {direction}, delta({epsilon!r}), proof: {reason}"
        assert proven.upper < 1e-300 or relative_width(proven) <= 1e-12, (epsilon, proven)


@pytest.mark.parametrize("direction", ("remove", "add"))
@pytest.mark.parametrize("mechanism, truths", INVERTIBLE, ids=[repr(row[0]) for row in INVERTIBLE])
def test_epsilon_of_composition(mechanism: tr.Mechanism, truths: dict[str, object], direction: str) -> None:
    truth = truths[direction]
    top = float(truth.delta(0.0))  # type: ignore[attr-defined]
    for delta in shared((1e-200, 1e-30, 1e-9, 1e-6, 1e-3, 0.1, 0.9 * top), direction):
        bound = mechanism.epsilon(delta=delta, direction=direction)
        reason = misses_epsilon(bound, truth, delta)  # type: ignore[arg-type]
        assert not reason, f"{mechanism!r:.120}, {direction}, epsilon({delta!r}): {reason}"
        assert bound.width <= max(1e-6 * bound.upper, 1e-12), (delta, bound)
