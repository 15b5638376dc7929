"""Gaussian noise around a shift that is drawn: groups of records in samples, and mixtures that are given.

P = sum w_j N(m_j, 1) against Q = N(0, 1), 0 <= m_1 < ... < m_k; g(x) = sum w_j e^{m_j x - m_j^2/2} rises, and so does
the mean of the shift given x, which is the slope of log g. Everything is as for a sample, which has the shifts 0 and
mu, but for two sums. Proof: docs/proofs/checker.md, sections 4 to 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from ..law import exact
from .gaussian import HiddenShiftLaw, TiltedShift, above

PLACE_STEPS = 60


@dataclass(frozen=True)
class GaussianMixtureLaw(HiddenShiftLaw):
    """m_j = multiples[j] sqrt(square), which rise, with positive weights of sum 1; added: (Q, P)."""

    square: Fraction
    multiples: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    added: bool = False

    def reversed(self) -> GaussianMixtureLaw:
        return GaussianMixtureLaw(self.square, self.multiples, self.weights, not self.added)

    def tilted(self, tilt: arb) -> MixtureTilted:
        shifts = [exact(self.square).sqrt() * exact(multiple) for multiple in self.multiples]
        power = -tilt if self.added else 1 + tilt
        return MixtureTilted(shifts[-1], power, tuple(shifts), tuple(map(exact, self.weights)))

    def tails(self, x: arb) -> tuple[arb, arb]:
        """{g > e^x} is a half-line; added: {g < e^-x}. Places are between two numbers where g is on either side."""
        ratio = self.tilted(arb(0))
        target = -x if self.added else x
        low, high = ratio.place(target.lower())[0], ratio.place(target.upper())[1]
        with_it, without = arb(0), arb(0)
        for shift, weight in zip(ratio.shifts, ratio.weights, strict=True):
            with_it += weight * _beyond(low, shift, self.added).union(_beyond(high, shift, self.added))
        without = _beyond(low, arb(0), self.added).union(_beyond(high, arb(0), self.added))
        return (without, with_it) if self.added else (with_it, without)


def _beyond(place: arb | None, shift: arb, below: bool) -> arb:
    """The mass around a shift above a place, or below it; None is minus infinity."""
    if place is None:
        return arb(0 if below else 1)
    return above(shift - place) if below else above(place - shift)


@dataclass(frozen=True)
class MixtureTilted(TiltedShift):
    """Its parts are e^{c_j + m_j x}; the shares of the parts sum to 1."""

    shifts: tuple[arb, ...]
    weights: tuple[arb, ...]

    def parts(self, x: arb) -> list[arb]:
        """The summands of g."""
        return [w * (m * (x - m / 2)).exp() for m, w in zip(self.shifts, self.weights, strict=True)]

    def log(self, x: arb) -> arb:
        terms = [w * (m * (x - m / 2)).expm1() for m, w in zip(self.shifts, self.weights, strict=True)]
        total = sum(terms, arb(0))  # g - 1, which is next to -1 far to the left
        return total.log1p() if 2 * total > -1 else sum(self.parts(x), arb(0)).log()

    def share(self, x: arb) -> arb:
        parts = self.parts(x)
        mean = sum((m * part for m, part in zip(self.shifts, parts, strict=True)), arb(0))
        return mean / (sum(parts, arb(0)) * self.mu)

    def rotated(self, cell: arb, log: arb, share: arb, y: arb) -> tuple[arb, arb]:
        """g(x + iy)/g(x) = 1 - R + iS with R = sum p_j (1 - cos m_j y), S = sum p_j sin m_j y, p_j the shares."""
        lost, gained = arb(0), arb(0)
        for m, w in zip(self.shifts, self.weights, strict=True):
            part = (w.log() + m * (cell - m / 2) - log).exp().min(arb(1))
            half = (m * y / 2).sin()
            lost, gained = lost + 2 * part * half * half, gained + part * (m * y).sin()
        return (lost * lost + gained * gained - 2 * lost).log1p() / 2, arb.atan2(gained, 1 - lost)

    def ends(self, wanted: arb) -> tuple[arb, arb]:
        """By the part that counts for most far out on either side."""
        if self.power < 0:
            far = (2 * (wanted + self.power * self.weights[0].log())).sqrt().mid()
            return (self.power * self.shifts[0] - far).mid(), far
        right = self.power * self.mu + (2 * (wanted - self.power * self.weights[-1].log())).sqrt()
        return -(2 * wanted).sqrt().mid(), right.mid()

    def place(self, level: arb) -> tuple[arb | None, arb | None]:
        """Two numbers with log g <= level at the first and >= level at the second; None for minus infinity."""
        if self.shifts[0].is_zero() and not level > self.weights[0].log():
            return None, (None if level <= self.weights[0].log() else self._narrowed(level)[1])
        return self._narrowed(level)

    def _narrowed(self, level: arb) -> tuple[arb, arb]:
        """Newton on log g, which rises and is convex; what it comes to is looked at on both sides."""
        x = (level / self.mu + self.mu / 2).max(arb(0)).mid()
        for _ in range(PLACE_STEPS):
            slope = self.share(x) * self.mu
            move = ((self.log(x) - level) / slope).mid()
            if not move.is_finite():
                break
            x = (x - move).mid()
            if abs(move) < arb(2) ** -(ctx.prec - 8):
                break
        gap = arb(2) ** (8 - ctx.prec) * (1 + abs(x))
        for _ in range(ctx.prec):
            if self.log(x - gap) <= level <= self.log(x + gap):
                return (x - gap).lower(), (x + gap).upper()
            gap *= 4
        return arb("nan"), arb("nan")  # nothing is known, nor of what is made of it
