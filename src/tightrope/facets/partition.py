"""Marks: a law in parts that its outputs tell apart.

A use is marked by what it puts out, with probabilities that are the same under both hypotheses: rare (less likely than
delta can see), hit (a loss that counts) or body. Losses stay what they are, so each part has a cgf of its own.
Where marks are set is a choice in plain floats, and any are valid; what they leave out is bounded in balls.
Proof: docs/proofs/contour.md, section 10.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from .cgf import LOG_TOLERANCE, Cgf

if TYPE_CHECKING:
    from flint import arb

    from ..kernels.enclosure import Enclosure
    from ..kernels.quadrature import TiltedLaw

SHARPNESSES = 10  # cuts from the softest to the sharpest


class Partitionable(ABC):
    """A law whose outputs can be marked."""

    @abstractmethod
    def log_alone(self, epsilon: float) -> float:
        """log of the delta of one use alone, about."""

    @abstractmethod
    def alone(self, log_delta: float) -> float:
        """The epsilon of one use alone, about."""

    @abstractmethod
    def cut(self, log_mass: float, sharpness: int) -> RestrictedCgf:
        """The law without outputs whose probability is e^log_mass, about."""

    @abstractmethod
    def cut_above(self, loss: float) -> RestrictedCgf | None:
        """The law without outputs that lose more, nearly all of them; None where that cannot be done."""


class RestrictedCgf(Cgf):
    """K of a part of a law, below a hard end."""

    @property
    @abstractmethod
    def share(self) -> float:
        """About how likely a use is a hit: the law of which most are expected leads a split."""

    @abstractmethod
    def split_loss(self, epsilon: float, height: float) -> float:
        """A loss to split at for this epsilon, from the least (height 0) to the largest that makes sense (height 1)."""

    @abstractmethod
    def tilted(self, tilt: float, reach: float, log_tolerance: float) -> TiltedLaw: ...

    @abstractmethod
    def depth(self, tilt: float) -> float:
        """How many e-folds the tilted density is lower at the hard end than at its highest, about."""

    @abstractmethod
    def split(self, loss: float, epsilon: float, widths: float, log_mass: float) -> Split:
        """Body below about this loss and hits above it, this many widths of the split from a loss of epsilon.

        The body may end where it has no more than e^log_mass beyond.
        """

    @abstractmethod
    def beyond(self) -> arb:
        """At or above the probability, under P, of what the cut and the hard end leave out."""

    @abstractmethod
    def leak(self) -> arb:
        """Of a body: at or above the probability, under P, of what would be body beyond its hard end."""

    @abstractmethod
    def log_low(self, s: float) -> float:
        """log of E_Q[e^{-sl}; rare], about."""

    @abstractmethod
    def decisive(self, s: float, balls: bool) -> Decisive:
        """All that a bound needs to know of what is rare, where that decides; in balls or with bounds in float64."""


class Decisive(NamedTuple):
    """Of a law that was cut: the probabilities P and Q of what is rare, and two upper bounds of what Q has.

    low: E_Q[e^{-sl}; rare]. log_low_all: log E_Q[e^{-sl}] of the whole law, at least 0.
    """

    p: arb
    q: arb
    low: arb
    log_low_all: arb


class Split(NamedTuple):
    """Two disjoint parts of a law that was cut."""

    body: RestrictedCgf
    hit: RestrictedCgf

    def log_ratio(self, tilt: float) -> Enclosure:
        """log of B(c)/A(c), hits to body."""
        return self.hit.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf - self.body.tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf

    def ball_log_ratio(self, tilt: float) -> arb:
        """The same in balls."""
        hit, body = (part.ball_tilted(tilt, 0.0, LOG_TOLERANCE).log_mgf for part in (self.hit, self.body))
        return hit - body
