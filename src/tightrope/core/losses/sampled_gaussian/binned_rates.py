"""Poisson-sampled Gaussians of one rate and many shifts mu, between fewer kinds.

H_mu(alpha) of the sample rises with mu, and is convex in u = Phi(mu/2): dH/du = 2 e^(eps/2 - eps^2/(2 mu^2)) of the
Gaussian itself, which rises with mu. So with mu_a <= mu <= mu_b and v = (u - u_a)/(u_b - u_a)
    H_mu <= (1 - v) H_a + v H_b,
a public choice between the two, which dominates; and for mu_a < mu_b <= mu, where v >= 1,
    H_mu >= (1 - v) H_a + v H_b,
which is the profile of a pair that is dominated, as long as (1 - v) f_a + v f_b >= 0 for the densities of the loss:
f_b/f_a >= (mu_a/mu_b) e^((mu_a^2 - mu_b^2)/8) everywhere.
Guarantee: the pools below are dominated, those above dominate. Proof: docs/proofs/pools.md, sections 1 and 2.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import arb

from ...numerics.balls import lower_float, upper_float, working_precision
from ...values import compute_budget
from ..capabilities import ParameterBinning
from ..gaussian import GaussianPair
from ..operators.parameter_binning import ParameterBin, ParameterBinningPair
from ..pair import Pair

BINNING_BITS = 160  # of weights: differences of masses that are close
MEMBER_UNITS = 3e4  # units of work for one use
BINNING_SHARE_MIN = 0.2  # of the law of the nearer kind, in an extrapolation
BINNING_WIDEST = 0.2  # of the log of mu in one cell: beyond, combinations tell no more than the next kind does

Make = Callable[[GaussianPair], Pair]


@dataclass(frozen=True, slots=True)
class BinEdge:
    """A kind that others are compared with: mu = 1/sigma, u = Phi(mu/2) - 1/2 as balls."""

    pair: GaussianPair
    mu: arb
    mass: arb

    @staticmethod
    def of(pair: GaussianPair) -> BinEdge:
        mu = pair.ball_mu()
        return BinEdge(pair, mu, (mu / arb(8).sqrt()).erf())


def bin_sampled_parameters(
    bases: Sequence[tuple[GaussianPair, int]], make: Make, cells: int, mixed: bool
) -> ParameterBinning | None:
    """Pools of samples, which `make` makes of a base; None where there is nothing to gain."""
    if len(bases) <= 2 * cells:
        return None
    compute_budget.spend(MEMBER_UNITS * len(bases))
    with working_precision(BINNING_BITS):
        uses = [(BinEdge.of(pair), count) for pair, count in bases]
        edges = _edges(uses, cells)
        wide = math.log(float((edges[-1].mu / edges[1].mu).mid())) > BINNING_WIDEST * (len(edges) - 2)
        if mixed and wide:
            return None
        return _mixed(uses, edges, make) if mixed else _rounded(uses, edges, make)


def _edges(uses: Sequence[tuple[BinEdge, int]], cells: int) -> list[BinEdge]:
    """Kinds with mu rising by equal factors: the second at or below all uses, the last at or above them."""
    largest = max(upper_float(edge.mu) for edge, _ in uses)
    least = min(lower_float(edge.mu) for edge, _ in uses)
    high, low = lower_float(1 / arb(largest)), upper_float(1 / arb(least))  # sigma of the last and of the first
    growth = math.log(low / high) / cells
    sigmas = [low * math.exp(growth), low, *(low * math.exp(-growth * index) for index in range(1, cells)), high]
    return [BinEdge.of(GaussianPair(((sigma, 1.0, 1),))) for sigma in sigmas]


def _rounded(uses: Sequence[tuple[BinEdge, int]], edges: Sequence[BinEdge], make: Make) -> ParameterBinning:
    """Each use as the next kind below, and above."""
    below: dict[int, int] = {}
    above: dict[int, int] = {}
    for edge, count in uses:
        at, over = _below(edge, edges), _above(edge, edges)
        below[at], above[over] = below.get(at, 0) + count, above.get(over, 0) + count
    made = [[(make(edges[index].pair), count) for index, count in sorted(side.items())] for side in (below, above)]
    return ParameterBinning(*made)


def _mixed(uses: Sequence[tuple[BinEdge, int]], edges: Sequence[BinEdge], make: Make) -> ParameterBinning | None:
    """Each use as a combination of the two kinds around it, and of the two kinds below it."""
    pairs = tuple(make(edge.pair) for edge in edges)
    gaps = [right.mass - left.mass for left, right in pairwise(edges)]
    if not all(gap > 0 for gap in gaps):
        return None
    below: dict[int, list[tuple[float, int]]] = {}
    above: dict[int, list[tuple[float, int]]] = {}
    tops: dict[int, int] = {}
    for edge, count in uses:
        over, at = _above(edge, edges), _below(edge, edges)
        tops[at] = max(over, tops.get(at, 0))
        share = upper_float((edge.mass - edges[over - 1].mass) / gaps[over - 1])
        above.setdefault(over, []).append((min(max(share, 0.0), 1.0), count))
        beyond = lower_float((edge.mass - edges[at - 1].mass) / gaps[at - 1])
        below.setdefault(at, []).append((max(beyond, 0.0), count))
    upper = [ParameterBin(over - 1, over, over, tuple(weights)) for over, weights in sorted(above.items())]
    lower: list[ParameterBin] = []
    for at, weights in sorted(below.items()):
        share = _share(edges[at - 1], edges[at], [weight for weight, _ in weights])
        if share < BINNING_SHARE_MIN:
            return None
        lower.append(ParameterBin(at - 1, at, tops[at], tuple(weights), share))
    return ParameterBinning(
        [(ParameterBinningPair(pairs, tuple(lower)), 1)], [(ParameterBinningPair(pairs, tuple(upper)), 1)]
    )


def _share(low: BinEdge, high: BinEdge, weights: Sequence[float]) -> float:
    """At or below the share of the law of `high` in every use, tilted or not.

    Of (1 - v) f_low + v f_high it has v up to 1, then v - (v - 1)/r, r = inf f_high/f_low, which falls with v; not
    below 0 it says that these are densities. A tilt divides that by M_i/M_high, at most v for v > 1, else 1.
    """
    least, most = min(weights), arb(max(weights))
    if not most > 1:
        return least
    ratio = (low.mu / high.mu) * ((low.mu**2 - high.mu**2) / 8).exp()
    return min(least, lower_float((most - (most - 1) / ratio) / most))


def _below(edge: BinEdge, edges: Sequence[BinEdge]) -> int:
    """The last kind, from the second on, whose mu is at or below for certain."""
    at = max(1, bisect_right(edges, float(edge.mu.mid()), lo=1, key=_middle) - 1)
    while at > 1 and not edges[at].mu <= edge.mu:
        at -= 1
    return at


def _above(edge: BinEdge, edges: Sequence[BinEdge]) -> int:
    """The first kind, from the third on, whose mu is at or above for certain."""
    over = max(2, bisect_left(edges, float(edge.mu.mid()), lo=1, key=_middle))
    while over < len(edges) - 1 and not edges[over].mu >= edge.mu:
        over += 1
    return min(over, len(edges) - 1)


def _middle(edge: BinEdge) -> float:
    return float(edge.mu.mid())
