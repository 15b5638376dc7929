"""The interface of a dominating pair (P, Q), read through its privacy loss l = log dP/dQ.

l = +inf where Q = 0 < P, and l = -inf where P = 0 < Q. The profile is H(alpha) = P[l > log alpha] - alpha Q[l > log
alpha]. Each quantity comes twice, on purpose by separate formulas: in float64 with an error bound, for speed, and in
balls, for proof. Engines see (pair, count) terms and nothing else; what a family knows beyond, they ask for by its
facets, whose defaults say that nothing is known.
Reference: Zhu, Dong, Wang 2021, Def. 7 (dominating pairs), Lemma 9 (profiles).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from flint import acb, arb

    from .facets.bounds import ProfileBounds
    from .facets.cgf import Cgf
    from .facets.finite import Atoms, FiniteLaw
    from .facets.lattice import Lattice
    from .facets.parameter_binning import ParameterBinning
    from .facets.participation_law import ParticipationLaw
    from .facets.ratio import RatioTransform
    from .facets.resolution import Resolution
    from .kernels.double_double import DoubleDouble
    from .kernels.enclosure import Enclosure, FloatArray
    from .relation import Direction

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

    def sampled_cgf(self, rate: float, direction: Direction) -> Cgf | None:
        """K of the Poisson sample of this pair at a rate below 1."""
        return None

    def log_moment(self, z: acb) -> acb | None:
        """K(z) by a formula, at the working precision; None where there is none at this z. Guarantee: exact.

        +inf at a real z where the moment is infinite.
        """
        return None

    def log_moment_above(self, order: float) -> arb | None:
        """At or above K(order), order > 0, by an inequality, where there is no formula. Guarantee: upper."""
        return None

    def divergence(self, order: float) -> tuple[arb, arb] | None:
        """Ends of the largest Renyi divergence of this order, above 0, of what it stands for, where K is no formula."""
        return None

    def of_bounds(self) -> bool:
        """Whether bounds on divergences are all that is known of something inside: then it stands for many laws, and
        may lose more than each of them."""
        inside = [*self.bases(), *(pair for pair, _ in self.factors() or ())]
        return self.divergence(2.0) is not None or any(pair.of_bounds() for pair in inside)

    def zcdp_rho(self) -> arb | None:
        """zCDP: K(c) <= c (c + 1) rho for every c > 0; by the range of the loss where no more is known, such as
        L tanh(L/2) for losses in [-L, L].

        Guarantee: upper. Proof: docs/proofs/zcdp.md, section 2.
        """
        from .facets.concentrated import rho_of_range

        if not self.infinite_mass().is_zero():
            return None
        lowest, highest = self.loss_range()
        return rho_of_range(lowest if self.bounded() else None, highest)

    def approximate_zcdp(self) -> tuple[tuple[arb, arb], ...]:
        """(s, rho) with K(c) <= c s + c (c + 1) rho for every c > 0, where that rho is less than its own; falling rho.

        Guarantee: upper. Proof: docs/proofs/gdp.md, section 5.
        """
        return ()

    def gdp_mu(self) -> arb | None:
        """GDP: a mu whose Gaussian pair dominates it; by the range of the loss where no more is known.

        Guarantee: upper. Proof: docs/proofs/gdp.md, section 6.
        """
        from .facets.gaussian import mu_of_range

        return mu_of_range(*self.loss_range()) if self.bounded() else None

    def gdp_mu_lower(self, direction: Direction) -> arb | None:
        """A mu whose Gaussian it follows far out: H(a) >= c H_mu(C a) for every a > 0, with some c, C > 0.

        For REMOVE H is its own profile, for ADD that of its reverse. Then no smaller mu dominates, and mu^2 add up.
        inf where that holds for every mu: then none dominates.
        Proof: docs/proofs/gdp.md, section 6.
        """
        return None

    def bounded(self) -> bool:
        """Whether the loss is bounded for certain, and finite under both laws."""
        lowest, highest = self.loss_range()
        if not (lowest.is_finite() and highest.is_finite()):
            return False
        return bool(self.infinite_mass().is_zero() and self.reversed().infinite_mass().is_zero())

    def atoms(self) -> Atoms | None:
        """All of its loss as a list of atoms; None where it is not discrete, or the list too long."""
        return None

    def lattice(self) -> Lattice | None:
        """The coarsest lattice that is known to hold all finite losses. Guarantee: exact."""
        return None

    def hockey_stick_cost(self) -> int:
        """How dear one evaluation of the profile is, in evaluations of a Gaussian's in an array; about."""
        return HOCKEY_STICK_COST

    def finite(self) -> FiniteLaw | None:
        """Its law, where it has finitely many losses that can be listed in balls."""
        return None

    def compose_exact(self, like: Sequence[tuple[Pair, int]]) -> HockeyStick | None:
        """The exact profile of (pair, count) uses of its family, itself among them; a Pair where they are one."""
        return None

    def normal_shift(self) -> arb | None:
        """mu, where it is N(mu, 1) against N(0, 1), at the working precision. Guarantee: exact."""
        return None

    def ratio_transform(self) -> RatioTransform | None:
        """The Laplace transform of dP/dQ under Q, where it falls quickly along vertical lines."""
        return None

    def conditioned_on_finite_loss(self) -> Pair | None:
        """The laws where both sides live, renormalised: itself where there is no infinite loss.

        Exact; None where the two sides have not the same mass there, or that is not known.
        """
        return self if self.infinite_mass().is_zero() else None

    def sampled(self, rate: float, direction: Direction) -> Pair | None:
        """Its Poisson sample where that is a pair of its own family; else derived.poisson makes the mixture."""
        return None

    def allocated(self, steps: int, direction: Direction) -> Pair | None:
        """One of so many steps, chosen at random, of this pair of that direction, where that is a pair of its own
        family; else derived.allocated makes it. Proof: docs/proofs/allocation.md, section 2."""
        return None

    def fixed_size_subsampled(self, rate: float) -> Pair | None:
        """Of a pair that is symmetric: its sample above the loss 0 and the mirror image below, where that is a pair of
        its own family; else derived.fixed_size_subsampled makes it."""
        return None

    def shifted(self, times: int) -> Pair | None:
        """The same noise at so many times its shift, where it is symmetric log-concave noise, or has the pair of such.

        Then a chain of so many neighbours is one shift. Guarantee: exact; None where nothing is known, or the shift is
        no number that the family can hold. Proof: docs/proofs/group.md, section 2.
        """
        return self if times == 1 else None

    def mixture(self, hits: ParticipationLaw, direction: Direction) -> Pair | None:
        """The mixture of its noise at 0, 1, ... times its shift by this law of hits, against the noise, or the reverse.

        For symmetric log-concave noise this is a group of records in a sample. None where nothing is known.
        Proof: docs/proofs/gaussian_mixture.md, section 4.
        """
        return None

    def hidden_participation(self, steps: int, hits: int) -> tuple[Pair, ...]:
        """Pairs at or below that of so many uses, of which so many, nobody knows which, show P and all others Q.

        Against all Q. They stay so if some uses show P at several times the shift. Nothing where nothing is known.
        Proof: docs/proofs/shuffled_batches.md, section 3.
        """
        return ()

    def sampled_replacement(self, rate: float) -> Pair | None:
        """A record in a Poisson sample, 0 < rate < 1, replaced by one that shifts the other way, of the same size.

        None where nothing is known. Proof: docs/proofs/gaussian_mixture.md, section 5.
        """
        return None

    def group_privacy(self, links: Sequence[tuple[Pair, int]]) -> Pair | None:
        """The chain of (pair, count) links of its family, itself among them, the first outermost, as one pair.

        Guarantee: exact. Proof: docs/proofs/group.md, sections 1 and 3.
        """
        return None

    def sampling(self) -> Sampling | None:
        """What it is a Poisson mixture of."""
        return None

    def factors(self) -> tuple[tuple[Pair, int], ...] | None:
        """The (pair, count) uses that it is the product of, where nothing else tells its law."""
        return None

    def bases(self) -> tuple[Pair, ...]:
        """The pairs whose laws it is made from by a map that `over` makes again; none where it stands for itself."""
        return ()

    def over(self, bases: tuple[Pair, ...]) -> Pair:
        """The same map of other bases. Guarantee: bases that dominate give a pair that dominates."""
        raise NotImplementedError

    def bracket(self, fine: Resolution) -> tuple[Pair, Pair] | None:
        """A finite pair that it dominates, and one that dominates it; None where its own tails are known.

        Its bases, where it has any, have tails.
        """
        return None

    def hockey_stick_bounds(self, proof: bool) -> ProfileBounds | None:
        """Its profile between two numbers at each epsilon, where it is not known by itself; proof: by balls alone."""
        return None

    def plainer(self) -> tuple[tuple[Pair, ...], Pair] | None:
        """Some that it dominates, and one that dominates it, of simpler make, for where `bracket` tells too little."""
        return None

    def alternatives(self) -> tuple[Pair, ...]:
        """The pairs of which it has the largest profile, so that one use has the largest of their answers."""
        return ()

    def dominated(self) -> tuple[Pair, ...]:
        """Pairs whose profiles lie at or below its own, where their moments tell more of its own than its masses do."""
        return ()

    def dominates(self, other: Pair) -> bool:
        """Whether its profile is known to be at or above the other's everywhere; False where that is not known.

        Proof: docs/proofs/points.md, section 5.
        """
        sample = other.sampling()
        return self == other or (sample is not None and self.dominates(sample.base))

    def has_bracket_only(self) -> bool:
        """Whether, composed, it is known between two finite pairs only, for `bracket` or for what is inside."""
        return any(base.has_bracket_only() for base in self.bases())

    def compose_dominating(self, like: Sequence[tuple[Pair, int]]) -> Pair | None:
        """(pair, count) uses of its family, itself among them, as one pair, where that tells more than their product.

        Guarantee: it dominates every mechanism that these describe.
        """
        return None

    def bin_parameters(self, like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> ParameterBinning | None:
        """Fewer kinds on either side of (pair, count) uses of its family, itself among them, about `cells` of them.

        mixed: combinations of two kinds, known by their moments only, which are closer. Guarantee:
        facets.parameter_binning.
        """
        return None

    def bin_sampled_parameters(
        self, like: Sequence[tuple[Pair, int]], make: Callable[[Pair], Pair], cells: int, mixed: bool
    ) -> ParameterBinning | None:
        """The same of Poisson samples of such bases, at a rate and in a direction that `make` knows."""
        return None

    def opaque(self) -> bool:
        """Whether it refuses tails and profile, so that engines which ask for neither are the only way to its law."""
        return False

    def visible_participation(self) -> VisibleParticipation | None:
        """One use, told apart into hits and misses, at the working precision."""
        return None
