"""A pair as a Poisson mixture of another one, and what a sampled use shows of itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from flint import arb

    from ..pair import Pair
    from ..relation import Direction


class Sampling(NamedTuple):
    """((1 - rate) Q + rate P, Q) for REMOVE, (P, (1 - rate) P + rate Q) for ADD, of the base pair (P, Q)."""

    base: Pair
    rate: float
    direction: Direction


class Seen(NamedTuple):
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
