"""The smallest rho of zero-concentrated privacy where a formula tells it: K(c) <= c (c + 1) rho for every c > 0.

Losses in [-a, b]: the least of three. b, since D_o <= b at every order. L tanh(L/2), L the larger of a and b, which
randomized response attains at order 1. (a + b)^2 tanh(h/2)/(4h), h = log((e^a - 1)/(1 - e^-b)): the inequality of
Kearns and Saul for the two-point law with these losses; less where the range is skewed, the same where it is not.
Laplace noise: e - 1 + e^-e, its divergence of order 1, at a shift of e scales.
Guarantee: upper; L tanh(L/2) and Laplace's are attained. Proof: docs/proofs/zcdp.md, sections 1 to 3.
Reference: Bun, Steinke 2016, Prop. 3.3 has L^2/2; Kearns, Saul 1998, Lemma 1.
"""

from __future__ import annotations

from flint import arb


def rho_of_range(lowest: arb | None, highest: arb) -> arb | None:
    """Of losses between these, None where none is the lowest; None where the highest is not finite."""
    if not highest.is_finite():
        return None
    if lowest is None:
        return highest
    most = abs(highest).max(abs(lowest))
    least = highest.min(most * (most / 2).tanh())
    spread, lean = highest - lowest, ((-lowest).expm1() / -(-highest).expm1()).log()
    if not lean.is_finite():  # an end next to 0, or beyond what has an exponential
        return least
    # tanh(h/2)/h is at most 1/2, its limit at 0.
    skewed = spread * spread / 4 * (arb(0.5) if lean.contains(0) else (lean / 2).tanh() / lean)
    return least.min(skewed) if skewed.is_finite() else least


def rho_of_laplace(edge: arb) -> arb:
    """e - 1 + e^-e = e^2/2 M(1, 3, -e), Kummer's function: nothing cancels for small e."""
    if edge > 1:
        return edge + (-edge).expm1()
    return edge * edge / 2 * (-edge).hypgeom_1f1(arb(1), arb(3))
