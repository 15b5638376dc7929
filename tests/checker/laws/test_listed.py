"""delta from the list of all outcomes, against exact fractions and against integrals by mpmath."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import mpmath as mp
import pytest
from flint import arb

from tightrope.checker.laws.discrete import DiscreteGaussianLaw
from tightrope.checker.laws.finite import LeakyResponseLaw, RatiosLaw, response
from tightrope.checker.laws.laplace import LaplaceLaw
from tightrope.checker.laws.listed import enclosed

P, Q = (
    (Fraction(1, 10), Fraction(2, 5), Fraction(1, 2), Fraction(0)),
    (Fraction(1, 5), Fraction(1, 2), Fraction(1, 5), Fraction(1, 10)),
)


@pytest.mark.parametrize("odds", [Fraction(1), Fraction(3, 2), Fraction(7), Fraction(31, 2), Fraction(1, 3)])
def test_every_outcome_is_counted(odds: Fraction) -> None:
    """delta = sum (p - odds q)_+ over all outputs of five uses, in fractions."""
    uses = [list(zip(P, Q, strict=True))] * 3 + [
        [(Fraction(3, 5), Fraction(2, 5)), (Fraction(2, 5), Fraction(3, 5))]
    ] * 2
    wanted = sum(max(prod(p for p, _ in row) - odds * prod(q for _, q in row), Fraction(0)) for row in product(*uses))
    terms = [(RatiosLaw(P, Q), 3), (response(Fraction(3, 5), 2), 2)]
    found = enclosed(terms, arb(odds.numerator).log() - arb(odds.denominator).log())
    assert found is not None
    assert found.contains(arb(wanted.numerator) / wanted.denominator) or found.overlaps(
        arb(wanted.numerator) / wanted.denominator
    )


def laplaces(edges: list[float], epsilon: float) -> mp.mpf:
    """E (1 - e^(eps - S))_+ with one atom or density of the loss at a time."""
    if not edges:
        return max(1 - mp.exp(mp.mpf(epsilon)), mp.mpf(0))
    edge, others = mp.mpf(edges[0]), edges[1:]

    def inner(loss: mp.mpf) -> mp.mpf:
        return laplaces(others, epsilon - loss)

    kinks = sorted(
        {
            -edge,
            edge,
            *(
                min(max(epsilon - sum(s * e for s, e in zip(signs, others, strict=True)), -edge), edge)
                for signs in product((-1, 1), repeat=len(others))
            ),
        }
    )
    between = mp.quad(lambda loss: mp.exp((loss - edge) / 2) / 4 * inner(loss), kinks) if len(kinks) > 1 else 0
    return inner(edge) / 2 + mp.exp(-edge) / 2 * inner(-edge) + between


@pytest.mark.parametrize(
    ("edges", "epsilon"),
    [([0.5], 0.25), ([0.5], 0.7), ([0.5], -0.6), ([0.5, 0.5], 0.3), ([0.5, 1.25], 0.75)],
)
def test_laplace_uses_are_the_residues(edges: list[float], epsilon: float) -> None:
    found = enclosed([(LaplaceLaw(Fraction(edge)), edges.count(edge)) for edge in dict.fromkeys(edges)], arb(epsilon))
    assert found is not None
    with mp.workdps(18):
        assert abs(mp.mpf(found.mid().str(25, radius=False)) - laplaces(edges, epsilon)) < 1e-15
    assert found.rad() < 1e-25


def test_three_laplace_uses_and_a_response() -> None:
    """The mean over the outcomes of the response of three uses, which are two and one more by an integral."""
    epsilon = 0.4
    found = enclosed(
        [(LaplaceLaw(Fraction(1, 2)), 2), (LeakyResponseLaw(Fraction(1, 4), Fraction(1, 8)), 1)], arb(epsilon)
    )
    assert found is not None
    with mp.workdps(18):
        truth = mp.mpf(7) / 8 / (1 + mp.exp(mp.mpf(-0.25)))
        less = mp.mpf(7) / 8 - truth
        wanted = (
            mp.mpf(1) / 8 + truth * laplaces([0.5, 0.5], epsilon - 0.25) + less * laplaces([0.5, 0.5], epsilon + 0.25)
        )
        assert abs(mp.mpf(found.mid().str(25, radius=False)) - wanted) < 1e-15


def test_many_uses_cancel_and_are_exact_still() -> None:
    """At the largest loss 2^-N is all there is: delta(eps) ~ 2^-N (1 - e^(eps - N e)) next to it."""
    found = enclosed([(LaplaceLaw(Fraction(1, 2)), 100)], arb(50 - 2.0**-40))
    assert found is not None
    assert abs(found * arb(2) ** 140 - 1) < 1e-9
    assert enclosed([(LaplaceLaw(Fraction(1, 2)), 100)], arb(50)) == 0


def test_what_cannot_be_listed_is_refused() -> None:
    assert enclosed([(RatiosLaw(P, Q), 10**6)], arb(1)) is None
    assert enclosed([(DiscreteGaussianLaw(Fraction(1), 1), 2)], arb(1)) is None
    assert enclosed([(LaplaceLaw(Fraction(1)), 10**5)], arb(1)) is None
