"""Certified numbers at places that rise, as curves have them: a sequence, a table, a picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from .bound import Bound, Certificate
from .errors import InvalidParameter

if TYPE_CHECKING:
    from .plotting.style import Figure

Point = tuple[float, Bound]


class PointTable(Sequence[Point]):
    """A sequence of (place, bound); a curve has its places under a name of their own, and says what is between them."""

    __slots__ = ()
    _heading: ClassVar[str]  # of the places, in a table
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

    def to_csv(self) -> str:
        """The places, lower, upper, and confidence where it rests on draws; every double with all its digits."""
        columns = self._columns()
        rows = [columns, *(map(repr, row) for row in zip(*columns.values(), strict=True))]
        return "".join(",".join(row) + "\n" for row in rows)

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns of the table."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InvalidParameter("a frame needs pandas: pip install pandas, or use to_csv()") from None
        return DataFrame(self._columns())

    def _columns(self) -> dict[str, Sequence[float]]:
        lower, upper = [bound.lower for bound in self.bounds], [bound.upper for bound in self.bounds]
        sure = None if self.certificate is None else self.certificate.confidence
        known = {} if sure is None else {"confidence": [sure] * len(self)}
        return {self._heading: self._places, "lower": lower, "upper": upper, **known}

    def _titled(self, label: str) -> tuple[str, str]:
        """What a picture calls it, by its mechanism's name without a label, and how sure it is."""
        from .plotting.style import verbatim

        if self.certificate is None:
            return label, ""
        return label or verbatim(self.certificate.label), self.certificate.assurance
