"""Gaussian and Laplace noise that is cut or clamped, and rounded up to whole numbers if asked.

Q is the noise X, P is X + D; the loss never falls with the output, so {l > t} is a half-line. Cut: X is conditioned to
(left, right]; outputs beyond `right` have an infinite loss. Clamped: outputs at or below left are one, and so are those
above right; either end is an atom. Proof: docs/proofs/checker_laws.md, "Truncated noise".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from flint import acb, arb

from ..law import CheckedLaw, exact

DECAY_DOUBLINGS = 12
OUTPUTS_NEAR = 4  # outputs that are tried around a place


@dataclass(frozen=True)
class TruncatedLaw(CheckedLaw):
    """Noise of a width (the deviation, or the scale of Laplace noise), bounds as distances from the centre of Q.

    Rounded up: an output k stands for (k - 1, k], and bounds and the shift are whole.
    """

    laplace: bool
    width: Fraction
    shift: Fraction
    left: Fraction
    right: Fraction
    clamped: bool
    whole: bool = False

    def reversed(self) -> TruncatedLaw:
        """x -> D - x."""
        low, high = (self.shift - self.right, self.shift - self.left) if self.clamped else (-self.right, -self.left)
        return TruncatedLaw(self.laplace, self.width, self.shift, low, high, self.clamped, self.whole)

    def shifted(self, size: int) -> TruncatedLaw:
        return replace(self, shift=self.shift * size)

    def mass(self, low: arb | None, high: arb | None) -> arb:
        """P[low < X <= high]; None is infinite."""
        if low is not None and (high is None or low >= 0):
            return self.above(low) - (arb(0) if high is None else self.above(high))
        if high is not None and (low is None or high <= 0):
            return self.above(-high) - (arb(0) if low is None else self.above(-low))
        return 1 - (arb(0) if low is None else self.above(-low)) - (arb(0) if high is None else self.above(high))

    def above(self, x: arb) -> arb:
        """P[X > x]."""
        scaled = x / exact(self.width)
        if not self.laplace:
            return (scaled / arb(2).sqrt()).erfc() / 2
        side = (-abs(scaled)).exp() / 2
        return side if x >= 0 else 1 - side if x <= 0 else side.union(1 - side)

    def kept(self) -> arb:
        """What the noise is divided by."""
        return arb(1) if self.clamped else self.mass(exact(self.left), exact(self.right))

    def start(self) -> Fraction:
        """The first output that both laws have, of cut noise."""
        return self.left + self.shift

    def infinite(self) -> arb:
        if self.clamped:
            return arb(0)
        if self.start() >= self.right:
            return arb(1)
        return self.mass(exact(self.right - self.shift), exact(self.right)) / self.kept()

    def loss(self, x: arb) -> arb:
        """log of the ratio of the densities of X + D and X, or of their masses in (x - 1, x]; it rises."""
        shift, width = exact(self.shift), exact(self.width)
        if self.whole:
            return (self.mass(x - 1 - shift, x - shift) / self.mass(x - 1, x)).log()
        if self.laplace:
            return (2 * x.max(arb(0)).min(shift) - shift) / width
        return shift * (2 * x - shift) / (2 * width**2)

    def ends(self) -> tuple[arb, arb, arb, arb]:
        """Clamped: P and Q of the lower end, and of the upper one."""
        shift, left, right = exact(self.shift), exact(self.left), exact(self.right)
        return (
            self.mass(None, left - shift), self.mass(None, left), self.mass(right - shift, None), self.mass(right, None)
        )  # fmt: skip

    def tails(self, x: arb) -> tuple[arb, arb]:
        if self.clamped:
            low_p, low_q, high_p, high_q = self.ends()
            least, most = (low_p / low_q).log(), (high_p / high_q).log()
            if x < least:
                return arb(1), arb(1)
            if x >= most:
                return arb(0), arb(0)
            p, q = self._beyond(x)
            if not x >= least:
                p, q = p.union(arb(1)), q.union(arb(1))
            if not x < most:
                p, q = p.union(arb(0)), q.union(arb(0))
            return p, q
        if self.start() >= self.right:
            return arb(0), arb(0)
        return self._beyond(x)

    def _beyond(self, x: arb) -> tuple[arb, arb]:
        """P and Q of the outputs beyond the first place where the loss passes x, between the bounds."""
        (p, q), (other_p, other_q) = (self._after(place) for place in self._places(x))
        return p.union(other_p), q.union(other_q)

    def _after(self, place: arb) -> tuple[arb, arb]:
        shift, right = exact(self.shift), exact(self.right)
        first = exact(self.left if self.clamped else self.start())
        here = place.max(first).min(right)
        if self.clamped:
            return self.mass(here - shift, None), self.mass(here, None)
        kept = self.kept()
        return self.mass(here - shift, right - shift) / kept, self.mass(here, right) / kept

    def _places(self, x: arb) -> list[arb]:
        """{l > x} is {X > c}, c between the first and the last of these, which may be beyond all bounds."""
        shift, width = exact(self.shift), exact(self.width)
        low, high = exact(min(self.left, self.start()) - 1), exact(self.right + 1)
        if self.laplace:
            place = (x * width + shift) / 2
            if not self.whole:
                first = low if not place >= 0 else high if place >= shift else place
                return [first, high if not place < shift else low if place < 0 else place]
        else:
            place = x * width**2 / shift + shift / 2
        if not self.whole:
            return [place, place]
        return self._whole_places(x, place, low, high)

    def _whole_places(self, x: arb, place: arb, low: arb, high: arb) -> list[arb]:
        """The last output whose loss is at most x, and the last that is not certainly above; from next to the place."""
        guess = place.max(low).min(high).mid().floor()
        last = next((guess + n for n in range(-OUTPUTS_NEAR, OUTPUTS_NEAR) if self.loss(guess + n + 1) > x), high)
        first = next((last - n for n in range(OUTPUTS_NEAR) if self.loss(last - n) <= x), low)
        return [first, last]

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb] | None:
        """The atoms, and the stretch of densities between the bounds."""
        if self.whole or (not self.clamped and self.start() >= self.right):
            return None
        kept, found = self.kept(), []
        atoms = self._atoms()
        for j in range(count):
            z = acb(tilt, step * j)
            total = sum((acb(p) * (z * loss).exp() for p, loss in atoms), acb(0))
            found.append((total + self._stretch(z)) / kept)
        return found

    def _atoms(self) -> list[tuple[arb, arb]]:
        """P-mass, not divided by what is kept, and loss of each."""
        found = []
        if self.clamped:
            low_p, low_q, high_p, high_q = self.ends()
            found += [(low_p, (low_p / low_q).log()), (high_p, (high_p / high_q).log())]
        if self.laplace:
            first, shift, edge = self.left if self.clamped else self.start(), self.shift, exact(self.shift / self.width)
            if first < 0:
                found.append((self.mass(exact(first - shift), exact(min(self.right, Fraction(0)) - shift)), -edge))
            if self.right > shift:
                found.append((self.mass(exact(max(first - shift, Fraction(0))), exact(self.right - shift)), edge))
        return found

    def _bounds(self) -> tuple[arb, arb] | None:
        """The losses where the stretch begins and ends; None where there is none."""
        first, last = self.left if self.clamped else self.start(), self.right
        if self.laplace:
            first, last = max(first, Fraction(0)), min(last, self.shift)
        return (self.loss(exact(first)), self.loss(exact(last))) if first < last else None

    def _stretch(self, z: acb) -> acb:
        """The integral of e^{zl} over the losses of the stretch."""
        bounds = self._bounds()
        if bounds is None:
            return acb(0)
        low, high = bounds
        edge = exact(self.shift / self.width)
        if self.laplace:  # the density is e^{(l - e)/2}/4
            s = z + acb(1) / 2
            return ((s * high).exp() - (s * low).exp()) / s * (-edge / 2).exp() / 4
        a, b = ((acb(end) - edge * edge * (z + acb(1) / 2)) / (edge * arb(2).sqrt()) for end in (low, high))
        return (z * (z + 1) * edge * edge / 2).exp() * _between(a, b)

    def decay(self, tilt: arb, reach: arb) -> arb:
        """|phi| <= the share of the atoms + that of the stretch times the bound of its own transform."""
        whole = self.moments(tilt, arb(0), 1)
        bounds = self._bounds()
        if whole is None or bounds is None:
            return arb(1)
        share = (self._stretch(acb(tilt)) / self.kept() / whole[0]).real.max(arb(0)).min(arb(1))
        best = arb(1)
        for k in range(DECAY_DOUBLINGS):  # |f(t)|^2 <= 1 - (1 - |f(2^k t)|^2)/4^k
            far = self._fallen(tilt, reach * 2**k, bounds)
            best = best.min((1 - (1 - far * far) / 4**k).max(arb(0)).sqrt())
        bound = (1 - share + share * best).upper()
        return bound if bound < 1 else arb(1)

    def _fallen(self, tilt: arb, time: arb, bounds: tuple[arb, arb]) -> arb:
        """At least the modulus of the transform of the tilted stretch at every later time; 1 at most."""
        low, high = bounds
        edge = exact(self.shift / self.width)
        if self.laplace:  # |sinh((s + it) h)/(s + it)| / (sinh(s h)/s), h half of the width
            s, half = tilt + arb(1) / 2, (high - low) / 2
            return ((s * half).cosh() / (s * half).sinh() * s / (s * s + time * time).sqrt()).min(arb(1)).max(arb(0))
        a, b = ((end - edge * edge * (tilt + arb(1) / 2)) / edge for end in (low, high))
        part, u = _between(acb(a) / arb(2).sqrt(), acb(b) / arb(2).sqrt()).real, time * edge
        if not part > 0:
            return arb(1)
        top = _density(a.max(arb(0)).min(b))
        bell = (-u * u / 2).exp() if a < 0 < b else arb(0)
        for end, away in ((a, -a), (b, b)):
            bell += (2 * _density(end) / u).min((away / arb(2).sqrt()).erfc() / 2)
        found = (2 * top / u).min(bell) if a < 0 < b else 2 * top / u
        return (found / part).min(arb(1)).max(arb(0))


def _density(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _between(a: acb, b: acb) -> acb:
    """Phi at b less Phi at a, the arguments over the root of 2: from the tails that are small."""
    if a.real > 0:
        return (a.erfc() - b.erfc()) / 2
    if b.real < 0:
        return ((-b).erfc() - (-a).erfc()) / 2
    return (b.erf() - a.erf()) / 2
