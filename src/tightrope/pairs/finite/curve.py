"""The finite law whose profile is the lower convex hull of (0, 1) and some points, flat after the last.

A corner is a loss l, a rational number, and H(e^l), a sum of exponentials of such. With x_j = e^(l_j), x_0 = 0, H(x_0)
= 1 and the slopes s_j = (H(x_(j-1)) - H(x_j)) / (x_j - x_(j-1)), which fall, the atom at l_j has the masses
    Q = s_j - s_(j+1),    P = x_j Q,
infinite loss has H(x_n), and Q alone has 1 - s_1. Which points are corners is decided exactly.
Guarantee: exact. Proof: docs/proofs/points.md, sections 1 and 4.
Reference: Zhu, Dong, Wang 2021, Lemma 9 (profiles).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from flint import arb, ctx

from ...facets.finite import Atom, FiniteLaw
from ...facets.lattice import Lattice, LatticeStep, common_step, ratio_ball
from ...kernels.ball import BITS_MAX, BITS_START, working_precision
from ...pair import LossRange
from .exponentials import Exponentials, exponential
from .laws import ListedLaw

ONE, NONE = exponential(Fraction(0)), exponential(Fraction(0), Fraction(0))
LOST_BITS_SPARE = 16


class Corner(NamedTuple):
    """A point (e^loss, delta) of a profile."""

    loss: Fraction
    delta: Exponentials

    def mirrored(self) -> Corner:
        """The same of the mirror, 1 - a + a H(1/a)."""
        return Corner(-self.loss, ONE - exponential(-self.loss) * (ONE - self.delta))

    @property
    def alpha(self) -> Exponentials:
        return exponential(self.loss)


def number(value: Fraction) -> Exponentials:
    """A rational number."""
    return exponential(Fraction(0), value)


@dataclass(frozen=True)
class CurveLaw(ListedLaw):
    """Corners by rising loss, their slopes falling; symmetric where the mirror has the same corners."""

    corners: tuple[Corner, ...]
    symmetric: bool
    flipped: bool = False  # P and Q exchanged

    def atoms(self) -> list[Atom]:
        with working_precision(ctx.prec + self._lost_bits):
            found = self._masses()
        if not self.flipped:
            return [Atom(alpha * q, q, loss) for alpha, q, loss in found]
        return [Atom(q, alpha * q, -loss) for alpha, q, loss in reversed(found)]

    def _masses(self) -> list[tuple[arb, arb, arb]]:
        """(e^l, Q, l) of every atom."""
        alphas = [corner.alpha.ball() for corner in self.corners]
        deltas = [corner.delta.ball() for corner in self.corners]
        falls = (
            (d - e) / (y - x)
            for (x, y), (d, e) in zip(pairwise([arb(0), *alphas]), pairwise([arb(1), *deltas]), strict=True)
        )
        masses = [one - two for one, two in pairwise([*falls, arb(0)])]
        return [(x, q, ratio_ball(c.loss)) for x, q, c in zip(alphas, masses, self.corners, strict=True)]

    @cached_property
    def _lost_bits(self) -> int:
        """How many digits the differences of slopes lose, of whatever precision."""
        bits = 2 * BITS_START
        while True:
            with working_precision(bits):
                kept = min((q.rel_accuracy_bits() for _, q, _ in self._masses()), default=bits)
            if kept > BITS_START or bits >= BITS_MAX:
                return max(bits - kept, 0) + LOST_BITS_SPARE
            bits *= 2

    def size(self) -> int:
        return len(self.corners)

    def loss_range(self) -> LossRange:
        losses = [ratio_ball(corner.loss) for corner in self.corners] or [arb(0)]
        return LossRange(-losses[-1], -losses[0]) if self.flipped else LossRange(losses[0], losses[-1])

    def infinite_mass(self) -> arb:
        return (self._lost if self.flipped else self._infinite).ball()

    def lost_mass(self) -> arb:
        return (self._infinite if self.flipped else self._lost).ball()

    @property
    def _infinite(self) -> Exponentials:
        return self.corners[-1].delta if self.corners else ONE

    @property
    def _lost(self) -> Exponentials:
        """1 - s_1."""
        return ONE - (ONE - self.corners[0].delta) * exponential(-self.corners[0].loss) if self.corners else ONE

    def reversed(self) -> FiniteLaw:
        return self if self.symmetric else CurveLaw(self.corners, False, not self.flipped)

    def lattice(self) -> Lattice | None:
        losses = [-corner.loss if self.flipped else corner.loss for corner in self.corners]
        step = common_step(LatticeStep(abs(loss - losses[0]), False) for loss in losses)
        return None if step is None else Lattice(step, losses[0])

    def conditioned_on_finite_loss(self) -> FiniteLaw | None:
        """(H - w)/(1 - w) at the same corners, w the infinite mass, where that is rational and Q has it as well."""
        if self._infinite != self._lost or any(r for r, _ in self._infinite.terms):
            return None
        mass = sum((c for _, c in self._infinite.terms), Fraction(0))
        if mass == 1:
            return None
        left = number(1 / (1 - mass))
        return CurveLaw(
            tuple(Corner(c.loss, (c.delta - self._infinite) * left) for c in self.corners), self.symmetric, self.flipped
        )


class _Placed(NamedTuple):
    """A corner, and its place in balls."""

    corner: Corner
    alpha: arb
    delta: arb


def lower_hull(points: Iterable[Corner]) -> tuple[tuple[Corner, ...], bool]:
    """The corners of the hull of (0, 1) and the points as far as it falls, and whether no point was left out unsure."""
    sure = True
    hull: list[_Placed] = []
    with working_precision(BITS_START):
        placed = [_Placed(corner, corner.alpha.ball(), corner.delta.ball()) for corner in points]
        for point in sorted(placed, key=lambda corner: corner.corner.loss):
            while hull and hull[-1].corner.loss == point.corner.loss and _falls(hull, point) == 1:
                hull.pop()
            falls = _falls(hull, point)
            sure &= falls is not None
            if falls != 1:
                continue
            while hull:
                bend = _bend(hull, point)
                sure &= bend is not None
                if bend == 1:
                    break
                hull.pop()
            hull.append(point)
    return tuple(corner.corner for corner in hull), sure


def _falls(hull: Sequence[_Placed], point: _Placed) -> int | None:
    """1 where the point lies below the last corner."""
    if not hull:
        return _sign(1 - point.delta, lambda: ONE - point.corner.delta)
    return _sign(hull[-1].delta - point.delta, lambda: hull[-1].corner.delta - point.corner.delta)


def _bend(hull: Sequence[_Placed], after: _Placed) -> int | None:
    """1 where the last corner lies below the line from the one before it to the next."""
    last = hull[-1]
    x0, d0 = (hull[-2].alpha, hull[-2].delta) if len(hull) > 1 else (arb(0), arb(1))
    roughly = (d0 - last.delta) * (after.alpha - x0) - (d0 - after.delta) * (last.alpha - x0)

    def exactly() -> Exponentials:
        x0, d0 = (hull[-2].corner.alpha, hull[-2].corner.delta) if len(hull) > 1 else (NONE, ONE)
        (_, d1), (_, d2) = last.corner, after.corner
        return (d0 - d1) * (after.corner.alpha - x0) - (d0 - d2) * (last.corner.alpha - x0)

    return _sign(roughly, exactly)


def _sign(roughly: arb, exactly: Callable[[], Exponentials]) -> int | None:
    if roughly > 0 or roughly < 0:
        return 1 if roughly > 0 else -1
    return exactly().sign()
