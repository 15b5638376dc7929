"""Batches: fixed sizes, draws with replacement, samples with a cap, Poisson samples of replaced records.

A union shows which of its laws it is; a glued pair is a Poisson sample ((1 - r) Q + r P, Q) for losses above 0, and the
reverse of it below. Real neighbours show less than these: witnesses are what a mechanism shows that tells whether the
record is in the batch. Proof: docs/proofs/sampling.md; docs/proofs/checker_laws.md, "Batches".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb, ctx

from ..law import CheckedLaw, exact
from .gaussian import GaussianLaw, SampledGaussianLaw, above
from .mixture import GaussianMixtureLaw
from .sampled import sampled

Part = tuple[Fraction, CheckedLaw]  # weights sum to 1 or less; what is left is an infinite loss


@dataclass(frozen=True)
class UnionLaw(CheckedLaw):
    """One of several laws, which one being told; below: laws that real neighbours show."""

    parts: tuple[Part, ...]
    below: tuple[CheckedLaw, ...] = ()

    def infinite(self) -> arb:
        rest = exact(1 - sum((weight for weight, _ in self.parts), Fraction(0)))
        return rest + sum((exact(weight) * law.infinite() for weight, law in self.parts), arb(0))

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        p, q = arb(0), arb(0)
        for weight, law in self.parts:
            tails = law.tails(x)
            if tails is None:
                return None
            p, q = p + exact(weight) * tails[0], q + exact(weight) * tails[1]
        return p, q

    def reversed(self) -> CheckedLaw | None:
        if sum((weight for weight, _ in self.parts), Fraction(0)) != 1:
            return None  # of what is left nobody says what it has in the other order
        parts = [(weight, law.reversed()) for weight, law in self.parts]
        back = [law.reversed() for law in self.below]
        if any(law is None for _, law in parts) or any(law is None for law in back):
            return None
        return UnionLaw(
            tuple((weight, law) for weight, law in parts if law is not None), tuple(law for law in back if law)
        )

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb] | None:
        found = [acb(0)] * count
        for weight, law in self.parts:
            moments = law.moments(tilt, step, count)
            if moments is None:
                return None
            found = [total + exact(weight) * value for total, value in zip(found, moments, strict=True)]
        return found

    def decay(self, tilt: arb, reach: arb) -> arb:
        """The mean of the bounds, each by its share of the moment."""
        shares = []
        for weight, law in self.parts:
            moments = law.moments(tilt, arb(0), 1)
            if moments is None:
                return arb(1)
            shares.append(exact(weight) * moments[0].real)
        falls = [law.decay(tilt, reach) for _, law in self.parts]
        total = sum(shares, arb(0))
        return (sum((s * f for s, f in zip(shares, falls, strict=True)), arb(0)) / total).upper().min(arb(1))

    def witnesses(self) -> tuple[CheckedLaw, ...]:
        return self.below


@dataclass(frozen=True)
class GluedLaw(CheckedLaw):
    """H(a) = r Hb(1 + (a - 1)/r) for a >= 1 and 1 - a + a H(1/a) below; the base is its own reverse."""

    sample: CheckedLaw  # ((1 - r) Q + r P, Q)
    below: tuple[CheckedLaw, ...] = ()
    batch: tuple[CheckedLaw, int, int] | None = None  # the base, the size of a batch, and of the data

    def infinite(self) -> arb:
        return self.sample.infinite()

    def reversed(self) -> GluedLaw:
        return self

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        """Those of the sample from 0 on; {l > x} is all but {-l >= -x}, and -l has the laws exchanged, below 0."""
        if x >= 0:
            return self.sample.tails(x)
        wide = -x + arb(0, arb(2) ** -ctx.prec)  # with what lies at -x itself
        found = self.sample.tails(wide)
        if found is None:
            return None
        infinite = self.infinite()
        p, q = 1 - infinite - found[1], 1 - found[0] - infinite
        if x < 0:
            return p, q
        more = self.sample.tails(x.max(arb(0)))
        return None if more is None else (p.union(more[0]), q.union(more[1]))

    def witnesses(self) -> tuple[CheckedLaw, ...]:
        return self.below


@dataclass(frozen=True)
class ReplacedSampleLaw(CheckedLaw):
    """((1 - r) N(0, 1) + r N(mu, 1), (1 - r) N(0, 1) + r N(-mu, 1)), or by how many of a group are sampled.

    The ratio rises with the output; x -> -x exchanges the laws.
    """

    up: GaussianMixtureLaw | SampledGaussianLaw

    def reversed(self) -> ReplacedSampleLaw:
        return self

    def tails(self, x: arb) -> tuple[arb, arb]:
        """Between two places where log g(x) - log g(-x) is on either side of the level, found by halving."""
        ratio = self.up.tilted(arb(0))

        def loss(place: arb) -> arb:
            return ratio.log(place) - ratio.log(-place)

        ends = [_between(loss, x.lower())[0], _between(loss, x.upper())[1]]
        found = [(self._above(place, 1), self._above(place, -1)) for place in ends]
        return found[0][0].union(found[1][0]), found[0][1].union(found[1][1])

    def _above(self, place: arb, side: int) -> arb:
        root = exact(self.up.square).sqrt()
        if isinstance(self.up, SampledGaussianLaw):
            parts = [(1 - self.up.rate, Fraction(0)), (self.up.rate, Fraction(1))]
        else:
            parts = list(zip(self.up.weights, self.up.multiples, strict=True))
        return sum((exact(w) * above(place - side * exact(m) * root) for w, m in parts), arb(0))


def _between(loss: Callable[[arb], arb], level: arb) -> tuple[arb, arb]:
    """Two numbers around the place where a rising odd function passes the level; nan where none is found."""
    end = arb(1)
    for _ in range(40):
        if loss(end) > abs(level):
            break
        end *= 2
    else:
        return arb("nan"), arb("nan")
    low, high = -end, end
    for _ in range(ctx.prec):
        middle = ((low + high) / 2).mid()
        value = loss(middle)
        if value <= level:
            low = middle
        elif value >= level:
            high = middle
        else:
            break
    return low, high


def sample_of(base: CheckedLaw, rate: Fraction, added: bool) -> CheckedLaw | None:
    """A Poisson sample of a removed record, or of an added one."""
    if isinstance(base, GaussianLaw) and rate < 1:
        return SampledGaussianLaw(base.square, rate, added)
    return sampled(base, rate, added)
