"""Rules that put other terms in the place of those of a composition, before an engine is chosen.

A rule is a value: its theorem, the page of its proof, a test by the kind of one pair, and the rewriting, which gives
terms below, the most telling ones first, and terms above; where both are one the rule is exact. Most terms match no
rule. The planner (plan.py) asks for the sides of a rule once, and answers below and above along the same path.
Guarantee: terms below <= the composition <= terms above, as profiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from ..losses.capabilities import bin_parameters_of
from ..losses.operators.poisson import sampled_once
from ..losses.operators.product import unfolded
from ..losses.operators.registered import bin_parameters, condition_on_finite_loss, remake, sampling_of, simpler_ends
from ..losses.pair import Pair
from .selection import Term
from .tuning import PARAMETER_BINS

# Pairs of simpler make below and above one, for where its own law tells too little.
#
# Guarantee: lower <= pair <= upper, as profiles, also when composed: maps of pairs keep their order
# (`operators.remake`).
# Proof: docs/proofs/joint.md, section 2.


class PlainEnds(NamedTuple):
    """Pairs below, the most telling ones first, and one above."""

    below: tuple[Pair, ...]
    above: Pair


def plain_ends(pair: Pair) -> PlainEnds:
    """All are the pair itself where nothing simpler is known."""
    known = simpler_ends(pair)
    if known is not None:
        below, above = known
        return PlainEnds(tuple(each for one in below for each in plain_ends(one).below), plain_ends(above).above)
    bases = pair.bases()
    inside = [plain_ends(base) for base in bases]
    if all(ends.above is base for ends, base in zip(inside, bases, strict=True)):
        return PlainEnds((pair,), pair)
    rows = zip_longest(*(ends.below for ends in inside))
    chosen = (tuple(one or ends.below[-1] for one, ends in zip(row, inside, strict=True)) for row in rows)
    return PlainEnds(tuple(remake(pair, row) for row in chosen), remake(pair, tuple(ends.above for ends in inside)))


Terms = tuple[Term, ...]


class Sides(NamedTuple):
    """What a rule makes of terms."""

    below: tuple[Terms, ...]
    above: Terms


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to rewrite. concerns: whether a pair may be rewritten; rewrite: None where terms stay as they are."""

    name: str
    theorem: str
    proof: str  # a page of docs/proofs, and its section
    concerns: Callable[[Pair], bool]
    rewrite: Callable[[Terms], Sides | None]

    def sides(self, terms: Terms) -> Sides | None:
        """None where no term matches."""
        return self.rewrite(terms) if any(self.concerns(pair) for pair, _ in terms) else None


def _is_sample_of_sample(pair: Pair) -> bool:
    outer = sampling_of(pair)
    inner = None if outer is None else sampling_of(outer.base)
    return outer is not None and inner is not None and inner.direction is outer.direction


def _as_one_sample(terms: Terms) -> Sides | None:
    joined = [(sampled_once(pair), count) for pair, count in terms]
    below, above = (tuple((ends[side], count) for ends, count in joined) for side in (0, 1))
    return None if below == terms else Sides((below,), above)


def _leaks(pair: Pair) -> bool:
    return not pair.infinite_mass().is_zero()


def _on_finite_losses(terms: Terms) -> Sides | None:
    """One that leaks in another way than by outcomes of one side alone stays as it is, and so do all."""
    kept = [(condition_on_finite_loss(pair), count) for pair, count in terms]
    known = tuple((pair, count) for pair, count in kept if pair is not None)
    return Sides((known,), known) if len(known) == len(kept) else None


def _has_simpler_ends(pair: Pair) -> bool:
    parts = unfolded([(pair, 1)])
    return any(simpler_ends(each) is not None for part, _ in parts for each in (part, *part.bases()))


def _by_simpler_pairs(terms: Terms) -> Sides | None:
    parts = unfolded(terms)
    ends = [(plain_ends(pair), count) for pair, count in parts]
    above = tuple((end.above, count) for end, count in ends)
    if above == tuple(parts):
        return None
    most = max(len(end.below) for end, _ in ends)
    below = (tuple((end.below[min(index, len(end.below) - 1)], count) for end, count in ends) for index in range(most))
    return Sides(tuple(below), above)


def _binned(mixed: bool) -> Callable[[Terms], Sides | None]:
    def rewrite(terms: Terms) -> Sides | None:
        bins = bin_parameters_of(terms, PARAMETER_BINS[mixed], mixed)
        return bins and Sides((tuple(bins.below),), tuple(bins.above))

    return rewrite


def _can_be_binned(pair: Pair) -> bool:
    return isinstance(pair, bin_parameters.families)


ONE_SAMPLE = Rule(
    "samples of samples as one",
    "a Poisson sample of a Poisson sample is one at the product of the rates, which lies between two doubles",
    "poisson.md",
    _is_sample_of_sample,
    _as_one_sample,
)
FINITE_LOSSES = Rule(
    "condition on finite loss",
    "delta = w + (1 - w) delta', w the infinite mass and delta' that of the laws where both sides live",
    "hits.md, section 3",
    _leaks,
    _on_finite_losses,
)
SIMPLER_PAIRS = Rule(
    "simpler pairs",
    "maps and compositions keep the order of profiles",
    "joint.md, section 2",
    _has_simpler_ends,
    _by_simpler_pairs,
)
COMBINED_KINDS = Rule(
    "parameter binning by combinations of two kinds",
    "the cumulants of a kind lie between combinations of those of its neighbours",
    "pools.md",
    _can_be_binned,
    _binned(True),
)
NEXT_KINDS = Rule(
    "parameter binning by the next kind",
    "a larger parameter dominates",
    "pools.md",
    _can_be_binned,
    _binned(False),
)
RULES = (ONE_SAMPLE, FINITE_LOSSES, SIMPLER_PAIRS, COMBINED_KINDS, NEXT_KINDS)
