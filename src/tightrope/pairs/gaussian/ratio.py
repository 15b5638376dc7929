"""Gaussian shifts: Y = e^{mu x - mu^2/2} with x normal, and psi(s) = E e^{-s (Y - 1)} on a vertical line.

The line of integration is moved to x - i theta, 0 <= theta <= arg(s)/(2 mu), so that the integrand falls before it
turns: with beta = arg(s) - mu theta
    E e^{-s Y} = int n(x) e^{theta^2/2 + i theta x} e^{-|s| e^{i beta} Y(x)} dx,    n the normal density.
At x + i y, |y| <= b, its modulus is at most n(x) e^{(y - theta)^2/2} as long as |beta + mu y| <= pi/2. The sum over
x = j h, |j| <= J, with Z = (J + 1/2) h misses the integral by at most
    (e^{(b - theta)^2/2} + e^{(b + theta)^2/2})/(e^{2 pi b/h} - 1)           the strip
    + 4 b n(Z) max(e^{theta^2/2}, e^{(b + theta)^2/2 - 2 pi b/h})            its ends
    + e^{theta^2/2} P[|x| > Z]                                             what lies outside.
Guarantee: enclosed. Proof: docs/proofs/allocation_transform.md, sections 2 and 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flint import acb, arb

from ...facets.ratio import RatioDecay
from ...kernels.ball import BITS_START, erfc, working_precision
from .pair import GaussianPair

RATIO_TURN_MAX = 4.0  # the line is moved by no more: e^{theta^2/2} costs digits
RATIO_TURNS = 5  # lines that are tried for a bound, to either side
RATIO_ROUGH_POINTS, RATIO_ROUGH_REACH = 80, 10.0  # of a sum in floats
RATIO_SPARE_NATS = 4.0  # asked for beyond the wanted error
RATIO_SPARE_BITS = 32
RATIO_RATE_MAX = 300.0  # beyond, what is left is small enough
RATIO_POINT_WORK, RATIO_BIT_WORK = 500.0, 8.0  # units of work of a point, and for each bit
RATIO_REAL_NATS = 30.0  # of psi at a real number, relative


class TurnedStrip(NamedTuple):
    """Points j step, |j| <= half, and how far from the real line the integrand is bounded."""

    step: arb
    half: int
    width: arb
    weights: list[arb]  # n(x) step
    ratios: list[arb]  # Y(x)


@dataclass(frozen=True)
class GaussianRatio:
    """psi of a Gaussian pair."""

    pair: GaussianPair

    def value_work(self, real: float, log_error: float) -> float:
        nats = RATIO_SPARE_NATS - log_error + real
        return (2 * _spacing(self._mu, nats).half + 1) * (RATIO_POINT_WORK + RATIO_BIT_WORK * _bits(nats))

    def values(self, real: arb, step: arb, nodes: int, log_error: float) -> list[acb]:
        mu = self.pair.ball_mu()
        nats = RATIO_SPARE_NATS - log_error + float(real.mid())
        with working_precision(_bits(nats)):
            strip = _strip(mu, nats)
            return [_turned(acb(real, step * n), mu, strip, nats) for n in range(nodes)]

    def fall(self, real: arb, least: arb) -> RatioDecay:
        """|E e^{-s Y}| <= e^{theta^2/2} E e^{-r Y}, r = c cos(mu theta) + v sin(mu theta), for 0 <= mu theta <= pi/2.

        It falls with v. E e^{-r Y} <= E[1/Y]/(e r) = e^{mu^2 - 1}/r.
        """
        with working_precision(BITS_START):
            mu = self.pair.ball_mu()
            most = math.pi / 2.0 / float(mu.mid())
            near = min(float((mu * least).mid()), most)  # the best one where Y - 1 is about normal
            turns = [min(near * 2.0 ** (0.5 * j), most) for j in range(-RATIO_TURNS, RATIO_TURNS)] + [
                0.7 * most,
                0.9 * most,
            ]
            rough = [(self._rough_decay(float(real.mid()), float(least.mid()), theta), theta) for theta in turns]
            theta = arb(min(rough)[1])
            level = real + theta * theta / 2
            rate = (real * (mu * theta).cos() + least * (mu * theta).sin()).lower()
            slope = (level + mu * mu - 1).exp() / (mu * theta).sin()
            return RatioDecay(level + self._real(rate).upper().log(), slope)

    def _rough_decay(self, real: float, least: float, theta: float) -> float:
        mu = self._mu
        rate = real * math.cos(mu * theta) + least * math.sin(mu * theta)
        return real + 0.5 * theta * theta + max(self.log_rough(rate) - rate, -RATIO_RATE_MAX)

    def _real(self, rate: arb) -> arb:
        """E e^{-rate Y}."""
        mu = self.pair.ball_mu()
        nats = RATIO_REAL_NATS + min(float(rate.mid()), RATIO_RATE_MAX)
        return _sum(acb(rate), mu, _strip(mu, nats), nats).real

    def log_rough(self, real: float) -> float:
        least = self._rough[0][1]
        total = sum(weight * math.exp(-real * (more - least)) for weight, more in self._rough)
        return math.log(total) - real * least

    def spread(self) -> float:
        return math.sqrt(math.expm1(min(self._mu**2, 700.0)))

    @cached_property
    def _mu(self) -> float:
        with working_precision(BITS_START):
            return float(self.pair.ball_mu().mid())

    @cached_property
    def _rough(self) -> list[tuple[float, float]]:
        """Weights, and Y - 1."""
        step = 2.0 * RATIO_ROUGH_REACH / RATIO_ROUGH_POINTS
        points = [step * index - RATIO_ROUGH_REACH for index in range(RATIO_ROUGH_POINTS + 1)]
        norm = step / math.sqrt(2.0 * math.pi)
        mu = self._mu
        return [(norm * math.exp(-0.5 * x * x), math.expm1(min(mu * x - 0.5 * mu * mu, 700.0))) for x in points]


class StripSpacing(NamedTuple):
    """Between points, and how many there are on one side."""

    step: float
    half: int


def _bits(nats: float) -> int:
    return math.ceil(nats / math.log(2.0)) + RATIO_SPARE_BITS


def _spacing(mu: float, nats: float) -> StripSpacing:
    """For an error of about e^-nats."""
    width = min(math.pi / 4.0 / mu, RATIO_TURN_MAX)
    step = 2.0 * math.pi * width / (nats + 2.0 * width * width + 2.0)
    return StripSpacing(step, math.ceil(math.sqrt(2.0 * nats + width * width + 2.0) / step))


def _strip(mu: arb, nats: float) -> TurnedStrip:
    """Points for an error of about e^-nats."""
    step, half = _spacing(float(mu.mid()), nats)
    h = arb(step)
    points = [h * j for j in range(-half, half + 1)]
    norm = h / (2 * arb.pi()).sqrt()
    weights = [(-x * x / 2).exp() * norm for x in points]
    b = (arb.pi() / 4 / mu).min(arb(RATIO_TURN_MAX)).lower()
    return TurnedStrip(h, half, b, weights, [(mu * x - mu * mu / 2).exp() for x in points])


def _turned(s: acb, mu: arb, strip: TurnedStrip, nats: float) -> acb:
    return _sum(s, mu, strip, nats) * s.exp()


def _sum(s: acb, mu: arb, strip: TurnedStrip, nats: float) -> acb:
    """E e^{-s Y}, Re s > 0 and Im s >= 0."""
    angle = s.arg() if not s.imag.is_zero() else arb(0)
    theta = (angle / (2 * mu)).min(arb(RATIO_TURN_MAX)).max(arb(0)).mid()
    turned = -(s * acb(0, -mu * theta).exp())
    growth = (theta * theta / 2).exp()
    error = _missed(theta, strip) if _within(angle - mu * theta, mu * strip.width) else arb.pos_inf()
    total, phase, turn = acb(0), acb(0, -theta * strip.step * strip.half).exp(), acb(0, theta * strip.step).exp()
    most = (nats + RATIO_SPARE_NATS) / max(float(-turned.real.mid()), 1e-300)
    for weight, ratio in zip(strip.weights, strip.ratios, strict=True):
        if ratio < most:
            total += phase * weight * (turned * ratio).exp()
        else:
            error += weight * (turned.real * ratio).exp() * growth
        phase *= turn
    error = error.upper()
    return total * growth + acb(arb(0, error), arb(0, error))


def _within(beta: arb, reach: arb) -> bool:
    """Whether the exponent falls in the whole strip."""
    return bool(beta + reach < arb.pi() / 2 and reach - beta < arb.pi() / 2)


def _missed(theta: arb, strip: TurnedStrip) -> arb:
    """By the sum over the points, of the integral."""
    b, h = strip.width, strip.step
    end = h * (2 * strip.half + 1) / 2
    periods = 2 * arb.pi() * b / h
    near, far, growth = ((b - theta) ** 2 / 2).exp(), ((b + theta) ** 2 / 2).exp(), (theta * theta / 2).exp()
    sides = 4 * b * (-end * end / 2).exp() / (2 * arb.pi()).sqrt() * growth.max(near).max(far * (-periods).exp())
    return (near + far) / periods.expm1() + sides + growth * erfc(end / arb(2).sqrt())
