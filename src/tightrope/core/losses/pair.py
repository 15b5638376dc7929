"""The interface of a dominating pair (P, Q), read through its privacy loss l = log dP/dQ.

l = +inf where Q = 0 < P, and l = -inf where P = 0 < Q. The profile is H(alpha) = P[l > log alpha] - alpha Q[l > log
alpha]. Each quantity comes twice, on purpose by separate formulas: in float64 with an error bound, for speed, and in
balls, for proof. Engines see (pair, count) terms and nothing else; what a family knows beyond, they ask for by its
facets, whose defaults say that nothing is known.
Reference: Zhu, Dong, Wang 2021, Def. 7 (dominating pairs), Lemma 9 (profiles).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from .capabilities import Moments

if TYPE_CHECKING:
    from flint import arb

    from ..numerics.double_double import DoubleDouble
    from ..numerics.enclosures import Enclosure, FloatArray
    from ..values.question import Direction
    from .atoms import Atoms, Lattice
    from .capabilities import Resolution
    from .cgf import Cgf


# Relative error of every tail in float64 where the tail is at least 1e-300; below, at most 1e-313 absolute.
TAIL_ERROR = 1e-13
HOCKEY_STICK_COST = 200  # of a profile that goes through balls


class Tails(NamedTuple):
    """Both sides of both laws at t, so that nothing needs to be subtracted from one."""

    p_above: FloatArray  # P[l > t]
    q_above: FloatArray  # Q[l > t]
    p_below: FloatArray  # P[l <= t]
    q_below: FloatArray  # Q[l <= t]


class BallTails(NamedTuple):
    """The same four numbers as balls."""

    p_above: arb
    q_above: arb
    p_below: arb
    q_below: arb


class LossRange(NamedTuple):
    """Enclosures of the infimum and the supremum of the finite losses."""

    lowest: arb
    highest: arb


class Sampling(NamedTuple):
    """((1 - rate) Q + rate P, Q) for REMOVE, (P, (1 - rate) P + rate Q) for ADD, of the base pair (P, Q)."""

    base: Pair
    rate: float
    direction: Direction


class VisibleParticipation(NamedTuple):
    """A use that shows whether the record took part.

    With probability `chance` it is a hit, of loss log chance + N, N the loss of a Gaussian pair with this variance;
    else its loss is log(1 - chance). In either case it has the loss `sure` on top, less at most `blur`.
    Guarantee: a composition changes its delta by at most `hidden` for each use that this stands for.
    Proof: docs/proofs/hits.md, section 1.
    """

    chance: float
    variance: arb
    sure: arb
    hidden: arb
    blur: arb


class HockeyStick(Protocol):
    """H of a pair, or of several together, in balls."""

    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H(e^epsilon), for any real epsilon."""

    def hockey_stick_cost(self) -> int:
        """Evaluations of a Gaussian's profile, in an array, that take about as long as one of this."""


@runtime_checkable
class Tailed(Protocol):
    """What knows its tails in balls: a pair, or several of some families together."""

    def ball_tails(self, t: arb) -> BallTails:
        """Tails in balls; where t cannot be told from an atom, the hull of both sides."""


class Pair(ABC):
    """A dominating pair. Instances are frozen values; equal pairs compare equal and hash alike."""

    @abstractmethod
    def tails(self, t: DoubleDouble) -> Tails:
        """Tails in float64, relative error TAIL_ERROR; t may be -inf, and +inf, where p_above is the infinite mass.

        Next to an atom of the loss the tails may be those of a point one rounding error (4 units of t) away, all four
        of the same point.
        """

    @abstractmethod
    def hockey_stick(self, epsilon: Enclosure) -> Enclosure:
        """H(e^epsilon) for any finite epsilon, without cancellation, with its radius."""

    @abstractmethod
    def ball_tails(self, t: arb) -> BallTails:
        """Tails in balls; where t cannot be told from an atom, the hull of both sides."""

    @abstractmethod
    def ball_hockey_stick(self, epsilon: arb) -> arb:
        """H(e^epsilon) in balls, for any real epsilon."""

    @abstractmethod
    def reversed(self) -> Pair:
        """The pair (Q, P)."""

    @abstractmethod
    def infinite_mass(self) -> arb:
        """P[l = +inf], exactly zero where there is none."""

    @abstractmethod
    def loss_range(self) -> LossRange:
        """Where the finite losses lie; may be infinite on either side."""

    # Facets: what a family may know of itself. None says "not known"; a facet may refuse what is out of its range.

    def cgf(self) -> Cgf | None:
        """K in both arithmetics, as contours need it. Guarantee: facets.cgf."""
        return None

    def moments(self) -> Moments[Pair]:
        """Its moments, and the zCDP and the Gaussians that follow. Guarantee: facets.moments."""
        return Moments(self)

    def atoms(self) -> Atoms | None:
        """All of its loss as a list of atoms; None where it is not discrete, or the list too long."""
        return None

    def lattice(self) -> Lattice | None:
        """The coarsest lattice that is known to hold all finite losses. Guarantee: exact."""
        return None

    def hockey_stick_cost(self) -> int:
        """How dear one evaluation of the profile is, in evaluations of a Gaussian's in an array; about."""
        return HOCKEY_STICK_COST

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> HockeyStick | None:
        """The exact profile of (pair, count) uses of its family, itself among them; a Pair where they are one."""
        return None

    def bases(self) -> tuple[Pair, ...]:
        """The pairs whose laws it is made from by a map, which `operators.remake` makes again; else none."""
        return ()

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair] | None:
        """A finite pair that it dominates, and one that dominates it; None where its own tails are known.

        Its bases, where it has any, have tails.
        """
        return None
