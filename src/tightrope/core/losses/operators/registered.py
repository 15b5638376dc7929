"""What one family or a few know of a pair beyond its interface: functions that go by the class of the pair.

A family registers what it knows beside its class, `@shifted_pair.register(GaussianPair)`; for every other pair the
function here answers, mostly that nothing is known. A class is registered once, as its module is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from flint import arb

    from ...values.question import Direction
    from ..atoms import FiniteLaw
    from ..capabilities import ParameterBinning, ProfileBounds
    from ..cgf import Cgf, RatioTransform
    from ..pair import Pair, Sampling, VisibleParticipation
    from ..participation_law import ParticipationLaw


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Family = TypeVar("Family", bound="Pair")


class Operator(Generic[Arguments, Result]):
    """A function of a pair: what its class registered, else its nearest base class; else the default answers."""

    def __init__(self, default: Callable[Concatenate[Pair, Arguments], Result]) -> None:
        self.default = default
        self._registered: dict[type, Callable[Concatenate[Any, Arguments], Result]] = {}
        self.resolved: dict[type, Callable[Concatenate[Any, Arguments], Result]] = {}
        update_wrapper(self, default)

    def __call__(self, pair: Pair, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        known = self.resolved.get(type(pair))
        if known is None:
            known = self.resolved[type(pair)] = self.of(type(pair))
        return known(pair, *args, **kwargs)

    def of(self, family: type) -> Callable[Concatenate[Any, Arguments], Result]:
        """Who answers for this class."""
        return next((self._registered[base] for base in family.__mro__ if base in self._registered), self.default)

    def register(
        self, family: Callable[..., Family]
    ) -> Callable[[Callable[Concatenate[Family, Arguments], Result]], Callable[Concatenate[Family, Arguments], Result]]:
        """What this family, a class, knows better; its subclasses have it too."""
        assert isinstance(family, type)

        def add(
            known: Callable[Concatenate[Family, Arguments], Result],
        ) -> Callable[Concatenate[Family, Arguments], Result]:
            if family in self._registered:
                raise TypeError(f"{family.__name__} has registered {self.default.__name__} before")
            self._registered[family] = known
            self.resolved.clear()
            return known

        return add

    @property
    def families(self) -> tuple[type, ...]:
        """The classes that registered."""
        return tuple(self._registered)


# Laws that are read off.


@Operator
def finite_law(pair: Pair) -> FiniteLaw | None:
    """Its law, where it has finitely many losses that can be listed in balls."""
    return None


@Operator
def normal_shift(pair: Pair) -> arb | None:
    """mu, where it is N(mu, 1) against N(0, 1), at the working precision. Guarantee: exact."""
    return None


@Operator
def ratio_transform(pair: Pair) -> RatioTransform | None:
    """The Laplace transform of dP/dQ under Q, where it falls quickly along vertical lines."""
    return None


@Operator
def sampled_cgf(pair: Pair, rate: float, direction: Direction) -> Cgf | None:
    """K of the Poisson sample of this pair at a rate below 1."""
    return None


@Operator
def hockey_stick_bounds(pair: Pair, proof: bool) -> ProfileBounds | None:
    """Its profile between two numbers at each epsilon, where it is not known by itself; proof: by balls alone."""
    return None


@Operator
def visible_participation(pair: Pair) -> VisibleParticipation | None:
    """One use, told apart into hits and misses, at the working precision."""
    return None


@Operator
def is_opaque(pair: Pair) -> bool:
    """Whether it refuses tails and profile, so that engines which ask for neither are the only way to its law."""
    return False


# What it is made of.


@Operator
def sampling_of(pair: Pair) -> Sampling | None:
    """What it is a Poisson mixture of."""
    return None


@Operator
def factors_of(pair: Pair) -> tuple[tuple[Pair, int], ...] | None:
    """The (pair, count) uses that it is the product of, where nothing else tells its law."""
    return None


@Operator
def alternatives_of(pair: Pair) -> tuple[Pair, ...]:
    """The pairs of which it has the largest profile, so that one use has the largest of their answers."""
    return ()


@Operator
def has_bracket_only(pair: Pair) -> bool:
    """Whether, composed, it is known between two finite pairs only, for `bracket` or for what is inside."""
    return any(has_bracket_only(base) for base in pair.bases())


def of_bounds(pair: Pair) -> bool:
    """Whether bounds on divergences are all that is known of something inside: then it stands for many laws, and
    may lose more than each of them."""
    inside = [*pair.bases(), *(factor for factor, _ in factors_of(pair) or ())]
    return pair.moments().divergence(2.0) is not None or any(of_bounds(each) for each in inside)


@Operator
def remake(pair: Pair, bases: tuple[Pair, ...]) -> Pair:
    """The map that made it, of other bases than `pair.bases()`. Guarantee: bases that dominate give a pair that
    dominates. Whoever has bases registers it."""
    raise NotImplementedError(f"{type(pair).__name__} has bases and no way to be made of others")


# Order among pairs.


@Operator
def dominates(pair: Pair, other: Pair) -> bool:
    """Whether its profile is known to be at or above the other's everywhere; False where that is not known.

    Proof: docs/proofs/points.md, section 5.
    """
    sample = sampling_of(other)
    return pair == other or (sample is not None and dominates(pair, sample.base))


@Operator
def dominated_pairs(pair: Pair) -> tuple[Pair, ...]:
    """Pairs whose profiles lie at or below its own, where their moments tell more of its own than its masses do."""
    return ()


@Operator
def simpler_ends(pair: Pair) -> tuple[tuple[Pair, ...], Pair] | None:
    """Some that it dominates, and one that dominates it, of simpler make, for where `bracket` tells too little."""
    return None


# Maps that a family answers with a pair of its own.


@Operator
def condition_on_finite_loss(pair: Pair) -> Pair | None:
    """The laws where both sides live, renormalised: itself where there is no infinite loss.

    Exact; None where the two sides have not the same mass there, or that is not known.
    """
    return pair if pair.infinite_mass().is_zero() else None


@Operator
def sampled_in_family(pair: Pair, rate: float, direction: Direction) -> Pair | None:
    """Its Poisson sample where that is a pair of its own family; else derived.poisson makes the mixture."""
    return None


@Operator
def sampled_replacement(pair: Pair, rate: float) -> Pair | None:
    """A record in a Poisson sample, 0 < rate < 1, replaced by one that shifts the other way, of the same size.

    None where nothing is known. Proof: docs/proofs/gaussian_mixture.md, section 5.
    """
    return None


@Operator
def subsampled_fixed_size(pair: Pair, rate: float) -> Pair | None:
    """Of a pair that is symmetric: its sample above the loss 0 and the mirror image below, where that is a pair of
    its own family; else derived.fixed_size_subsampled makes it."""
    return None


@Operator
def allocated_pair_of(pair: Pair, steps: int, direction: Direction) -> Pair | None:
    """One of so many steps, chosen at random, of this pair of that direction, where that is a pair of its own
    family; else derived.allocated makes it. Proof: docs/proofs/allocation.md, section 2."""
    return None


@Operator
def hidden_participation(pair: Pair, steps: int, hits: int) -> tuple[Pair, ...]:
    """Pairs at or below that of so many uses, of which so many, nobody knows which, show P and all others Q.

    Against all Q. They stay so if some uses show P at several times the shift. Nothing where nothing is known.
    Proof: docs/proofs/shuffled_batches.md, section 3.
    """
    return ()


@Operator
def shifted_pair(pair: Pair, times: int) -> Pair | None:
    """The same noise at so many times its shift, where it is symmetric log-concave noise, or has the pair of such.

    Then a chain of so many neighbours is one shift. Guarantee: exact; None where nothing is known, or the shift is
    no number that the family can hold. Proof: docs/proofs/group.md, section 2.
    """
    return pair if times == 1 else None


@Operator
def shift_mixture(pair: Pair, hits: ParticipationLaw, direction: Direction) -> Pair | None:
    """The mixture of its noise at 0, 1, ... times its shift by this law of hits, against the noise, or the reverse.

    For symmetric log-concave noise this is a group of records in a sample. None where nothing is known.
    Proof: docs/proofs/gaussian_mixture.md, section 4.
    """
    return None


@Operator
def chained_pair(pair: Pair, links: Sequence[tuple[Pair, int]]) -> Pair | None:
    """The chain of (pair, count) links of its family, itself among them, the first outermost, as one pair.

    Guarantee: exact. Proof: docs/proofs/group.md, sections 1 and 3.
    """
    return None


# Several uses of one family.


@Operator
def compose_dominating(pair: Pair, like: Sequence[tuple[Pair, int]]) -> Pair | None:
    """(pair, count) uses of its family, itself among them, as one pair, where that tells more than their product.

    Guarantee: it dominates every mechanism that these describe.
    """
    return None


@Operator
def bin_parameters(pair: Pair, like: Sequence[tuple[Pair, int]], cells: int, mixed: bool) -> ParameterBinning | None:
    """Fewer kinds on either side of (pair, count) uses of its family, itself among them, about `cells` of them.

    mixed: combinations of two kinds, known by their moments only, which are closer. Guarantee:
    facets.parameter_binning.
    """
    return None


@Operator
def bin_sampled(
    pair: Pair, like: Sequence[tuple[Pair, int]], make: Callable[[Pair], Pair], cells: int, mixed: bool
) -> ParameterBinning | None:
    """The same of Poisson samples of such bases, at a rate and in a direction that `make` knows."""
    return None
