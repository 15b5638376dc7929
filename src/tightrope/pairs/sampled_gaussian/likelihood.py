"""The likelihood ratio g of an output, as the cgf of a sampled Gaussian needs it: of one record, or of a group.

g(x) = sum w_j e^{j mu x - j^2 mu^2/2}, w_j the chance of j hits. All its zeros in e^{mu x} are real and below 0, so g
is a product of D factors 1 - p_j + p_j e^{mu x}, and what is proven for one of them adds up. What is known of it: S(x),
the mean number of hits given x, which rises from 0 to D, and is the share of the shifted component for one record.
Shifts of any sizes and weights count as parts of one hit, the largest: D = 1, with bounds of their own.
Plain floats are choices; what is rounded up or down, or in balls, is proven.
Proof: docs/proofs/gaussian_mixture.md, sections 2, 3 and 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from flint import arb

from ...kernels.directed import MILLIONS, round_up
from ...kernels.plain import logistic, softplus
from .decay import DecayCell
from .window import ball_phi, log_phi

if TYPE_CHECKING:
    from ...kernels.enclosure import Enclosure, FloatArray
    from .decay import Cell, EdgeWeight
    from .decay_float import CellTable
    from .quadrature_float import Centre

SHARE_EXPONENT_MAX = 1e5  # an error of 1e-9 at most
MODE_WIDTH = 1e-3
LOWEST = -5.0  # of all splits
LARGE_LOSS = 40.0  # e^loss - 1 + rate is e^loss above


class LikelihoodPoint(NamedTuple):
    """At an output: log g up to a constant, S, and V (one hit: 1 - S)."""

    log: arb
    share: arb
    other: arb


class Likelihood(ABC):
    """g, S and the law of the outputs."""

    mu: float  # about

    @property
    @abstractmethod
    def most(self) -> int:
        """D, the most hits."""

    @property
    def many(self) -> bool:
        """Whether there are other shifts than one."""
        return False

    @property
    @abstractmethod
    def participation_share(self) -> float:
        """About how likely there is a hit."""

    @abstractmethod
    def log_g(self, x: float) -> float:
        """log g up to a constant, about."""

    @abstractmethod
    def share(self, x: float) -> float:
        """S, about."""

    @abstractmethod
    def plain_point(self, x: float) -> tuple[float, float, float]:
        """log g up to a constant, S and V, about."""

    @abstractmethod
    def loss(self, x: float) -> float:
        """log g, about."""

    @abstractmethod
    def place_of(self, loss: float) -> float:
        """The output with this loss, about; LOWEST where every output has a larger one."""

    @abstractmethod
    def log_odds(self, x: float) -> float:
        """log of S to D - S, about."""

    @abstractmethod
    def place_of_odds(self, level: float) -> float:
        """Where the last of the factors has these log odds, about."""

    @abstractmethod
    def log_beyond(self, x: float, spread: float) -> float:
        """log of P[output > x] where the noise has this spread, about."""

    @abstractmethod
    def share_above(self, x: float) -> float:
        """At or above S(x), or D; also where mu is off by a few units."""

    @abstractmethod
    def highest(self, power: float, width: float) -> float:
        """Where the density n g^a, a >= 0, has fallen by width^2/2 e-folds for good, or beyond, about."""

    @abstractmethod
    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        """At or above the integral, and step times the sum over x, x + step, ..., of n g^a from x on, divided by its
        value at x; inf where nothing is known. mu is an upper bound, a >= 0.
        """

    @abstractmethod
    def ball_g(self, mu: arb, x: arb) -> arb:
        """g(x)."""

    @abstractmethod
    def ball_share(self, mu: arb, x: arb) -> arb:
        """S(x)."""

    @abstractmethod
    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        """P[output > x] where the noise has this spread."""

    @abstractmethod
    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        """What a decay bound needs to know of g at x."""

    @abstractmethod
    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[EdgeWeight, ...],
    ) -> Cell:
        """A cell of a decay bound, from what is known at its ends; None stands for an end at infinity."""

    @abstractmethod
    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:
        """All cells of a decay bound in float64; None where they cannot be trusted."""

    @abstractmethod
    def centre(self, mu: Enclosure, x: float) -> Centre:
        """g next to x, in float64."""

    def turning(self, share: float) -> float:
        """At or above arg g(x + iy)/(mu y) where S(x) is at most the share: each factor has at most p, or 1.

        Where g is no product of such factors: at most 2 S, or D.
        """
        return share if share < 0.5 else min(float(self.most), 2.0 * share)

    def ball_turning(self, share: arb) -> arb:
        """The same in balls."""
        return share if share < 0.5 else (2 * share).min(arb(self.most))

    def mode(self, power: float) -> float:
        """The mode of n g^a for a < 0, about: the log density is concave with curvature at least 1."""
        pull, low, high = power * self.mu, power * self.mu * self.most, 0.0
        share, width = self.share, MODE_WIDTH * self.most
        for _ in range(80):
            if high - low < width:
                break
            middle = 0.5 * (low + high)
            low, high = (low, middle) if middle > pull * share(middle) else (middle, high)
        return 0.5 * (low + high)

    def log_density(self, power: float, x: float) -> float:
        """log of n g^a up to a constant, about."""
        return power * self.log_g(x) - 0.5 * x * x


def log_odds(mu: float, rate: float) -> float:
    """b such that the odds of the shifted component at x are e^{mu x + b}, approximately."""
    return math.log(rate) - math.log1p(-rate) - 0.5 * mu * mu


@dataclass(frozen=True)
class SubsampledLikelihood(Likelihood):
    """g = 1 - rate + rate e^{mu x - mu^2/2}."""

    mu: float
    rate: float

    @cached_property
    def odds(self) -> float:
        """log odds of the shifted component at 0, about."""
        return log_odds(self.mu, self.rate)

    @property
    def most(self) -> int:
        return 1

    @property
    def participation_share(self) -> float:
        return self.rate

    def log_g(self, x: float) -> float:
        return softplus(self.mu * x + self.odds)

    def share(self, x: float) -> float:
        return logistic(self.mu * x + self.odds)

    def plain_point(self, x: float) -> tuple[float, float, float]:
        share = self.share(x)
        return self.log_g(x), share, share * (1.0 - share)

    def log_density(self, power: float, x: float) -> float:
        return power * softplus(self.mu * x + self.odds) - 0.5 * x * x

    def loss(self, x: float) -> float:
        return math.log1p(-self.rate) + softplus(self.mu * x + self.odds)

    def place_of(self, loss: float) -> float:
        above = math.expm1(min(loss, LARGE_LOSS)) + self.rate
        if not above > 0.0:
            return LOWEST
        log_above = loss if loss >= LARGE_LOSS else math.log(above)
        return (log_above - math.log1p(-self.rate) - self.odds) / self.mu

    def log_odds(self, x: float) -> float:
        return self.mu * x + self.odds

    def place_of_odds(self, level: float) -> float:
        return (level - self.odds) / self.mu

    def log_beyond(self, x: float, spread: float) -> float:
        base = math.log1p(-self.rate) + log_phi(-x / spread)
        shifted = math.log(self.rate) + log_phi((self.mu - x) / spread)
        return max(base, shifted) + math.log1p(math.exp(-abs(base - shifted)))

    def share_above(self, x: float) -> float:
        known = abs(self.mu * x) + abs(self.odds) + self.mu * self.mu < SHARE_EXPONENT_MAX
        return round_up(logistic(self.mu * x + self.odds), MILLIONS) if known else 1.0

    def highest(self, power: float, width: float) -> float:
        return power * self.mu + width

    def beyond(self, mu: float, power: float, x: float, step: float) -> float:
        return math.inf

    def ball_g(self, mu: arb, x: arb) -> arb:
        share = arb(self.rate)
        return 1 - share + share * (mu * x - mu * mu / 2).exp()

    def ball_share(self, mu: arb, x: arb) -> arb:
        odds = arb(self.rate) / (1 - arb(self.rate)) * (mu * x - mu * mu / 2).exp()
        return odds / (1 + odds)

    def ball_tail(self, mu: arb, x: arb, spread: arb) -> arb:
        share = arb(self.rate)
        return (1 - share) * ball_phi(-x / spread) + share * ball_phi((mu - x) / spread)

    def ball_point(self, mu: arb, x: arb) -> LikelihoodPoint:
        share = arb(self.rate)
        odds = (mu * x + share.log() - (-share).log1p() - mu * mu / 2).exp()
        return LikelihoodPoint(odds.log1p(), odds / (1 + odds), 1 / (1 + odds))

    def ball_cell(
        self,
        mu: arb,
        ends: tuple[arb, arb],
        points: tuple[LikelihoodPoint | None, LikelihoodPoint | None],
        marks: tuple[EdgeWeight, ...],
    ) -> Cell:
        left, right = points[0] or NOWHERE, points[1] or EVERYWHERE
        return DecayCell(*ends, left.share, right.share, left.other, right.other, marks)

    def float_cells(self, mu: float, power: float, edges: FloatArray) -> CellTable | None:
        from .decay_float import subsampled_cells

        return subsampled_cells(mu, log_odds(mu, self.rate), power, edges)

    def centre(self, mu: Enclosure, x: float) -> Centre:
        from .quadrature_float import subsampled_centre

        return subsampled_centre(mu, self.rate, x)


NOWHERE = LikelihoodPoint(arb(0), arb(0), arb(1))
EVERYWHERE = LikelihoodPoint(arb(0), arb(1), arb(0))
Chance = float | Likelihood


def likelihood(mu: float, chance: Chance) -> Likelihood:
    """That of one record in a sample at a rate, or the one that was given."""
    return SubsampledLikelihood(mu, chance) if isinstance(chance, float | int) else chance
