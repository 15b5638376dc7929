"""How many records of a group are in a sample: the weights of a mixture of shifts.

Binomial for Poisson samples, hypergeometric for batches of a fixed size without replacement. Both generating functions
have real zeros only, below 0 (docs/proofs/gaussian_mixture.md, section 2), which the contour of a mixture needs.
Guarantee: exact in balls. Reference: Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture
of Gaussians mechanisms.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from flint import arb

from ..errors import InvalidParameter

SIZE_MOST = 1024  # records of a group: every tail is a sum over as many


class HitLaw(ABC):
    """The law of a number of hits: w_0 > 0, ..., w_most > 0. Instances are frozen values."""

    @property
    @abstractmethod
    def most(self) -> int:
        """The largest number of hits."""

    @abstractmethod
    def weights(self) -> list[arb]:
        """w_0, ..., w_most at the working precision."""

    @abstractmethod
    def log_none(self) -> arb:
        """log w_0."""


@dataclass(frozen=True, slots=True)
class BinomialHits(HitLaw):
    """Each of `size` records is in the sample with probability rate, 0 < rate < 1, on its own."""

    size: int
    rate: float

    def __post_init__(self) -> None:
        _check_size(self.size)
        if not 0.0 < self.rate < 1.0:
            raise InvalidParameter(f"rate must be above 0 and below 1, not {self.rate!r}")

    @property
    def most(self) -> int:
        return self.size

    def weights(self) -> list[arb]:
        rate = arb(self.rate)
        return [math.comb(self.size, j) * rate**j * (1 - rate) ** (self.size - j) for j in range(self.size + 1)]

    def log_none(self) -> arb:
        return self.size * (-arb(self.rate)).log1p()


@dataclass(frozen=True, slots=True)
class HypergeometricHits(HitLaw):
    """A batch of `batch` among `records` records, `size` of which are the group's; batch <= records - size."""

    records: int
    size: int
    batch: int

    def __post_init__(self) -> None:
        _check_size(self.size)
        if not 1 <= self.batch <= self.records - self.size:
            raise InvalidParameter(
                f"without a group of {self.size} there are fewer than {self.batch} of the {self.records} records left: "
                "take a smaller batch or a smaller group"
            )

    @property
    def most(self) -> int:
        return min(self.size, self.batch)

    def weights(self) -> list[arb]:
        rest = self.records - self.size
        found = [self.log_none().exp()]
        for j in range(self.most):
            ratio = arb((self.size - j) * (self.batch - j)) / ((j + 1) * (rest - self.batch + j + 1))
            found.append(found[-1] * ratio)
        return found

    def log_none(self) -> arb:
        """The sum over i < size of log(1 - batch/(records - i))."""
        return sum(((-arb(self.batch) / (self.records - i)).log1p() for i in range(self.size)), arb(0))


def _check_size(size: int) -> None:
    if not 1 <= size <= SIZE_MOST:
        raise InvalidParameter(f"size must be a whole number from 1 to {SIZE_MOST}, not {size}")
