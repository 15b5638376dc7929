"""p-values of what an attack saw, in balls: ranks, counts, guesses, multipliers; each an upper end.

M1: E P(Bin(n1, g(B)) >= l), B ~ Beta(k, n0 - k + 1), as a sum over cells. M2: sup F(U V), F(w) = w (1 - log w).
O2: beta + B beta (1 - beta)/(k b_k). O4: whatever the multipliers are. Proof: docs/proofs/audit.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from typing import Any

from flint import arb

from .clock import now
from .law import exact

CELLS_LOOKED = 64  # cells between two looks at the clock
GUESSES_MAX = 10**7
TERM_BITS = 70


@dataclass(frozen=True)
class CheckedSlope:
    """a = e^epsilon, and what H is at most there, in both directions."""

    a: arb
    remove: arb
    add: arb

    def swapped(self) -> CheckedSlope:
        """Of the two laws exchanged."""
        return CheckedSlope(self.a, self.add, self.remove)


Slopes = Sequence[CheckedSlope]


def test_p(test: Mapping[str, Any], slopes: Slopes, goal: arb, until: float) -> arb:
    """An upper end of the p-value of one test; as sharp as the goal where there is time."""
    method, count = test["method"], whole(test["count"])
    if count == 0:
        return arb(1)
    if method == "M1":
        n1, n0, rank = whole(test["n1"]), whole(test["n0"]), whole(test["rank"])
        if not (1 <= rank <= n0 and count <= n1):
            raise ValueError("a rank lies in 1..n0, and a count in 0..n1")
        turned = [slope.swapped() for slope in slopes] if test["reverse"] else slopes
        return _ranks(n1, n0, rank, count, lambda x: _power(turned, x), goal, until)
    if method == "M2":
        n1, n0, false = whole(test["n1"]), whole(test["n0"]), whole(test["rank"])
        if count > n1 or false > n0:
            raise ValueError("counts are at most so many as there are runs")
        return _counts(n1, n0, false, count, lambda x: _power(slopes, x), goal, until)
    guesses = [_guesses(test, slope) for slope in slopes] if method == "O2" else []  # bets are not checked
    return reduce(arb.min, guesses, arb(1))


def program_p(test: Mapping[str, Any], slopes: Slopes, said: Mapping[str, Any]) -> arb:
    """O4: max_w (1{w >= k} - G(w)) + sum_s (B_s max phi_s + B'_s max psi_s), whatever the multipliers are."""
    r, k = whole(test["trials"]), whole(test["count"])
    gains = [arb(0)] * (r + 1)
    known = [_odds(test, slope) for slope in slopes]
    highest = {"phi": [arb(0)] * len(slopes), "psi": [arb(0)] * len(slopes)}
    for name, tops in highest.items():
        for s, w, value in said[name]:
            place, price = whole(w), exact(number(value))
            if not (1 <= place <= r and price >= 0 and 0 <= whole(s) < len(slopes)):
                raise ValueError("multipliers are 0 or above, at w = 1..r")
            right, wrong = place * price, (r - place + 1) * price
            if name == "phi":
                gains[place] += right
                gains[place - 1] -= known[s][0] * wrong
            else:
                gains[place - 1] += wrong
                gains[place] -= known[s][2] * right
            tops[s] = tops[s].max(price)
    total, both = arb(0), test["sides"] == "both"
    for (_, phi, _, psi), top, other in zip(known, highest["phi"], highest["psi"], strict=True):
        total += phi * top.max(other) if both else phi * top + psi * other
    worst = (0 if k > 0 else 1) - gains[0]
    for w in range(1, r + 1):
        worst = worst.max((1 if w >= k else 0) - gains[w])
    return (worst + total).upper()


def fisher(values: Sequence[arb]) -> arb:
    """w sum (-log w)^j/j!, w the product."""
    if len(values) == 1:
        return values[0]
    logs, term, total = arb(0), arb(1), arb(0)
    for value in values:
        logs -= value.upper().log()
    for index in range(len(values)):
        total += term
        term = term * logs / (index + 1)
    return (-logs).exp() * total


def _guesses(test: Mapping[str, Any], slope: CheckedSlope) -> arb:
    """O2: beta + B beta (1 - beta)/(k b_k)."""
    r, k = whole(test["trials"]), whole(test["count"])
    odds, budget, _, _ = _odds(test, slope)
    rate = odds / (1 + odds)
    above = _over(r, rate, k)
    ways = arb(r + 1).lgamma() - arb(k + 1).lgamma() - arb(r - k + 1).lgamma()
    mass = (ways + k * rate.log() + (r - k) * (1 - rate).log()).exp()
    if not mass > 0:
        return arb(1)
    return above + budget * above * _under(r, rate, k - 1) / (k * mass)


def _odds(test: Mapping[str, Any], slope: CheckedSlope) -> tuple[arb, arb, arb, arb]:
    """Odds and budget of phi, and of psi: section 8."""
    m, r, coin, sides = whole(test["canaries"]), whole(test["trials"]), number(test["coin"]), test["sides"]
    if not (0 < coin < 1 and whole(test["count"]) <= r <= min(m, GUESSES_MAX)):
        raise ValueError("a coin lies in (0, 1), and v <= r <= m")
    if sides == "both":
        if coin != Fraction(1, 2):
            raise ValueError("guesses of both kinds need fair coins")
        both = m * (slope.remove + slope.add) / 2
        return slope.a, both, slope.a, both
    into = slope.a * exact(coin / (1 - coin)), m * exact(coin) * slope.remove
    out = slope.a * exact((1 - coin) / coin), m * exact(1 - coin) * slope.add
    if sides not in ("in", "out"):
        raise ValueError("guesses are in, out or both")
    return (*into, *out) if sides == "in" else (*out, *into)


def _ranks(n1: int, n0: int, rank: int, count: int, power: Callable[[arb], arb], goal: arb, until: float) -> arb:
    """sum over cells of (T(right) - T(left)) P(B > left), the worst cell halved again and again.

    T(x) = P(Bin(n1, g(x)) >= count) at right ends, 0 before the first; B ~ Beta(rank, n0 - rank + 1).
    """

    def at(x: arb) -> tuple[arb, arb]:
        return _over(n1, power(x), count).upper(), _under(n0, x, rank - 1).upper()

    (low, whole), (high, rest) = (arb(0), arb(1)), at(arb(1))
    # A cell [left, right]: T before it, T at its right end, P(B > left), P(B > right).
    cells: list[tuple[Any, int, tuple[arb, arb, arb, arb, arb, arb]]] = []
    total, steps = (high - low) * whole, 0
    heappush(cells, (_size((high - low) * (whole - rest)), 0, (arb(0), arb(1), low, high, whole, rest)))
    while not total <= goal:
        steps += 1
        if steps % CELLS_LOOKED == 0 and now() > until:
            break
        _, _, (left, right, before, after, more, less) = heappop(cells)
        middle = ((left + right) / 2).mid()
        height, tail = at(middle)
        height, tail = height.max(before).min(after), tail.min(more).max(less)
        total += (height - before) * more + (after - height) * tail - (after - before) * more
        heappush(
            cells, (_size((height - before) * (more - tail)), 2 * steps, (left, middle, before, height, more, tail))
        )
        heappush(
            cells, (_size((after - height) * (tail - less)), 2 * steps + 1, (middle, right, height, after, tail, less))
        )
    return total.upper()


def _counts(n1: int, n0: int, false: int, count: int, power: Callable[[arb], arb], goal: arb, until: float) -> arb:
    """sup F(U(x) V(g(x))), F(w) = w (1 - log w): on [left, right] at most at U(left) V(g(right))."""

    def product(left: arb, right: arb) -> arb:
        return (_under(n0, left, false) * _over(n1, power(right), count)).upper()

    def chance(w: arb) -> arb:
        return arb(0) if w <= 0 else arb(1) if w >= 1 else (w * (1 - w.log())).upper()

    cells: list[tuple[Any, int, tuple[arb, arb, arb]]] = [(0, 0, (arb(0), arb(1), product(arb(0), arb(1))))]
    steps = 0
    while True:
        _, _, (left, right, most) = cells[0]
        steps += 1
        if chance(most) <= goal or (steps % CELLS_LOOKED == 0 and now() > until):
            return chance(most)
        heappop(cells)
        middle = ((left + right) / 2).mid()
        for half, (start, stop) in enumerate(((left, middle), (middle, right))):
            value = product(start, stop)
            heappush(cells, (_size(value), 2 * steps + half, (start, stop, value)))


def _power(slopes: Slopes, x: arb) -> arb:
    """At or above the true positives at the rate x of false ones: an exact number."""
    value = arb(1)
    for slope in slopes:
        value = value.min(slope.remove + slope.a * x)
        value = value.min(1 - (1 - x - slope.add).max(arb(0)) / slope.a)
    return value.upper().min(arb(1))


def _over(trials: int, rate: arb, least: int) -> arb:
    """P[Bin >= least]: of it and its complement the one away from the mean is summed."""
    if least <= 0 or rate >= 1:
        return arb(1)
    if least > trials or rate <= 0:
        return arb(0)
    if rate * trials < least:
        return _far(trials, rate, least)
    return (1 - _far(trials, 1 - rate, trials - least + 1)).max(arb(0))


def _under(trials: int, rate: arb, most: int) -> arb:
    """P[Bin <= most], with its own digits."""
    return _over(trials, 1 - rate, trials - most)


def _far(trials: int, rate: arb, least: int) -> arb:
    """P[Bin >= least], least above the mean: terms whose ratios fall, and the rest as a geometric series."""
    odds = rate / (1 - rate)
    ways = arb(trials + 1).lgamma() - arb(least + 1).lgamma() - arb(trials - least + 1).lgamma()
    mass = (ways + least * rate.log() + (trials - least) * (1 - rate).log()).exp()
    term, total, place = arb(1), arb(1), least
    while place < trials:
        ratio = odds * (trials - place) / (place + 1)
        if ratio < 1 and term * 2**TERM_BITS < total:
            total += (term * ratio / (1 - ratio)) * arb(0).union(arb(1))
            break
        term *= ratio
        total += term
        place += 1
    return (mass * total).min(arb(1))


def _size(value: arb) -> Any:
    """What a heap sorts by: the largest first."""
    mantissa, exponent = value.mid().man_exp()
    return -Fraction(int(mantissa)) * Fraction(2) ** int(exponent) if mantissa else Fraction(0)


def number(value: object) -> Fraction:
    """A double of a document, exactly."""
    if type(value) not in (int, float):
        raise ValueError(f"{value!r:.40} is no number")
    return Fraction(value)  # type: ignore[call-overload, no-any-return]


def whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r:.40} is no count")
    return value
