"""Tilts, steps, and where a grid begins and ends: choices, which no bound rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import Any

from flint import arb

from .law import CheckedLaw, Term, cgf, precision

Range = tuple[arb, arb]
Hints = tuple[arb | None, arb | None]  # step and tilt of a grid
LEAST_BITS = 1200  # P-mass that is left out above, as a power of 1/2, where nothing is known of delta
RARER_BITS = 40  # and compared with delta
CELLS_FIRST = 1 << 12  # where no step is named
BELOW_BITS = 96  # and that a grid leaves out below
TILT_EXPONENT_MAX = 24  # of a contour, as a power of two, and so is the least
DEEP_LOG = -1500  # a log that is below those of all doubles
ROUGH_BITS = 64
TILT_GRAIN = 5  # tilts are powers of two by so many halvings of 1


def chosen(
    terms: Sequence[Term], epsilon: arb, level: arb, hinted: Hints, finer: int
) -> tuple[list[Range], arb, arb] | None:
    """Ends for each law, a step of 2^-finer of the hint or a little less, the tilt; None where a law has no tails.

    level: about how large delta is. Losses that are rarer by far are left out above, and the tilt is that of the rest.
    """
    if any(law.tails(epsilon) is None for law, _ in terms):
        return None
    step, tilt = hinted
    uses = sum(count for _, count in terms)
    least = level * arb(2) ** -(RARER_BITS + 2 * finer) / uses if level > 0 else arb(2) ** -LEAST_BITS
    sketches = [(_sketch(law, *_range(law, least, arb(0))), count) for law, count in terms]
    with precision(64):
        if tilt is None:
            tilt = _end(lambda tilt: not _moments(sketches, tilt)[1] < epsilon)
        tilt = tilt.max(arb(0)).mid()
        if not level > 0:  # Chernoff's bound instead
            least = (_moments(sketches, tilt)[0] - tilt * epsilon - 45 - 6 * finer).exp() / uses
    ranges = [_range(law, least, tilt) for law, _ in terms]
    with precision(64):  # the first law has both of its ends on the grid
        width = ranges[0][1] - ranges[0][0]
        if step is None:
            widest = max(top - low for low, top in ranges)
            step = (arb(2) ** -7 / arb(uses).sqrt() / (1 + tilt)).max(widest / CELLS_FIRST)
        step /= 1 << finer
        return ranges, (width / (width / step - arb(2) ** -20).mid().ceil().max(arb(2))).mid(), tilt


def _moments(sketches: Sequence[tuple[list[Range], int]], tilt: arb) -> tuple[arb, arb]:
    """The logarithm of the moment of all uses together, and their mean under the tilt."""
    log = mean = arb(0)
    for cells, count in sketches:
        weights = [(mass * (tilt * loss).exp(), loss) for mass, loss in cells]
        norm = sum((weight for weight, _ in weights), arb(0))
        log += count * norm.log()
        mean += count * sum((weight * loss for weight, loss in weights), arb(0)) / norm
    return log, mean


def _sketch(law: CheckedLaw, low: arb, top: arb) -> list[tuple[arb, arb]]:
    """P-mass and mean loss of a few cells, narrow around 0."""
    shrink = [(arb(2) ** (-arb(i) / 8)).mid() for i in range(200)]
    tails = [_tails(law, x) for x in [low * value for value in shrink] + [top * value for value in reversed(shrink)]]
    cells = [(p - less_p, q - less_q) for (p, q), (less_p, less_q) in pairwise(tails)]
    return [(p, (p / q).log()) for p, q in cells if p > 0 and q > 0]


def _range(law: CheckedLaw, least: arb, tilt: arb) -> Range:
    """The losses between which all but very little lies; an atom at an end of all losses is next to it."""

    def below(x: arb) -> arb:
        """At least the tilted mass of the losses up to -x, compared with that of all, which is 1 or more."""
        return (1 - law.infinite() - _tails(law, -x)[0]) * (-tilt * x).exp()

    return -_end(lambda x: below(x) < arb(2) ** -BELOW_BITS), _end(lambda x: _tails(law, x)[0] < least)


def _end(beyond: Callable[[arb], bool]) -> arb:
    """About the least x > 0 from which on it holds."""
    x = arb(1)
    while not beyond(x) and x < 1 << 40:
        x *= 2
    while beyond(x / 2) and x > arb(2) ** -200:
        x /= 2
    part = x / 2
    for _ in range(64):
        part /= 2
        x = x - part if beyond(x - part) else x
    return x


def _tails(law: CheckedLaw, x: arb) -> tuple[arb, arb]:
    return law.tails(x) or (arb(0), arb(0))


def saddle(terms: Sequence[Term], epsilon: arb) -> arb | None:
    """About where |F| is least on the real axis, a choice; None where a law has no moments."""
    with precision(ROUGH_BITS):
        if any(law.moments(arb(1), arb(0), 1) is None for law, _ in terms):
            return None
        place, pace = 0, 2 << TILT_GRAIN
        here = _height(tuple(terms), epsilon, place)
        while pace and here > DEEP_LOG:
            for other in (place + pace, place - pace):
                if abs(other) <= TILT_EXPONENT_MAX << TILT_GRAIN and (
                    (there := _height(tuple(terms), epsilon, other)) < here
                ):
                    place, here = other, there
                    break
            else:
                pace //= 2
        return _tilt(place)


def _tilt(exponent: int) -> arb:
    return (arb(2) ** (arb(exponent) / (1 << TILT_GRAIN))).mid()


def _height(terms: tuple[Term, ...], epsilon: arb, exponent: int) -> arb:
    tilt = _tilt(exponent)
    return (_cgf(terms, exponent) - tilt * epsilon - tilt.log() - tilt.log1p()).mid()


@lru_cache(maxsize=512)
def _cgf(terms: tuple[Term, ...], exponent: int) -> arb:
    """Of one run at one tilt, for all of its questions."""
    return cgf(terms, _tilt(exponent))


def aliases(terms: Sequence[Term], epsilon: arb, tilt: arb, goal: int) -> tuple[arb, arb]:
    """A tilt beyond the first, and L such that the aliases are about 2^-goal of Chernoff's bound: a choice."""
    wanted, here = arb.const_log2() * goal, cgf(terms, tilt) - tilt * epsilon
    near = tilt / 16
    bend = ((cgf(terms, tilt + near) + cgf(terms, tilt - near) - 2 * cgf(terms, tilt)) / (near * near)).mid()
    found = []
    for halvings in range(8):
        gap = ((2 * wanted / bend).sqrt() if bend > 0 else tilt).mid() / 2**halvings
        rise = cgf(terms, tilt + gap) - (tilt + gap) * epsilon - here
        found.append((((wanted + rise) / gap).mid(), (tilt + gap).mid()))
    period, far = min(found)
    return far, period.max(((wanted - here) / tilt).mid())


def hints(certificate: Mapping[str, Any]) -> Hints:
    """Step and tilt of a grid, where a certificate names them; any are sound."""
    parameters = certificate.get("parameters") if certificate.get("engine") == "lattice" else None
    if not isinstance(parameters, Mapping):
        return None, None
    step, tilt = (parameters.get(name) for name in ("step", "theta"))
    values = [arb(each) if isinstance(each, float) and 0 < each < inf else None for each in (step, tilt)]
    return values[0], values[1]
