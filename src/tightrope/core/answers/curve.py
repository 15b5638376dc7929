"""A privacy curve: certified deltas at many epsilons."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, ClassVar, overload

from ...tables import Column, Table, Tabled
from ..values.bound import Bound, Certificate
from ..values.calls import checked, short
from ..values.errors import InvalidParameter

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure, Series


# Certified numbers at places that rise, as curves have them: a sequence, a table, a picture.

Point = tuple[float, Bound]


class PointTable(Tabled, Sequence[Point]):
    """A sequence of (place, bound); a curve has its places under a name of their own, and says what is between them."""

    __slots__ = ()
    _heading: ClassVar[str]  # of the places, in a table
    _quantity: ClassVar[str]  # what is bounded
    bounds: tuple[Bound, ...]

    @property
    @abstractmethod
    def _places(self) -> tuple[float, ...]:
        """Where the bounds are."""

    @abstractmethod
    def plot(self) -> Figure:
        """The picture that a notebook shows."""

    def __iter__(self) -> Iterator[Point]:
        return iter(zip(self._places, self.bounds, strict=True))

    def __len__(self) -> int:
        return len(self.bounds)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot) if self else None

    @property
    def certificate(self) -> Certificate | None:
        """That of the first point: what rests on draws does so at every point."""
        return self.bounds[0].certificate if self.bounds else None

    @property
    def table(self) -> Table:
        """The places, and the interval at each."""
        places = Column(self._heading, [short(place) for place in self._places], True)
        bounds = Column(self._quantity, [str(bound) for bound in self.bounds])
        return Table((places, bounds), notes=(self._sure,) if self._sure else ())

    @property
    def data(self) -> Table:
        """The places, lower, upper, and confidence where it rests on draws; every double with all its digits."""
        lower, upper = [bound.lower for bound in self.bounds], [bound.upper for bound in self.bounds]
        columns = [*self._given, Column("lower", lower, True), Column("upper", upper, True)]
        sure = None if self.certificate is None else self.certificate.confidence
        return Table((*columns, *([] if sure is None else [Column("confidence", [sure] * len(self), True)])))

    @property
    def _given(self) -> list[Column]:
        """What the bounds are about."""
        return [Column(self._heading, self._places, True)]

    @property
    def _sure(self) -> str:
        """How sure the bounds are, where they rest on draws."""
        return "" if self.certificate is None else self.certificate.assurance

    def _titled(self, label: str) -> tuple[str, str]:
        """What a picture calls it, by its mechanism's name without a label, and how sure it is."""
        from ...plotting.style import verbatim

        if self.certificate is None:
            return label, ""
        return label or verbatim(self.certificate.label), self._sure


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
        from ...plotting.style import draw

        return draw([self._series(label)], path, ax=ax, log=log)

    def _series(self, label: str) -> Series:
        from ...plotting.style import Series

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
    from ...plotting.style import draw

    labelled = curves.items() if isinstance(curves, Mapping) else (("", curve) for curve in curves)
    return draw([curve._series(label) for label, curve in labelled], path, title=title, ax=ax, log=log)
