"""A privacy curve: certified deltas at many epsilons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, overload

from .bound import Bound
from .calls import checked
from .digits import short
from .errors import InvalidParameter
from .point_table import Point, PointTable

if TYPE_CHECKING:
    from .plotting.style import Axes, Figure, Series


@dataclass(frozen=True, slots=True, repr=False)
class Curve(PointTable):
    """delta at each of the epsilons, ascending; between them only monotonicity is known.

    A sequence of (epsilon, bound); a slice is a curve again.
    """

    _heading, _quantity = "epsilon", "delta"
    epsilons: tuple[float, ...]
    bounds: tuple[Bound, ...]

    @property
    def _places(self) -> tuple[float, ...]:
        return self.epsilons

    def __post_init__(self) -> None:
        if len(self.epsilons) != len(self.bounds):
            raise InvalidParameter(
                f"a curve needs one bound per epsilon, not {len(self.bounds)} for {len(self.epsilons)}"
            )
        if any(first > second for first, second in pairwise(self.epsilons)):
            raise InvalidParameter("the epsilons of a curve must rise; reversed(curve) goes through it backwards")

    @overload
    def __getitem__(self, index: int) -> Point: ...
    @overload
    def __getitem__(self, index: slice) -> Curve: ...
    def __getitem__(self, index: int | slice) -> Point | Curve:
        if isinstance(index, slice):
            return Curve(self.epsilons[index], self.bounds[index])
        return self.epsilons[index], self.bounds[index]

    def __str__(self) -> str:
        if not self:
            return "no points"
        (first, at_first), (last, at_last) = self[0], self[-1]
        if len(self) == 1:
            return f"delta in {at_first} at epsilon {short(first)}"
        return (
            f"delta in {at_first} at epsilon {short(first)} to {at_last} at epsilon {short(last)}, {len(self)} points"
        )

    @checked
    def plot(
        self,
        path: str | PathLike[str] | None = None,
        label: str = "",
        *,
        ax: Axes | None = None,
        log: bool | None = None,
    ) -> Figure:
        """Draws both ends as a band, into ax where it is given, and writes it where there is a path.

        The suffix of path names the format. On axes of one's own the labels go into a legend. Without a label it is
        called as the mechanism is, where that has a name.
        log: a logarithmic delta axis, which is the default for axes that are still empty.
        """
        from .plotting.style import draw

        return draw([self._series(label)], path, ax=ax, log=log)

    def _series(self, label: str) -> Series:
        from .plotting.style import Series

        label, assurance = self._titled(label)
        lower, upper = [bound.lower for bound in self.bounds], [bound.upper for bound in self.bounds]
        return Series(label, self.epsilons, lower, upper, assurance)


@checked
def draw_curves(
    curves: Mapping[str, Curve] | Iterable[Curve],
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    ax: Axes | None = None,
    log: bool | None = None,
) -> Figure:
    """Several curves on one axis, each with its label, or as its mechanism is named; the rest is as for Curve.plot."""
    from .plotting.style import draw

    labelled = curves.items() if isinstance(curves, Mapping) else (("", curve) for curve in curves)
    return draw([curve._series(label) for label, curve in labelled], path, title=title, ax=ax, log=log)
