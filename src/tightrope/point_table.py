"""Certified numbers at places that rise, as curves have them: a sequence, a table, a picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from .bound import Bound, Certificate
from .digits import short
from .tables import Column, Table, Tabled

if TYPE_CHECKING:
    from .plotting.style import Figure

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
        from .plotting.style import png

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
        from .plotting.style import verbatim

        if self.certificate is None:
            return label, ""
        return label or verbatim(self.certificate.label), self._sure
