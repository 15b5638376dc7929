"""The likelihood ratio of a mixture of shifts next to a point x0, in float64.

With p_k the law of the hits given x0, log g(x)/g(x0) = log sum p_k e^{k rise}, rise = mu (x - x0): log1p of
sum p_k expm1(k rise), terms of one sign, where that is small, so that the error is one of the ratio and not of 1.
The mean S and the variance V of the hits given x follow from the same terms.
Guarantee: the radius of kernels.enclosure. Proof: docs/proofs/gaussian_mixture.md, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ... import compute_budget
from ...kernels.ball import lower_float, upper_float, working_precision
from ...kernels.directed import MILLIONS, round_down, round_up
from ...kernels.enclosure import Enclosure, FloatArray, around, enclosed, enclosing, exact
from ...kernels.ulps import UNIT
from ..sampled_gaussian.decay_float import DECAY_SLACK, EXPONENT_ERROR, CellTable
from ..sampled_gaussian.quadrature_float import CENTRE_BITS

if TYPE_CHECKING:
    from .mixture_likelihood import MixtureLikelihood

TERM_BYTES, TERM_WORK = 64.0, 40.0  # bytes and units of work for a term at a node
NEAR_RISE = 0.5  # of log g: up to here log1p is the better one
NEAR_EXPONENT = 30.0  # of j mu (x - x0) for terms that count: below, nothing overflows
MU_ERROR = 8.0 * UNIT  # of a mu that is nearly the true one
NO_COUNT = 1e-300  # roundings of smaller ones are below UNIT times this


@dataclass(frozen=True, slots=True, eq=False)
class MixtureCentre:
    """log g(x0), and the law of the hits there."""

    law: MixtureLikelihood
    place: float
    log_g: Enclosure
    logs: Enclosure  # of p_k
    chances: Enclosure  # p_k
    counts: Enclosure  # k, in rows

    def _terms(self, rise: Enclosure) -> tuple[FloatArray, Enclosure]:
        """Rows of e^{log p_k + k rise - m}, and m, for every rise."""
        size = self.logs.value.size * rise.value.size
        compute_budget.hold(TERM_BYTES * size)
        compute_budget.spend(TERM_WORK * size)
        exponents = Enclosure(self.logs.value[:, None], self.logs.radius[:, None]) + self.counts * rise
        top = np.max(exponents.value, axis=0)
        return top, (exponents - top).exp()

    def log_ratios(self, rise: Enclosure) -> Enclosure:
        """log g(x)/g(x0)."""
        top, terms = self._terms(rise)
        far = _column_sums(terms).log() + top
        near = (abs(far.value) < NEAR_RISE) & (abs(rise.value) * self.law.most < NEAR_EXPONENT)
        if not near.any():
            return far
        small = rise[near]
        chances = Enclosure(self.chances.value[:, None], self.chances.radius[:, None])
        sums = _column_sums(chances * (self.counts * small).expm1()).log1p()
        value, radius = far.value.copy(), far.radius.copy()
        value[near], radius[near] = sums.value, sums.radius
        return Enclosure(value, radius)

    def hits(self, rise: Enclosure) -> tuple[Enclosure, Enclosure]:
        """S and V."""
        _, terms = self._terms(rise)
        total = _column_sums(terms)
        share = _column_sums(terms * self.counts) / total
        # The mean of (k - s)^2 is V + (S - s)^2.
        away = self.counts - exact(share.value)
        square = _column_sums(terms * (away * away)) / total
        return share, Enclosure(square.value, round_up(square.radius + share.radius * share.radius, MILLIONS))

    def share_above(self, mu: float, before: float) -> float:
        return self._share(mu, self.place - before, 1)

    def share_below(self, mu: float, after: float) -> float:
        return self._share(mu, self.place + after, -1)

    def _share(self, mu: float, x: float, side: int) -> float:
        with working_precision(CENTRE_BITS):
            share = self.law.ball_share(arb(mu, mu * MU_ERROR), arb(x))
            return upper_float(share) if side > 0 else lower_float(share)


def mixture_centre(law: MixtureLikelihood, mu: Enclosure, place: float) -> MixtureCentre:
    """By balls."""
    with working_precision(CENTRE_BITS):
        ball = arb(float(mu.value), float(mu.radius))
        top, terms = law.ball_terms(ball, arb(place))
        total = sum(terms, arb(0))
        log_g = top + total.log()
        logs, chances = enclosed([(term / total).log() for term in terms]), enclosed([term / total for term in terms])
        enclosure = enclosing(lower_float(log_g), upper_float(log_g))
        return MixtureCentre(law, place, enclosure, logs, chances, _rows(law.counts))


def _rows(counts: tuple[Fraction, ...]) -> Enclosure:
    near = np.array([float(count) for count in counts])
    off = [0.0 if Fraction(value) == count else UNIT for value, count in zip(near.tolist(), counts, strict=True)]
    return Enclosure(near[:, None], np.array(off)[:, None] * (near[:, None] + NO_COUNT))


def mixture_cells(law: MixtureLikelihood, mu: float, power: float, edges: FloatArray) -> CellTable | None:
    """The cells of a decay bound."""
    points = np.concatenate([edges, 0.5 * (edges[:-1] + edges[1:])])
    heights = [law.log_density(power, float(x)) for x in edges[:: max(1, edges.size // 64)]]
    place = float(edges[:: max(1, edges.size // 64)][int(np.argmax(heights))])
    ball_mu = around(mu, mu * MU_ERROR)
    centre = mixture_centre(law, ball_mu, place)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rise = ball_mu * (exact(points) - place)
        logs = centre.log_ratios(rise) * power - exact(points) * exact(points) * 0.5
        share, variance = centre.hits(rise[: edges.size])
        if not (np.all(np.isfinite(logs.radius)) and np.all(np.isfinite(variance.radius))):
            return None
        left, right, count, most = edges[:-1], edges[1:], edges.size, float(law.most)
        width = right - left
        low, high = np.fmax(share.lower, 0.0), np.fmin(share.upper, most)
        growth = round_up(np.exp(mu * width), MILLIONS)  # inf where no double holds it: 0 and the caps are left
        # V changes by at most e^{mu width}, and is at most S, D - S and D/4.
        least = round_down(np.fmax(np.fmax(variance.lower[:-1], variance.lower[1:]), 0.0) / growth, MILLIONS)
        caps = np.fmin(np.fmin(high[1:], round_up(most - low[:-1], MILLIONS)), 0.25 * most)
        spread = np.fmin(caps, round_up(np.fmin(variance.upper[:-1], variance.upper[1:]) * growth, MILLIONS))
    inner = law.cell(left, right, low[:-1], high[1:], least, spread)
    whole = law.cell(
        left=np.append(left, [-np.inf, edges[-1]]),
        right=np.append(right, [edges[0], np.inf]),
        share_left=np.append(low[:-1], [0.0, low[-1]]),
        share_right=np.append(high[1:], [high[0], most]),
        least=np.append(least, [0.0, 0.0]),
        most=np.append(spread, [min(high[0], 0.25 * most), min(most, round_up(most - low[-1], MILLIONS), 0.25 * most)]),
    )
    at_ends = logs.radius[:count]
    of_cell = np.fmax(np.fmax(at_ends[:-1], at_ends[1:]), logs.radius[count:])
    sizes = np.fmax(abs(logs.value[:-1][: count - 1]), abs(logs.value[1:][: count - 1]))
    parts = sizes + (abs(power) * mu * most + abs(left) + abs(right)) * width
    slack = np.full(count + 1, DECAY_SLACK)
    error = round_up(of_cell + EXPONENT_ERROR * parts, MILLIONS)
    return CellTable(inner, whole, logs.value[:count], logs.value[count:], at_ends, error, slack)


def _column_sums(terms: Enclosure) -> Enclosure:
    """Sums over the rows; n - 1 additions err by at most 1.01 n u times the sum of the sizes."""
    with np.errstate(all="ignore"):
        rounding = (terms.value.shape[0] + 2.0) * UNIT * np.sum(abs(terms.value), axis=0)
        return Enclosure(
            np.sum(terms.value, axis=0), round_up(np.sum(terms.radius, axis=0) + 1.01 * rounding, MILLIONS)
        )
