"""The sparse vector technique: noise with a flat top, and what real neighbours of it answer.

The noise: density K e^(-fall (x - W)) above W, K from 0 to W, K e^(rise x) below 0; at 1 against at 0. Its loss is
continuous, and linear between the places 0, W, 1 and W + 1 where one of the two densities has a corner.
Real answers: all that a run over some queries may say, by quadrature over the noise of the threshold.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from .continuous import Rising
from .precision import Number, ball
from .truth import Choice, Masses, Ratio


@dataclass(frozen=True)
class FlatTop(Rising):
    """slope: K times log 2, as a fraction; over_e: divided by e besides. P lies to the right."""

    fall: Number
    rise: Number
    slope: Number
    over_e: bool = False

    def top(self) -> tuple[arb, arb]:
        """K and W."""
        rise, fall = ball(Fraction(self.rise)), ball(Fraction(self.fall))
        top = ball(Fraction(self.slope)) / arb(2).log() / (arb(1).exp() if self.over_e else 1)
        if top * (rise + fall) > rise * fall:
            return rise * fall / (rise + fall), arb(0)
        return top, 1 / top - 1 / rise - 1 / fall

    def sides(self, x: arb) -> tuple[arb, arb]:
        """The noise above x and below it."""
        top, width = self.top()
        rise, fall = ball(Fraction(self.rise)), ball(Fraction(self.fall))
        if x < 0:
            below = top / rise * (rise * x).exp()
            return top / fall + top * width + top / rise * -(rise * x).expm1(), below
        if x > width:
            above = top / fall * (-fall * (x - width)).exp()
            return above, top / rise + top * width + top / fall * -(-fall * (x - width)).expm1()
        return top / fall + top * (width - x), top / rise + top * x

    def log_density(self, near: arb, shift: int) -> Callable[[acb, bool], acb]:
        """Of the noise around the shift, by the formula that holds near this place."""
        top, width = self.top()
        rise, fall, x = ball(Fraction(self.rise)), ball(Fraction(self.fall)), near - shift
        if x < 0:
            return lambda x, _: top.log() + rise * (x - shift)
        return lambda x, _: acb(top.log()) if near - shift < width else top.log() - fall * (x - shift - width)

    def right(self, choice: Choice) -> Masses:
        _, width = self.top()
        rise, fall = ball(Fraction(self.rise)), ball(Fraction(self.fall))
        loss = choice.crossing().log()
        # Places with their losses; of two places with the loss 0 the set begins behind the second, or before the first.
        if width > 1:
            middle = arb(1) if choice.takes(Ratio(Fraction(1))) == choice.remove else width
            x = middle + loss / rise if middle == 1 else width + loss / fall
            x = x.min(arb(1)) if middle == 1 else x.max(width)
        else:
            corners = sorted(
                [(arb(0), -rise), (width, rise * (width - 1)), (arb(1), fall * (1 - width)), (1 + width, fall)]
            )
            x = arb(0)
            for (a, la), (b, lb) in itertools.pairwise(corners):
                if not loss < la and b > a:
                    x = a + (loss - la).min(lb - la) * (b - a) / (lb - la)
        (p, p_rest), (q, q_rest) = self.sides(x - 1), self.sides(x)
        return Masses(p, q, p_rest, q_rest)

    def ratio_range(self) -> tuple[Ratio, Ratio]:
        return Ratio(Fraction(1), -Fraction(self.rise)), Ratio(Fraction(1), Fraction(self.fall))


def answers(queries: Sequence[Number], threshold_scale: Number, query_scale: Number, above: int) -> list[arb]:
    """The probabilities of all that a run over these queries may say; it ends with so many answers above."""
    kinks = sorted({Fraction(0), *(Fraction(query) for query in queries)})
    reach = 60 * (Fraction(threshold_scale) + Fraction(query_scale))
    places = [ball(kink) for kink in (kinks[0] - reach, *kinks, kinks[-1] + reach)]
    runs: list[tuple[bool, ...]] = [()]
    for _ in queries:
        runs = [said for run in runs for said in ([run] if sum(run) == above else [(*run, False), (*run, True)])]
    return [_probability(run, queries, threshold_scale, query_scale, places) for run in runs]


def _probability(
    run: tuple[bool, ...], queries: Sequence[Number], threshold_scale: Number, query_scale: Number, places: list[arb]
) -> arb:
    wide, scale, total = ball(Fraction(threshold_scale)), ball(Fraction(query_scale)), arb(0)
    for low, high in itertools.pairwise(places):
        middle = (low + high) / 2

        def density(z: acb, _: bool, middle: arb = middle) -> acb:
            value = (-z / wide if middle > 0 else z / wide).exp() / (2 * wide)
            for said, query in zip(run, queries, strict=False):
                place = ball(Fraction(query))
                tail = (-(z - place) / scale if middle > place else (z - place) / scale).exp() / 2
                value *= tail if said == bool(middle > place) else 1 - tail
            return value

        total += acb.integral(density, acb(low), acb(high)).real
    return total + arb(0, 2.0**-80)  # beyond, the threshold has less than e^-60
