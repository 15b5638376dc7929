"""How many records of a group are in a sample: the weights of a mixture of shifts.

Binomial for Poisson samples, hypergeometric for batches of a fixed size without replacement. Both generating functions
have real zeros only, below 0 (docs/proofs/gaussian_mixture.md, section 2), which helps the contour of a mixture.
Shifts of any size, and any weights, are parts of the largest of them.
Guarantee: exact in balls. Reference: Ganesh 2024, Tight group-level DP guarantees for DP-SGD with sampling via mixture
of Gaussians mechanisms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, TypeVar

from flint import arb

from ..values.errors import InvalidParameter

SIZE_MAX = 1024  # records of a group: every tail is a sum over as many
SHIFT_MIN, SHIFT_MAX = 1e-8, 1e4  # within, all bounds of roundings hold with room to spare
SHIFT_RATIO_MAX = 1e6  # of the largest shift to the least
NEARLY_ALL = Fraction(1, 2)  # of a chance of no hit whose log is better told by the rest


Number = TypeVar("Number", Fraction, arb)


class ParticipationLaw(ABC):
    """The law of a number of hits: w_0 > 0, ..., w_most > 0. Instances are frozen values."""

    real_rooted: ClassVar[bool] = True  # whether all zeros of the generating function are known to be real

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

    @property
    def sure(self) -> bool:
        """Whether there is a hit for certain: w_0 = 0."""
        return False

    def counts(self) -> tuple[Fraction, ...]:
        """How many hits each of the weights is of, from 0 on."""
        return tuple(map(Fraction, range(self.most + 1)))


@dataclass(frozen=True, slots=True)
class BinomialParticipation(ParticipationLaw):
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
        rate, ways, found = arb(self.rate), 1, []
        for j in range(self.size + 1):
            found.append(ways * rate**j * (1 - rate) ** (self.size - j))
            ways = ways * (self.size - j) // (j + 1)  # exact, and cheaper than each of them anew
        return found

    def log_none(self) -> arb:
        return self.size * (-arb(self.rate)).log1p()


@dataclass(frozen=True, slots=True)
class HypergeometricParticipation(ParticipationLaw):
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
        values = [self.log_none().exp()]
        for j in range(self.most):
            ratio = arb((self.size - j) * (self.batch - j)) / ((j + 1) * (rest - self.batch + j + 1))
            values.append(values[-1] * ratio)
        return values

    def log_none(self) -> arb:
        """The sum over i < size of log(1 - batch/(records - i))."""
        return sum(((-arb(self.batch) / (self.records - i)).log1p() for i in range(self.size)), arb(0))


@dataclass(frozen=True)
class WeightedShifts(ParticipationLaw):
    """Shifts that are parts of the largest, in rising order up to 1, with these positive weights of sum 1."""

    real_rooted = False
    parts: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        rising = all(one < other for one, other in pairwise(self.parts))
        if not (self.parts and self.parts[0] >= 0 and rising and self.parts[-1] == 1):
            raise InvalidParameter("parts must rise from 0 or above to 1")
        if not (len(self.parts) == len(self.shares) and min(self.shares) > 0 and sum(self.shares) == 1):
            raise InvalidParameter("shares must be positive, as many as the parts, and sum to 1")

    @property
    def sure(self) -> bool:
        return self.parts[0] > 0

    @property
    def most(self) -> int:
        return 1

    def counts(self) -> tuple[Fraction, ...]:
        return (Fraction(0), *self.parts) if self.sure else self.parts

    def weights(self) -> list[arb]:
        values = [quotient(share) for share in self.shares]
        return [arb(0), *values] if self.sure else values

    def log_none(self) -> arb:
        """By the others where it is nearly all."""
        if self.sure:
            return arb.neg_inf()
        none = self.shares[0]
        return (-quotient(1 - none)).log1p() if none > NEARLY_ALL else quotient(none).log()

    def sampled(self, rate: Fraction) -> WeightedShifts:
        """Its Poisson sample: a hit counts with this probability, else there is none."""
        taken = tuple(rate * share for share in self.shares)
        if self.sure:
            return WeightedShifts((Fraction(0), *self.parts), (1 - rate, *taken))
        return WeightedShifts(self.parts, (1 - rate + taken[0], *taken[1:]))


def resolved(least: Number, most: Number) -> bool:
    """Whether doubles hold a mixture with these shifts, in units of its noise."""
    return bool(least > SHIFT_MIN and most < SHIFT_MAX and most / least <= SHIFT_RATIO_MAX)


def quotient(value: Fraction) -> arb:
    """A ball around a fraction."""
    return arb(value.numerator) / value.denominator


def _check_size(size: int) -> None:
    if not 1 <= size <= SIZE_MAX:
        raise InvalidParameter(f"size must be a whole number from 1 to {SIZE_MAX}, not {size}")
