"""A trade-off curve: certified false negative rates at many false positive rates, and what is known between them."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, cast, overload

from ..numerics.rounding import FEW, next_down, next_up, round_down, round_up
from ..values.bound import Bound, ErrorBreakdown
from ..values.calls import checked, cut, short
from ..values.errors import InvalidParameter
from .curve import Point, PointTable

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure
    from ...plotting.tradeoff import Rates


BETWEEN = "between the rates asked by convexity: lines below, chords of upper ends above"
DRAWN = 240  # places between the rates
DECADES_DRAWN = 1e12  # of a curve that starts at 0


@dataclass(frozen=True, slots=True, repr=False)
class Tradeoffs(PointTable):
    """The least false negative rate f at each of the false positive rates, which rise.

    f(y) >= lower - slope (y - fpr) at every y, for each rate and its slope; f is convex, so that it lies below the
    chords of upper ends. A sequence of (fpr, bound); a slice is a curve again.
    """

    _heading, _quantity = "fpr", "fnr"
    fprs: tuple[float, ...]
    bounds: tuple[Bound, ...]
    slopes: tuple[float, ...]

    @property
    def _places(self) -> tuple[float, ...]:
        return self.fprs

    def __post_init__(self) -> None:
        if not len(self.fprs) == len(self.bounds) == len(self.slopes):
            raise InvalidParameter(
                f"a trade-off needs one bound and one slope per rate, not {len(self.bounds)} and {len(self.slopes)} "
                f"for {len(self.fprs)}"
            )
        if any(first > second for first, second in pairwise(self.fprs)):
            raise InvalidParameter("the rates of a trade-off must rise; reversed(curve) goes through it backwards")
        if not all(0.0 <= rate <= 1.0 for rate in self.fprs) or not all(slope >= 0.0 for slope in self.slopes):
            raise InvalidParameter("rates lie in [0, 1], and slopes are 0 or above")

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Tradeoffs: ...
    def __getitem__(self, index: int | slice) -> Point | Tradeoffs:
        if isinstance(index, slice):
            return Tradeoffs(self.fprs[index], self.bounds[index], self.slopes[index])
        return self.fprs[index], self.bounds[index]

    def __str__(self) -> str:
        if not self:
            return "no points"
        words = [f"{bound} at false positive rate {short(fpr)}" for fpr, bound in (self[0], self[-1])]
        if len(self) == 1:
            return f"false negative rate in {words[0]}"
        return f"false negative rate in {' to '.join(words)}, {len(self)} points"

    @property
    def tprs(self) -> tuple[Bound, ...]:
        """The highest true positive rate at each of the rates: 1 less the false negative rate, rounded outward."""
        return tuple(complement(bound) for bound in self.bounds)

    def at(self, fpr: float) -> Bound:
        """What the points say of f at any rate: above their lines, below the chords of upper ends, (0, 1) and (1, 0).

        Another question about the run may know more.
        """
        try:
            rate = math.nan if isinstance(cast(object, fpr), str) else float(fpr)
        except (TypeError, ValueError, OverflowError):
            rate = math.nan
        if not 0.0 <= rate <= 1.0:
            raise InvalidParameter(f"fpr must be a number in [0, 1], not {cut(fpr)}")
        return self._at(rate)

    def _at(self, fpr: float) -> Bound:
        place = bisect(self.fprs, fpr)
        if place and self.fprs[place - 1] == fpr:
            return self.bounds[place - 1]
        lines = zip(self.fprs, self.bounds, self.slopes, strict=True)
        lower = max((_line(fpr - at, bound.lower, slope) for at, bound, slope in lines), default=0.0)
        left, high = (self.fprs[place - 1], self.bounds[place - 1].upper) if place else (0.0, 1.0)
        right, low = (self.fprs[place], self.bounds[place].upper) if place < len(self) else (1.0, 0.0)
        share = (Fraction(right) - Fraction(fpr)) / (Fraction(right) - Fraction(left))
        upper = next_up(float(share * Fraction(high) + (1 - share) * Fraction(low)))
        known = self.certificate
        between = None if known is None else replace(known, reason=BETWEEN, budget=ErrorBreakdown())
        return Bound(max(lower, 0.0), min(upper, 1.0), between)

    @checked
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        label: str = "",
        *,
        ax: Axes | None = None,
        log: bool | None = None,
    ) -> Figure:
        """Draws the curve beside that of guessing, and writes it where there is a path, whose suffix names the format.

        Two pictures: false negatives against false positives, and true positives against false positives with both
        axes logarithmic, for small rates. log: only the second, or only the first. ax: axes to draw on, on which the
        first is drawn unless log says otherwise. Without a label it is called as the mechanism is, where that has a
        name.
        """
        return draw_tradeoffs({label: self}, path, ax=ax, log=log)

    def bends(self) -> Iterator[float]:
        """Where lines of neighbouring rates meet: between them and the rates both ends are straight."""
        for (one, two), (steep, flat), (low, high) in zip(
            pairwise(self.fprs), pairwise(self.slopes), pairwise(bound.lower for bound in self.bounds), strict=True
        ):
            if flat < steep < math.inf:
                yield min(max((low - high + steep * one - flat * two) / (steep - flat), one), two)

    def _series(self, label: str) -> Rates:
        """Both ends at so many rates that lines between them are what is known there."""
        from ...plotting.tradeoff import Rates

        label, assurance = self._titled(label)
        places = sorted({*self.fprs, *self.bends(), *_between(self.fprs[0], self.fprs[-1])}) if self else []
        bounds = [self.at(place) for place in places]
        lower, upper = [bound.lower for bound in bounds], [bound.upper for bound in bounds]
        width = max((bound.width for bound in self.bounds), default=0.0)
        return Rates(label, places, lower, upper, self.fprs, width, assurance)


def complement(missed: Bound) -> Bound:
    """1 - f, rounded outward."""
    low, high = 1.0 - missed.upper, 1.0 - missed.lower
    # A difference that gives back what was taken off is exact.
    low, high = (
        low if 1.0 - low == missed.upper else next_down(low),
        high if 1.0 - high == missed.lower else next_up(high),
    )
    return Bound(max(low, 0.0), min(high, 1.0), missed.certificate)


def _line(distance: float, value: float, slope: float) -> float:
    """value - slope distance, rounded down, for a distance that was rounded to nearest."""
    if math.isinf(slope):
        return 0.0
    fall = slope * distance
    return next_down(value - (round_up(fall, FEW) if fall > 0.0 else round_down(fall, FEW)))


@checked
def draw_tradeoffs(
    curves: Mapping[str, Tradeoffs] | Iterable[Tradeoffs],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
    log: bool | None = None,
) -> Figure:
    """Several trade-offs in one picture, each by its label, or as its mechanism is named; as for Tradeoffs.plot."""
    from ...plotting.tradeoff import draw

    labelled = curves.items() if isinstance(curves, Mapping) else (("", curve) for curve in curves)
    return draw([curve._series(label) for label, curve in labelled], path, title=title, ax=ax, log=log)


def _between(first: float, last: float) -> Iterator[float]:
    """Rates to draw at, equally spaced and by their logarithm."""
    least = max(first, last / DECADES_DRAWN)
    for index in range(DRAWN + 1):
        yield min(first + (last - first) * index / DRAWN, last)
        if least > 0.0:
            yield min(max(least * (last / least) ** (index / DRAWN), first), last)
