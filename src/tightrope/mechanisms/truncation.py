"""What truncated mechanisms share: where the noise is centred and truncated, and by what kind of truncation."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from ..errors import InvalidParameter
from ..pair import Pair
from ..pairs.truncated.noise import ShiftedNoise
from ..pairs.truncated.pair import ClampedPair, CutPair, Edge
from ..relation import Direction
from .base import Leaf
from .parameters import positive, real

MODES = ("cut", "clamp")


class TruncatedNoise(Leaf):
    """Adds noise, cut to bounds that move with the query or clamped to bounds that do not."""

    __slots__ = ()
    mean: float
    bounds: Sequence[float]
    mode: str
    integer: bool
    sensitivity: float

    @abstractmethod
    def noise(self, shift: Fraction) -> ShiftedNoise:
        """The noise around 0 and around the shift, before it is truncated."""

    def __post_init__(self) -> None:
        for name, value in self._truncation()._asdict().items():
            object.__setattr__(self, name, value)
        self.pair(Direction.REMOVE)

    def _truncation(self) -> Truncation:
        return truncation(self.mean, self.bounds, self.mode, self.integer, self.sensitivity)

    def pair(self, direction: Direction) -> Pair:
        pair = self._truncation().pair(self.noise(Fraction(self.sensitivity)))
        return pair if direction is Direction.REMOVE else pair.reversed()


class Truncation(NamedTuple):
    """Checked parameters."""

    mean: float
    bounds: tuple[float, float]
    mode: str
    integer: bool
    sensitivity: float

    def pair(self, noise: ShiftedNoise) -> Pair:
        """The pair of this truncation, with the query at `sensitivity` against 0."""
        low, high = (None if math.isinf(bound) else Fraction(bound) for bound in self.bounds)
        if self.mode == "cut":
            return CutPair(noise, low, high)
        # Whole numbers at or above the upper bound come from more than the bound minus one.
        return ClampedPair(noise, self._centred(low, 0), self._centred(high, 1 if self.integer else 0))

    def _centred(self, bound: Edge, step: int) -> Edge:
        return None if bound is None else bound - Fraction(self.mean) - step


def truncation(mean: float, bounds: Sequence[float], mode: str, integer: bool, sensitivity: float) -> Truncation:
    """Checks the parameters; whole-valued noise needs whole ones."""
    if mode not in MODES:
        raise InvalidParameter(f"mode must be 'cut' or 'clamp', not {mode!r}")
    if not isinstance(integer, bool):
        raise InvalidParameter(f"integer must be True or False, not {integer!r}")
    try:
        low, high = (real("bounds", bound) + 0.0 for bound in bounds)
        centre = real("mean", mean) + 0.0
    except InvalidParameter:
        raise
    except (TypeError, ValueError):
        raise InvalidParameter(
            f"mean must be a number and bounds two of them, not {mean!r} and {bounds!r:.60}"
        ) from None
    if not low < high or math.isinf(centre) or math.isnan(centre) or low == math.inf or high == -math.inf:
        raise InvalidParameter(f"bounds must rise and the mean be finite, not ({low!r}, {high!r}) and {centre!r}")
    shift = positive("sensitivity", sensitivity)
    if integer:
        for name, value in (("mean", centre), ("bounds", low), ("bounds", high), ("sensitivity", shift)):
            if math.isfinite(value) and value != math.floor(value):
                raise InvalidParameter(f"{name} must be whole for integer outputs, not {value!r}")
        if mode == "clamp" and high - low < 1.0:
            raise InvalidParameter(f"integer outputs need bounds at least 1 apart, not ({low!r}, {high!r})")
    return Truncation(centre, (low, high), mode, integer, shift)
