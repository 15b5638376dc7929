"""A figure as a value: what is drawn, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FACTOR = "$e^\\varepsilon$"
DELTA = "$\\delta$"


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: certified between both ends, or an upper bound alone where lower is None."""

    label: str
    x: Sequence[float]
    upper: Sequence[float]
    lower: Sequence[float] | None = None

    @property
    def width(self) -> float:
        """The largest distance of the two ends, relative to the upper one."""
        if self.lower is None:
            return 0.0
        pairs = zip(self.lower, self.upper, strict=True)
        return max(((high - low) / high for low, high in pairs if 0.0 < high < float("inf")), default=0.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """A function that is not a bound, such as a density; the area down to `floor` is filled where that is given."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    floor: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class Dot:
    """One point that somebody else computed."""

    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars at x, standing on `base` where it is given; the upper ends of certified numbers."""

    label: str
    x: Sequence[float]
    heights: Sequence[float]
    base: Sequence[float] | None = None
    width: float = 0.84


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes; limits are (None, None) where the data decide."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line] = ()
    shapes: Sequence[Shape] = ()
    bars: Sequence[Bars] = ()
    dots: Sequence[Dot] = ()
    ticks: Sequence[tuple[float, str]] = ()  # names of places on the x axis
    target: tuple[float, float] | None = None
    log_x: bool = False
    log_y: bool = True
    x_limits: tuple[float | None, float | None] = (None, None)
    y_limits: tuple[float | None, float | None] = (None, None)


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels beside each other, and what they tell."""

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]

    @property
    def width(self) -> float:
        """The largest relative distance of two certified ends."""
        return max((line.width for panel in self.panels for line in panel.lines), default=0.0)
