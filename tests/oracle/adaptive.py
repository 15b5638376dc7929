"""The true profile of one use or of several, chosen anew after every answer, from lists of real pairs of neighbours.

A pair is two arrays of masses over the same outputs. V_0(a) = (1 - a)_+, and over all pairs that step j may show
V_k(a) = max sum_y P(y) V_{k-1}(a Q(y) / P(y)): the observer's best choice at every step, given what was seen.
No number has an error above `ERROR`: 64 bits, sums of a few hundred terms of at most 1, three steps at most.

With a rule that says, after what was spent, which pairs may still be shown (`filtered`):
V(state, a) = max((1 - a)_+, max over accepted pairs of sum_y P(y) V(state', a Q(y) / P(y))), and V(state, 0) = 1 where
Q(y) = 0. The largest of all strategies, stopping included. A rule looks at the state alone, so the best rest is a
function of state and a. `exceeded` is the largest probability that the loss is ever above what the state says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import comb, inf, log
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.longdouble]
ERROR = 1e-15
State = tuple[Any, ...]
Rule = Callable[[State], Iterable[tuple[int, State]]]  # the pairs that may be shown next, and the state after each


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The laws of the output under two neighbouring data sets."""

    p: Array
    q: Array

    @cached_property
    def corners(self) -> tuple[Array, Array, Array]:
        """The ratios p/q where the profile bends, falling, and what P and Q have above each (before the first: 0)."""
        ratios = np.divide(self.p, self.q, out=np.full_like(self.p, np.inf), where=self.q > 0)
        order = np.argsort(-ratios, kind="stable")
        zero = np.zeros(1, dtype=np.longdouble)
        return ratios[order], *(np.concatenate([zero, np.cumsum(law[order])]) for law in (self.p, self.q))

    @cached_property
    def swapped(self) -> Neighbours:
        return Neighbours(self.q, self.p)

    def hockey_stick(self, alpha: Array) -> Array:
        """sum (P - alpha Q)_+, alpha from 0 on."""
        ratios, p, q = self.corners
        above = np.searchsorted(-ratios, -np.asarray(alpha, dtype=np.longdouble), side="left")
        return p[above] - alpha * q[above]


def neighbours(p: Iterable[object], q: Iterable[object]) -> Neighbours:
    """Two laws as they come, outputs without any mass left out."""
    first, second = (np.array(list(law), dtype=np.longdouble) for law in (p, q))
    kept = (first > 0) | (second > 0)
    return Neighbours(first[kept], second[kept])


def both(pairs: Iterable[Neighbours]) -> list[Neighbours]:
    """Each pair in both orders, as under a symmetric relation."""
    return [each for pair in pairs for each in (pair, pair.swapped)]


def largest(pairs: Sequence[Neighbours]) -> list[Neighbours]:
    """Without those that another one dominates: what it shows can be made of what the other shows (Blackwell)."""
    kept: list[Neighbours] = []
    for pair in sorted(pairs, key=lambda each: -float(each.hockey_stick(np.longdouble(1)))):
        if not any(_dominates(other, pair) for other in kept):
            kept = [other for other in kept if not _dominates(pair, other)] + [pair]
    return kept


def _dominates(large: Neighbours, small: Neighbours) -> bool:
    """Between bends, and after the last, both profiles are straight."""
    bends = np.concatenate([large.corners[0], small.corners[0], np.ones(1, dtype=np.longdouble)])
    at = bends[np.isfinite(bends)]
    return bool(np.all(large.hockey_stick(at) >= small.hockey_stick(at) - 1e-18))


def adaptive(steps: Sequence[Sequence[Neighbours]], alpha: npt.ArrayLike) -> Array:
    """V_k at these alphas, step j showing any of the j-th list; lists of `largest` ones are quicker."""
    at = np.asarray(alpha, dtype=np.longdouble)
    if not steps:
        return np.maximum(1 - at, 0)
    if len(steps) == 1:
        return np.max([pair.hockey_stick(at) for pair in steps[0]], axis=0)
    found = []
    for pair in steps[0]:
        seen = pair.p > 0
        ratio = pair.q[seen] / pair.p[seen]
        later = adaptive(steps[1:], np.multiply.outer(at, ratio))
        found.append(later @ pair.p[seen])
    return np.max(found, axis=0)


def fold(pair: Neighbours, count: int) -> Neighbours:
    """The same neighbours, the same question, so many times: no choices."""
    p, q = pair.p, pair.q
    for _ in range(count - 1):
        p, q = np.multiply.outer(p, pair.p).ravel(), np.multiply.outer(q, pair.q).ravel()
    return Neighbours(p, q)


def counted(pair: Neighbours, count: int) -> Neighbours:
    """The same, by how often each of a few outputs occurs."""
    places = list(_splits(count, len(pair.p)))
    ways = np.array([_ways(split) for split in places], dtype=np.longdouble)
    times = np.array(places)
    return Neighbours(ways * np.prod(pair.p**times, axis=1), ways * np.prod(pair.q**times, axis=1))


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
    else:
        for first in range(total + 1):
            yield from ((first, *rest) for rest in _splits(total - first, parts - 1))


def _ways(split: Sequence[int]) -> int:
    left, found = sum(split), 1
    for each in split:
        found *= comb(left, each)
        left -= each
    return found


def product(*pairs: Neighbours) -> Neighbours:
    """Independent answers of several pairs."""
    one = np.ones(1, dtype=np.longdouble)
    p, q = one, one
    for pair in pairs:
        p, q = np.multiply.outer(p, pair.p).ravel(), np.multiply.outer(q, pair.q).ravel()
    return Neighbours(p, q)


def of_points(points: Iterable[tuple[object, object]]) -> Neighbours:
    """The pair of the lower hull of points (alpha, H), flat after the last of them."""
    hull: list[tuple[np.longdouble, np.longdouble]] = []
    for x, height in sorted((np.longdouble(x), np.longdouble(h)) for x, h in points):
        while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-2], (x, height)):
            hull.pop()
        hull.append((x, height))
    falls = [-_slope(one, other) for one, other in pairwise(hull)]
    q = [one - other for one, other in zip(falls, [*falls[1:], 0], strict=True)]
    p = [x * mass for (x, _), mass in zip(hull[1:], q, strict=True)]
    return neighbours([hull[-1][1], *p, 0], [0, *q, 1 - falls[0]])


def _slope(one: tuple[np.longdouble, np.longdouble], other: tuple[np.longdouble, np.longdouble]) -> np.longdouble:
    return (other[1] - one[1]) / (other[0] - one[0])


def mirrored(profile: Array, alpha: Array) -> Array:
    """The profile of (Q, P) at alpha, from that of (P, Q) at 1 / alpha."""
    return 1 - alpha + alpha * profile


def alphas(points: int, reach: float = 4.0) -> Array:
    """From e^-reach to e^reach, equally spaced on a log scale."""
    return np.exp(np.linspace(-np.longdouble(reach), np.longdouble(reach), points))


@dataclass(frozen=True, eq=False)
class Shelf:
    """Pairs of which the next step shows one, stacked; missing outputs have no mass."""

    pairs: Sequence[Neighbours]

    @cached_property
    def laws(self) -> tuple[Array, Array]:
        width = max(len(pair.p) for pair in self.pairs)
        return tuple(np.array([np.pad(law, (0, width - len(law))) for law in laws]) for laws in self._both())

    def _both(self) -> tuple[list[Array], list[Array]]:
        return [pair.p for pair in self.pairs], [pair.q for pair in self.pairs]

    @cached_property
    def ratios(self) -> list[tuple[Array, Array]]:
        """Q(y) / P(y) and P(y) of each pair, where P(y) > 0."""
        return [(pair.q[pair.p > 0] / pair.p[pair.p > 0], pair.p[pair.p > 0]) for pair in self.pairs]

    def highest(self, chosen: Sequence[int], alpha: Array) -> Array:
        """The largest profile of these pairs."""
        p, q = (law[list(chosen)] for law in self.laws)
        shape = (len(chosen),) + (1,) * alpha.ndim
        found = np.zeros(shape[:1] + alpha.shape, dtype=np.longdouble)
        for y in range(p.shape[1]):
            found += np.maximum(p[:, y].reshape(shape) - alpha * q[:, y].reshape(shape), 0)
        return np.max(found, axis=0)


def everywhere(state: State) -> bool:
    """Every transcript counts."""
    return True


def filtered(
    shelf: Shelf,
    rule: Rule,
    state: State,
    alpha: npt.ArrayLike,
    rounds: int,
    good: Callable[[State], bool] = everywhere,
) -> Array:
    """The largest P(A) - alpha Q(A) over strategies of at most so many rounds and events of runs that end well.

    good: of states; a state that comes before a good one is good.
    """
    at = np.asarray(alpha, dtype=np.longdouble)
    if not good(state):
        return np.zeros_like(at)
    found = np.maximum(1 - at, 0)
    if rounds == 0:
        return found
    offered = [(index, after) for index, after in rule(state) if good(after)]
    if not offered:
        return found
    if rounds == 1:
        return np.maximum(found, shelf.highest([index for index, _ in offered], at))
    for index, after in offered:
        ratio, weight = shelf.ratios[index]
        later = filtered(shelf, rule, after, np.multiply.outer(at, ratio), rounds - 1, good)
        found = np.maximum(found, later @ weight)
    return found


def exceeded(
    shelf: Shelf, rule: Rule, state: State, level: Callable[[State], float], rounds: int, loss: float = 0.0
) -> float:
    """The largest P[log P/Q of what was seen > level(state), after some round] over strategies of so many rounds."""
    if loss > level(state):
        return 1.0
    if rounds == 0:
        return 0.0
    found = 0.0
    for index, after in rule(state):
        chance = 0.0
        for ratio, weight in zip(*shelf.ratios[index], strict=True):
            gained = -log(ratio) if ratio > 0 else inf
            chance += float(weight) * exceeded(shelf, rule, after, level, rounds - 1, loss + gained)
        found = max(found, chance)
    return found


def played(first: tuple[Sequence[Any], Sequence[Any]], then: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """The profile of one strategy: a pair, and for each of its outputs the profile of what follows; of any numbers."""

    def profile(alpha: Any) -> Any:
        found: Any = 0
        for p, q, rest in zip(*first, then, strict=True):
            if p > 0:
                found += p * rest(alpha * q / p)
        return found

    return profile
