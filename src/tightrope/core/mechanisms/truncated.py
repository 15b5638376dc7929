"""Gaussian and Laplace noise that is truncated, and rounded up to whole numbers if asked.

Cut: the noise is conditioned to [mean + low, mean + high] and moves with the query: some outputs tell everything.
Clamp: the noisy result (rounded up, if integer) is clipped to [low, high]: post-processing, nothing tells everything.
Guarantee: tight for a query that is 0 without the record and at most `sensitivity` with it; a cut at -c and c covers
queries that fall as well. A clamped query that starts elsewhere has another mean.
Reference: Meiser, Mohammadi 2018, Sec. 5.1, 5.2 (cut) and 7.1 (clamp). Proof: docs/proofs/truncated.md.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Self

from ..losses.pair import Pair
from ..numerics.rounding import exact_product
from ..values.errors import InvalidParameter
from ..values.question import Direction
from .base import Leaf
from .parameters import flag, positive, real

if TYPE_CHECKING:
    from ..losses.truncated.segments import ShiftedNoise
    from ..losses.truncated.truncated_gaussian import GaussianNoise
    from ..losses.truncated.truncated_laplace import LaplaceNoise


class TruncatedNoise(Leaf):
    """Adds noise, cut to bounds that move with the query or clamped to bounds that do not."""

    __slots__ = ()
    section = "noise"
    formula = (
        "P = the noise around sensitivity, Q = the same around 0. Cut: both conditioned to bounds around their own "
        "centre, whose ends tell all. Clamp: mean plus noise, rounded up where integer, clipped to fixed bounds. "
        "H(a) = max over half-lines A of P(A) - a Q(A)"
    )
    theorem = "Meiser, Mohammadi 2018, Sec. 5.1, 5.2 (cut) and 7.1 (clamp); [proof](proofs/truncated.md)"
    tightness = "Tight, also under composition: a query that is 0 without the record and the sensitivity with it."
    relations = (
        "The query rises by at most the sensitivity where the record comes; cut at -c and c it may fall as well, under "
        "either relation. A clamped query is 0 without the record; one that starts elsewhere has another mean."
    )
    mean: float
    bounds: Sequence[float]
    mode: str
    integer: bool
    sensitivity: float

    @abstractmethod
    def noise(self) -> ShiftedNoise:
        """The noise around 0 and around the sensitivity, before it is truncated."""

    def __post_init__(self) -> None:
        """Checks the parameters, of which the first is the width of the noise; whole-valued noise needs whole ones."""
        width = next(field.name for field in fields(self) if not field.kw_only)
        object.__setattr__(self, width, positive(width, getattr(self, width)))
        if self.mode not in ("cut", "clamp"):
            raise InvalidParameter(f"mode must be 'cut' or 'clamp', not {self.mode!r}")
        flag("integer", self.integer)
        try:
            low, high = (real("bounds", bound) + 0.0 for bound in self.bounds)
            mean = real("mean", self.mean) + 0.0
        except InvalidParameter:
            raise
        except (TypeError, ValueError):
            raise InvalidParameter(
                f"mean must be a number and bounds two of them, not {self.mean!r} and {self.bounds!r:.60}"
            ) from None
        if not low < high or math.isinf(mean) or math.isnan(mean) or low == math.inf or high == -math.inf:
            raise InvalidParameter(f"bounds must rise and the mean be finite, not ({low!r}, {high!r}) and {mean!r}")
        shift = positive("sensitivity", self.sensitivity)
        if self.integer:
            for name, value in (("mean", mean), ("bounds", low), ("bounds", high), ("sensitivity", shift)):
                if math.isfinite(value) and value != math.floor(value):
                    raise InvalidParameter(f"{name} must be whole for integer outputs, not {value!r}")
            if self.mode == "clamp" and high - low < 1.0:
                raise InvalidParameter(f"integer outputs need bounds at least 1 apart, not ({low!r}, {high!r})")
        for name, checked in (("mean", mean), ("bounds", (low, high)), ("sensitivity", shift)):
            object.__setattr__(self, name, checked)
        self.pair(Direction.REMOVE)  # what is wrong with all of them together is said here

    @property
    def everywhere(self) -> bool:
        """Noise that is cut moves with the query; a clamp stays where it is."""
        return self.mode == "cut"

    @property
    def known_in_groups(self) -> bool:
        return True

    def group_tight(self, size: int) -> bool:
        return self.mode == "clamp" or Leaf.group_tight(self, size)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        """Clamped: the query is 0 without the group, and at most so many times the sensitivity with it.

        Proof: docs/proofs/truncated.md, section 6.
        """
        if self.mode == "cut" or size == 1:
            return Leaf.group_pair(self, size, direction)
        return self._moved(size).pair(direction)

    def replaced_pair(self, size: int) -> Pair:
        """Clamped: both queries lie between 0 and so many times the sensitivity, and half-lines are the best events."""
        if self.mode == "cut":
            return Leaf.replaced_pair(self, size)
        from ..losses.operators.extremes import maximum_pair

        return maximum_pair(self._moved(size).pair(direction) for direction in Direction)

    def _moved(self, times: int) -> Self:
        """The same noise where the query moves so many times as far."""
        longer = exact_product(self.sensitivity, times)
        if longer is None:
            raise InvalidParameter(f"a sensitivity of {times} times {self.sensitivity!r} is no double: round it up")
        return self._with(sensitivity=longer)

    def pair(self, direction: Direction) -> Pair:
        from ..losses.truncated.cut import ClampedPair, CutPair
        from ..losses.truncated.truncated_pair import listed

        noise = self.noise()
        low, high = (None if math.isinf(bound) else Fraction(bound) for bound in self.bounds)
        pair: CutPair | ClampedPair
        if self.mode == "cut":
            pair = CutPair(noise, low, high)
        else:
            # Whole numbers at or above the upper bound come from more than the bound minus one.
            mean, last = Fraction(self.mean), Fraction(self.mean) + (1 if self.integer else 0)
            pair = ClampedPair(noise, None if low is None else low - mean, None if high is None else high - last)
        return listed(pair if direction is Direction.REMOVE else pair.reversed())


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedGaussian(TruncatedNoise):
    """Adds Gaussian noise of standard deviation sigma, cut or clamped to bounds.

    mode: "cut" conditions the noise to bounds that move with the query, (low, high) around mean; "clamp" clips the
    noisy result, mean without the record, to bounds that do not move. integer: rounded up to whole numbers.
    sensitivity: how far the query moves.
    """

    example = "TruncatedGaussian(sigma=283, bounds=[-2500, 2500]) * 512"
    sigma: float
    mean: float = 0.0
    bounds: Sequence[float] = ()
    mode: str = "cut"
    integer: bool = False
    sensitivity: float = 1.0

    def noise(self) -> GaussianNoise:
        from ..losses.truncated.truncated_gaussian import GaussianNoise

        return GaussianNoise(self.sigma, Fraction(self.sensitivity), self.integer)


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedLaplace(TruncatedNoise):
    """Adds Laplace noise of the given scale, cut or clamped to bounds.

    mode: "cut" conditions the noise to bounds that move with the query, (low, high) around mean; "clamp" clips the
    noisy result, mean without the record, to bounds that do not move. integer: rounded up to whole numbers.
    sensitivity: how far the query moves.
    """

    example = "TruncatedLaplace(scale=200, bounds=[-2500, 2500]) * 512"
    scale: float
    mean: float = 0.0
    bounds: Sequence[float] = ()
    mode: str = "cut"
    integer: bool = False
    sensitivity: float = 1.0

    def noise(self) -> LaplaceNoise:
        from ..losses.truncated.truncated_laplace import LaplaceNoise

        return LaplaceNoise(self.scale, Fraction(self.sensitivity), self.integer)
