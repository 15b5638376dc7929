"""A privacy curve: certified deltas at many epsilons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

from .bound import Bound
from .errors import InvalidParameter


@dataclass(frozen=True, slots=True)
class Curve:
    """delta at each of the epsilons, ascending; between them only monotonicity is known."""

    epsilons: tuple[float, ...]
    bounds: tuple[Bound, ...]

    def __post_init__(self) -> None:
        if len(self.epsilons) != len(self.bounds):
            raise InvalidParameter(
                f"a curve needs one bound per epsilon, not {len(self.bounds)} for {len(self.epsilons)}"
            )

    def __iter__(self) -> Iterator[tuple[float, Bound]]:
        return iter(zip(self.epsilons, self.bounds, strict=True))

    def __len__(self) -> int:
        return len(self.epsilons)

    def to_csv(self) -> str:
        """Columns epsilon, lower, upper; every double with all its digits."""
        rows = (f"{epsilon!r},{bound.lower!r},{bound.upper!r}\n" for epsilon, bound in self)
        return "epsilon,lower,upper\n" + "".join(rows)

    def plot(self, path: str | PathLike[str], label: str = "") -> None:
        """Draws both ends as a band over a logarithmic delta axis; the suffix of path names the format."""
        from .plot import Series, draw

        lower = [bound.lower for bound in self.bounds]
        upper = [bound.upper for bound in self.bounds]
        draw([Series(label, self.epsilons, lower, upper)], path)
