"""What a profile says between and beyond its points: the power of a test, and the chance of a loss.

The profile is convex, so secants of two points bound it beyond them, and its slope between them.
Proof: docs/proofs/readings.md, section 2; docs/proofs/checker.md, section 8.
"""

from __future__ import annotations

from flint import arb

from .clock import now
from .law import NotCheckable, Term, infinite, precision
from .profile import FORMULA_BITS, Enclosures, Profile, enclosures

POWER_POINTS = 48
SECANT_BITS = (28, 44)  # of the two points beside one, relative

Level = tuple[arb, arb, arb]  # a place, and both ends of the profile there


def least_value(profile: Profile, x: arb) -> Enclosures:
    """The least H(a) + a x over all a >= 0: at points from above, by secants between and beyond them from below.

    Points are added where the secants meet, which is a choice.
    """
    if x == 0:
        yield profile.narrow(arb("inf"), arb(0))
        return
    if x == 1:
        yield arb(1), arb(1)
        return
    levels: list[Level] = [(arb(0), arb(1), arb(1))]
    rest, place = arb(0), arb(1)
    for _ in range(POWER_POINTS):
        with precision(FORMULA_BITS[-1]):
            where = place.log().mid()
            low, high = profile.narrow(where, x)
            levels = sorted([*levels, (where.exp(), low, high)], key=lambda level: level[0].mid())
            least, place = _least(levels, rest, x)
            most = arb(1)
            for a, _, high in levels:
                most = most.min(high + a * x)
            yield least.max(x), most
        if now() > profile.until or any(abs(place - a) < a * arb(2) ** -200 for a, _, _ in levels):
            return


def _least(levels: list[Level], rest: arb, x: arb) -> tuple[arb, arb]:
    """A lower bound of H(a) + a x over all a, and a place in the interval where it is least.

    On [a, b] the profile is above the secant of two points up to a, and above that of two points from b on, and so is
    any mean of the two; the last interval has no end, and a mean that does not fall.
    """
    worst, place = arb("inf"), arb(1)
    for i, (a, low, _) in enumerate(levels):
        left = arb(-1) if i == 0 else (low - levels[i - 1][2]) / (a - levels[i - 1][0])
        if i + 1 == len(levels):
            share = arb(1) if left + x >= 0 else (x / -left).lower() * (1 - arb(2) ** -60)
            value, other = share * low + (1 - share) * rest + a * x, a * 8
        else:
            b, low_b, _ = levels[i + 1]
            right = arb(0)
            if i + 2 < len(levels):
                right = ((levels[i + 2][2] - low_b) / (levels[i + 2][0] - b)).min(arb(0))
            share = ((right + x) / (right - left)).mid() if right > left else arb(0)
            share = share.max(arb(0)).min(arb(1)).mid()
            at_a = share * low + (1 - share) * (low_b - right * (b - a)) + a * x
            at_b = share * (low + left * (b - a)) + (1 - share) * low_b + b * x
            value = at_a.min(at_b)
            meeting = a + (low_b - right * (b - a) - low) / (left - right) if right > left else (a + b) / 2
            other = meeting if a < meeting < b else (a * b).sqrt() if a > 0 else b / 8
        if value.lower() < worst:
            worst, place = value.lower(), other.mid()
    return worst, place


def chance_above(profile: Profile, point: arb) -> Enclosures:
    """The chance of a loss above a place under P: H(a) + a Q[l > log a], Q between two secants of the convex H."""
    routes = [_above(terms, point, profile) for terms in profile.directions()]
    found = [(arb(0), arb(1))] * len(routes)
    for several in zip(*routes, strict=False):
        found = [
            (low.max(more.lower()), high.min(less.upper()))
            for (low, high), (more, less) in zip(found, several, strict=True)
        ]
        low, high = arb(0), arb(0)
        for least, most in found:
            low, high = low.max(least), high.max(most)
        yield low, high


def _above(terms: tuple[Term, ...], point: arb, profile: Profile) -> Enclosures:
    if any(law.witnesses() != (law,) for law, _ in terms):
        raise NotCheckable("of this law the checker knows delta alone")
    if sum(uses for _, uses in terms) == 1:
        tails = terms[0][0].tails(point)
        if tails is not None:
            both = infinite(terms) + tails[0]
            yield both, both
            return
    a = point.exp()
    for bits in SECANT_BITS:
        step = arb(2) ** -bits
        before, here, after = (_narrow(terms, point + way * step, profile, 2 * bits + 4) for way in (-1, 0, 1))
        least = ((here[0] - after[1]) / (a * step.expm1())).max(arb(0))
        most = ((before[1] - here[0]) / (a * -((-step).expm1()))).min(arb(1))
        yield here[0] + a * least, here[1] + a * most


def _narrow(terms: tuple[Term, ...], point: arb, profile: Profile, bits: int) -> tuple[arb, arb]:
    low, high = arb(0), arb(1)
    for least, most in enclosures(terms, point, arb(0), profile.hinted, profile.until):
        if least.is_finite() and most.is_finite():
            low, high = low.max(least.lower()), high.min(most.upper())
        if high - low < arb(2) ** -bits or now() > profile.until:
            break
    return low, high
