"""Composition trees event by event: what every bucket, error term and bound must be.

Every atomic event of the product space is listed with its exact probabilities (fractions), its index (definition 6) and
its error terms (definition 8); powers of the factor are computed with 60 digits. Exponential in the number of leaves.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

import mpmath

DIGITS = 60
INFINITY = None


@dataclass(frozen=True)
class Event:
    """P_A, P_B, index (None for infinity), real share P_A/f^i + l, and l~ by the formula as printed."""

    p: Fraction
    q: Fraction
    index: int | None
    real: mpmath.mpf
    printed: mpmath.mpf


@dataclass(frozen=True)
class Tree:
    """step is the log of the factor, a double taken exactly."""

    step: mpmath.mpf
    n: int
    u: int
    events: tuple[Event, ...]


def _number(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def leaf(p: list[Fraction], q: list[Fraction], step: float, n: int) -> Tree:
    """Definition 6 by comparison with powers of the factor."""
    with mpmath.workdps(DIGITS):
        size, events = mpmath.mpf(step), []
        for a, b in zip(p, q, strict=True):
            index: int | None = -n
            if b == 0 and a > 0:
                index = INFINITY
            elif a > 0:
                index = max(int(mpmath.ceil(mpmath.log(_number(a / b)) / size)), -n)
                index = INFINITY if index > n else index
            share = mpmath.mpf(0) if index is INFINITY else _number(a) * mpmath.exp(-index * size)
            real = share if index == -n else _number(b)
            events.append(Event(a, b, index, real, _number(b) - share if index is not INFINITY else mpmath.mpf(0)))
        return Tree(size, n, 1, tuple(events))


def compose(one: Tree, other: Tree) -> Tree:
    """Definitions 6 to 8."""
    assert one.step == other.step
    assert one.n == other.n
    with mpmath.workdps(DIGITS):
        events = []
        for x, y in itertools.product(one.events, other.events):
            p, q = x.p * y.p, x.q * y.q
            if x.index is INFINITY or y.index is INFINITY or x.index + y.index > one.n:
                events.append(Event(p, q, INFINITY, x.real * y.real, mpmath.mpf(0)))
                continue
            index = max(x.index + y.index, -one.n)
            share_x, share_y = (_number(e.p) * mpmath.exp(-e.index * one.step) for e in (x, y))
            real = _number(p) * mpmath.exp(one.n * one.step) if index == -one.n else x.real * y.real
            printed = share_x * y.printed + share_y * x.printed + x.printed * y.printed
            events.append(Event(p, q, index, real, printed))
        return Tree(one.step, one.n, one.u + other.u, tuple(events))


def square(child: Tree) -> Tree:
    """The squaring node; ceil(index / 2)."""
    with mpmath.workdps(DIGITS):
        events = []
        for x in child.events:
            if x.index is INFINITY:
                events.append(x)
                continue
            index = -((-x.index) // 2)
            moved = _number(x.p) * (mpmath.exp(-x.index * child.step) - mpmath.exp(-2 * index * child.step))
            events.append(Event(x.p, x.q, index, x.real, x.printed + moved))
        return Tree(2 * child.step, child.n, -(-child.u // 2) + 1, tuple(events))


@dataclass(frozen=True)
class Lists:
    """B, l and l~ by index from -n to n, and B(infinity)."""

    masses: list[Fraction]
    real: list[mpmath.mpf]
    virtual: list[mpmath.mpf]
    infinity: Fraction


def lists(tree: Tree) -> Lists:
    """Lemma 8 read as a definition: sums over the events of each index, l~ by lemma 11."""
    size = 2 * tree.n + 1
    masses, alternative = [Fraction(0)] * size, [Fraction(0)] * size
    real = [mpmath.mpf(0)] * size
    infinity = Fraction(0)
    with mpmath.workdps(DIGITS):
        for event in tree.events:
            if event.index is INFINITY:
                infinity += event.p
                continue
            place = event.index + tree.n
            masses[place] += event.p
            alternative[place] += event.q
            real[place] += event.real
        fall = [mpmath.exp(-(place - tree.n) * tree.step) for place in range(size)]
        shares = [_number(mass) * factor for mass, factor in zip(masses, fall, strict=True)]
        return Lists(
            masses,
            [c - share for c, share in zip(real, shares, strict=True)],
            [_number(q) - share for q, share in zip(alternative, shares, strict=True)],
            infinity,
        )


def delta(tree: Tree, epsilon: float) -> mpmath.mpf:
    """Lemma 1, one direction: sum of (P_A - e^eps P_B)_+."""
    with mpmath.workdps(DIGITS):
        alpha = mpmath.exp(epsilon)
        return mpmath.fsum(max(_number(e.p) - alpha * _number(e.q), mpmath.mpf(0)) for e in tree.events)


def loss_above(tree: Tree, epsilon: float) -> mpmath.mpf:
    """P_A[loss > epsilon]."""
    with mpmath.workdps(DIGITS):
        alpha = mpmath.exp(epsilon)
        return mpmath.fsum(_number(e.p) for e in tree.events if _number(e.p) > alpha * _number(e.q))


def renyi(tree: Tree, order: float) -> mpmath.mpf:
    """D_order(A || B)."""
    with mpmath.workdps(DIGITS):
        total = mpmath.mpf(0)
        for e in tree.events:
            if e.p and not e.q:
                return mpmath.inf
            if e.p:
                total += _number(e.p) * mpmath.power(_number(e.p / e.q), order - 1)
        return mpmath.log(total) / (mpmath.mpf(order) - 1)


def published(tree: Tree, epsilon: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """delta_up and delta_low of definition 9, with l~ by lemma 11."""
    with mpmath.workdps(DIGITS):
        alpha, n = mpmath.exp(epsilon), tree.n
        j = int(mpmath.ceil(mpmath.mpf(epsilon) / tree.step))
        made = lists(tree)
        up, low = _number(made.infinity), mpmath.mpf(0)
        for i in range(max(j, -n), n + 1):
            mass, fall = _number(made.masses[i + n]), mpmath.exp(-i * tree.step)
            corrected = made.real[i + n] if i >= j + tree.u else 0
            up += mass - alpha * (mass * fall + corrected)
            low += max(mpmath.mpf(0), mass - alpha * (mass * fall + made.virtual[i + n]))
        return up, low
