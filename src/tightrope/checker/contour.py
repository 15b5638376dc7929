"""delta(eps) of a composition as a sum along a vertical line, with everything that the sum leaves out.

With M the moments of the finite losses, K = sum k_i log M_i, c > 0, L = 2 pi/h and every s > c,

    T(h) = (h/2 pi) sum over j of F(c + ijh),   F(z) = e^{K(z) - z eps}/(z(z + 1)),
    0 <= T(h) - I(eps) <= 1/(e^{cL} - 1) + kappa(s) e^{K(s) - s eps}/(e^{(s-c)L} - 1),   kappa(s) = s^s/(1+s)^{1+s} < 1,

and delta(eps) = I(eps) + P[infinite loss]. On a lattice of losses all nodes sum in closed form.
Proof: docs/proofs/contour.md, sections 1 to 3; docs/proofs/checker.md, section 3.
The tilts c and s, the step and the number of nodes are choices, and every choice is sound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from flint import acb, arb

from .choices import aliases
from .law import CheckedLaw, Term, ceiling, cgf, infinite, precision

LINE_NODES_MIN, LINE_NODES_MAX = 32, 40_000
CIRCLE_MAX = 400_000
GUARD_BITS = 64


def chernoff(terms: Sequence[Term], epsilon: arb, tilt: arb) -> arb:
    """At least I(eps): kappa(s) e^{K(s) - s eps}, whatever s > 0."""
    with precision(2 * GUARD_BITS):
        kappa = tilt * tilt.log() - (1 + tilt) * (1 + tilt).log()
        return (cgf(terms, tilt) - tilt * epsilon + kappa).exp()


def enclosed(
    terms: Sequence[Term], epsilon: arb, tilt: arb, goal: int, late: Callable[[], bool]
) -> tuple[arb, arb] | None:
    """Lower and upper bound of delta(eps), about 2^-goal of Chernoff's bound apart; None where there is none."""
    tilt = tilt.mid()
    with precision(GUARD_BITS + goal // 4):
        far, period = aliases(terms, epsilon, tilt, goal)
    if not (0 < tilt < far and period > 0):  # the one thing that is asked of these choices
        return None
    with precision(goal + GUARD_BITS + 2 * sum(count for _, count in terms).bit_length()):
        if len(terms) == 1 and terms[0][0].lattice() is not None:
            found = _circle(terms[0], epsilon, tilt, period)
        else:
            found = _line(terms, epsilon, tilt, period, goal, late)
        if found is None:
            return None
        total, error, period = found
        apart = (cgf(terms, far) - far * epsilon).exp() / ((far - tilt) * period).expm1()
        alias = 1 / (tilt * period).expm1() + apart
        never = infinite(terms)
        return never + (total - error - alias).max(arb(0)), never + total + error


def _line(
    terms: Sequence[Term], epsilon: arb, tilt: arb, period: arb, goal: int, late: Callable[[], bool]
) -> tuple[arb, arb, arb] | None:
    """T(h) without the nodes beyond a reach, at most what these may add, and L."""
    step = (2 * arb.pi() / period).mid()
    found = _reach(terms, tilt, step, goal, late)
    if found is None:
        return None
    nodes, fallen = found
    scale = (cgf(terms, tilt) - tilt * epsilon).exp()
    products = _products(terms, tilt, step, nodes + 1)
    if products is None:
        return None
    total = arb(0)
    for j, product in enumerate(products):
        z = acb(tilt, step * j)
        total += (product * acb(0, -step * j * epsilon).exp() / (z * (z + 1))).real * (2 if j else 1)
    error = scale * fallen * arb.atan2(tilt, step * nodes) / (arb.pi() * tilt)
    return scale * total * step / (2 * arb.pi()), error, 2 * arb.pi() / step


def _circle(term: Term, epsilon: arb, tilt: arb, period: arb) -> tuple[arb, arb, arb] | None:
    """T(h) for losses base + n step, L a multiple of the step: sum over all n at once, by geometric series.

    The first loss above epsilon is l_0; where a ball does not tell which one that is, the error says what it may cost.
    """
    law, count = term
    lattice = law.lattice()
    assert lattice is not None
    base, gap = lattice[0] * count, lattice[1]
    size = 2 * ceiling(period / gap / 2) + 1
    if size > CIRCLE_MAX:
        return None
    place = (epsilon - base) / gap
    if not place.rad() < arb(1) / 2:  # the first loss would be unknown by more than one
        return None
    first = base + gap * ceiling(place.mid())
    step = 2 * arb.pi() / (gap * size)
    products = _products([term], tilt, step, size // 2 + 1)
    if products is None:
        return None
    total = arb(0)
    for j, product in enumerate(products):
        z = acb(tilt, step * j)
        weight = 1 / (1 - (-z * gap).exp()) - (epsilon - first).exp() / (1 - (-(z + 1) * gap).exp())
        total += (product * acb(0, -step * j * first).exp() * weight).real * (2 if j else 1)
    largest = (cgf([term], tilt) - tilt * first).exp()
    below = (epsilon - first).expm1().max(arb(0))  # the first loss may lie at or below epsilon, and count for nothing
    above = (1 - (epsilon - first + gap).exp()).max(arb(0)) * (tilt * gap).exp()  # or the one before it counts
    return largest * total / size, largest * (below + above), gap * size


def _products(terms: Sequence[Term], tilt: arb, step: arb, count: int) -> list[acb] | None:
    """prod (M_i(tilt + ijh)/M_i(tilt))^{k_i} for each node; None where that is too much for a law."""
    values = [acb(1)] * count
    for law, uses in terms:
        moments = law.moments(tilt, step, count)
        if moments is None:
            return None
        values = [each * _raised(value / moments[0], uses) for each, value in zip(values, moments, strict=True)]
    return values


def _raised(ratio: acb, uses: int) -> acb:
    """ratio^uses; a ball around 0 by its modulus, which is at most 1 as |M(c + it)| <= M(c)."""
    if ratio.contains(acb(0)):  # which nan does, too
        most = abs(ratio).upper()
        error = arb(0, (most.log() * uses).exp().upper() if 0 < most < 1 else arb(0 if most == 0 else 1))
        return acb(error, error)
    return (ratio.log() * uses).exp()


def _reach(terms: Sequence[Term], tilt: arb, step: arb, goal: int, late: Callable[[], bool]) -> tuple[int, arb] | None:
    """How many nodes do, and a bound of the product beyond them; first whether the most would."""
    nodes = LINE_NODES_MIN
    if not _fallen(terms, tilt, step * LINE_NODES_MAX) < arb(2) ** -goal:
        return None
    while nodes <= LINE_NODES_MAX and not late():
        fallen = _fallen(terms, tilt, step * nodes)
        if fallen < arb(2) ** -goal:
            return nodes, fallen
        nodes *= 2
    return None


def _fallen(terms: Sequence[Term], tilt: arb, reach: arb) -> arb:
    """At least prod (|M_i(tilt + it)|/M_i(tilt))^{k_i} for every t >= reach, and for some before."""
    halves = (reach.log() / arb.const_log2() * 2).lower().floor().unique_fmpz()
    product = arb(1)
    if halves is None:
        return product
    for law, uses in terms:
        product *= (_decay(law, *map(int, tilt.man_exp()), int(halves)).log() * uses).exp().upper()
    return product


@lru_cache(maxsize=512)
def _decay(law: CheckedLaw, mantissa: int, exponent: int, halves: int) -> arb:
    """At the tilt mantissa 2^exponent, from a little before 2^(halves/2) on: once for many points."""
    near = (arb(2) ** (arb(halves) / 2) * (1 - arb(2) ** -40)).mid()
    return law.decay(arb(mantissa) * arb(2) ** exponent, near)
