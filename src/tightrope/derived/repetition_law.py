"""How often a mechanism is run before its best output is chosen: laws of a number K that does not depend on the data.

phi(z) = E z^K. Truncated negative binomial, K >= 1, d(z) = 1 - (1 - gamma) z:
    phi = (d^-eta - 1) / (gamma^-eta - 1), phi' proportional to d^(-eta - 1); eta = 1 is geometric, eta = 0 logarithmic,
    phi = log d / log gamma; E[K] = eta (1 - gamma) / (gamma (1 - gamma^eta)).
Poisson: phi = e^(mean (z - 1)). Binomial: phi = (1 - p + p z)^trials, p = mean / trials. Both allow K = 0.
gamma is enclosed: the weights are a_k (1 - gamma)^k, so E[K] rises with log(1 - gamma), by the variance of K.
Guarantee: exact in balls. Reference: Papernot, Steinke 2022, Def. 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..facets.lattice import ratio_ball

LOG_GAMMA_FIRST = -2000.0


class RepetitionLaw(ABC):
    """The law of K. Instances are frozen values."""

    mean: float

    @abstractmethod
    def phi(self, z: arb) -> arb:
        """E z^K for 0 <= z <= 1."""

    @abstractmethod
    def log_ratio(self, x: arb, y: arb) -> arb:
        """log phi'(y) / phi'(x)."""

    def ratio_most(self, lowest: arb) -> arb:
        """At or above log phi'(g(x)) / phi'(x) for all x, g the power of losses from `lowest` on; inf is allowed.

        Proof: docs/proofs/selection.md, section 4.
        """
        return arb.pos_inf()

    def none(self) -> arb:
        """P[K = 0]."""
        return arb(0)


@dataclass(frozen=True)
class NegativeBinomialRuns(RepetitionLaw):
    """K >= 1, mean above 1, shape eta > -1."""

    mean: float
    shape: float

    def log_gamma(self) -> arb:
        """log gamma at the working precision."""
        kept: dict[int, arb] = self.__dict__.setdefault("_kept", {})
        if ctx.prec not in kept:
            kept[ctx.prec] = self._found()
        return kept[ctx.prec]

    def _found(self) -> arb:
        if self.shape == 1.0:
            return -arb(self.mean).log()
        # E[K] falls with log gamma; ends that cannot be told from it are as close as the precision allows.
        low, high, mean = arb(LOG_GAMMA_FIRST), arb(0), arb(self.mean)
        while not self._mean_at(low) > mean:  # for shapes near -1 the mean grows by a small power of 1/gamma
            low = 2 * low
        for _ in range(ctx.prec + 16):
            middle = ((low + high) / 2).mid()
            there = self._mean_at(middle)
            if there > mean:
                low = middle
            elif there < mean:
                high = middle
            else:
                break
        return low.union(high)

    def _mean_at(self, log_gamma: arb) -> arb:
        left, eta = -log_gamma.expm1(), arb(self.shape)
        if self.shape == 0.0:
            return left / (log_gamma.exp() * -log_gamma)
        return eta * left / (log_gamma.exp() * -(eta * log_gamma).expm1())

    def _log_d(self, z: arb) -> arb:
        return ((1 - z) + self.log_gamma().exp() * z).log()

    def phi(self, z: arb) -> arb:
        eta, log_d, log_gamma = arb(self.shape), self._log_d(z), self.log_gamma()
        return log_d / log_gamma if self.shape == 0.0 else (-eta * log_d).expm1() / (-eta * log_gamma).expm1()

    def log_ratio(self, x: arb, y: arb) -> arb:
        return (1 + arb(self.shape)) * (self._log_d(x) - self._log_d(y))

    def ratio_most(self, lowest: arb) -> arb:
        return -(1 + arb(self.shape)) * lowest if lowest.is_finite() else arb.pos_inf()


@dataclass(frozen=True)
class PoissonRuns(RepetitionLaw):
    """K = 0 is possible."""

    mean: float

    def phi(self, z: arb) -> arb:
        return (arb(self.mean) * (z - 1)).exp()

    def log_ratio(self, x: arb, y: arb) -> arb:
        return arb(self.mean) * (y - x)

    def none(self) -> arb:
        return (-arb(self.mean)).exp()


@dataclass(frozen=True)
class BinomialRuns(RepetitionLaw):
    """K = 0 is possible: each of `trials` runs happens with probability mean / trials < 1."""

    mean: float
    trials: int

    @property
    def _share(self) -> arb:
        return ratio_ball(Fraction(self.mean) / self.trials)

    def phi(self, z: arb) -> arb:
        return (1 - self._share * (1 - z)) ** self.trials

    def log_ratio(self, x: arb, y: arb) -> arb:
        share = self._share
        return (self.trials - 1) * ((-share * (1 - y)).log1p() - (-share * (1 - x)).log1p())

    def none(self) -> arb:
        return (1 - self._share) ** self.trials
