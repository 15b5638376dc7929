"""A use that takes part with probability r (Poisson sampling), for any base (P, Q) with and without the record.

Removing the record: ((1 - r) Q + r P, Q); adding it: (Q, (1 - r) Q + r P). A loss l of the base becomes
l' = log(1 - r + r e^l) where it is removed, and -l' where it is added; so {l' > t} is {l > u(t)},
u(t) = log(1 + (e^t - 1)/r), for t >= log(1 - r), and everything before. Proof: docs/proofs/poisson.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from ..law import CheckedLaw, exact
from .bounded import BoundedLaw
from .finite import Outcome, OutcomesLaw
from .renyi import DivergencesLaw


def sampled(base: CheckedLaw, rate: Fraction, added: bool) -> CheckedLaw | None:
    """The law of the sample; None where the base has no reverse. The base is that of a removed record."""
    back = base.reversed()
    if isinstance(base, DivergencesLaw):  # which is known as a whole run alone
        return None
    if isinstance(base, BoundedLaw):
        law, others = sampled(base.law, rate, added), [sampled(each, rate, added) for each in base.below]
        known = tuple(each for each in others if each is not None)
        return None if law is None or len(known) < len(others) else BoundedLaw(law, known, base.once)
    if rate == 1:
        return back if added else base
    if isinstance(base, OutcomesLaw):
        return SampledOutcomesLaw(base, rate, added)
    return None if back is None else SampledTailsLaw(base, back, rate, added)


@dataclass(frozen=True)
class SampledOutcomesLaw(OutcomesLaw):
    """Outcome by outcome; what only Q has becomes one of the loss log(1 - r)."""

    base: OutcomesLaw
    rate: Fraction
    added: bool

    def outcomes(self) -> list[Outcome]:
        rate, kept = exact(self.rate), exact(1 - self.rate)
        found = [(kept * q + rate * p, q, (rate * loss.expm1()).log1p()) for p, q, loss in self.base.listed()]
        if not (alone := self.base.lost()).is_zero():
            found.append((kept * alone, alone, kept.log()))
        return [(q, p, -loss) for p, q, loss in found] if self.added else found

    def infinite(self) -> arb:
        return arb(0) if self.added else exact(self.rate) * self.base.infinite()

    def lost(self) -> arb:
        return exact(self.rate) * self.base.infinite() if self.added else arb(0)

    def reversed(self) -> SampledOutcomesLaw:
        return SampledOutcomesLaw(self.base, self.rate, not self.added)


@dataclass(frozen=True)
class SampledTailsLaw(CheckedLaw):
    """By the tails of the base and of its reverse."""

    base: CheckedLaw
    back: CheckedLaw
    rate: Fraction
    added: bool

    def infinite(self) -> arb:
        return arb(0) if self.added else exact(self.rate) * self.base.infinite()

    def reversed(self) -> SampledTailsLaw:
        return SampledTailsLaw(self.base, self.back, self.rate, not self.added)

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        rate, kept = exact(self.rate), exact(1 - self.rate)
        inner = ((-x if self.added else x).expm1() / rate) + 1  # e^u
        if not inner > 0 and not inner <= 0:
            return arb(0).union(arb(1)), arb(0).union(arb(1))
        if self.added:
            return self._added(inner, rate, kept)
        if inner <= 0:
            return 1 - self.infinite(), arb(1)
        found = self.base.tails(inner.log())
        return None if found is None else (kept * found[1] + rate * found[0], found[1])

    def _added(self, inner: arb, rate: arb, kept: arb) -> tuple[arb, arb] | None:
        """{-l' > x} is {l < u(-x)}, which the reverse knows as {-l > -u}, with what only Q has."""
        if inner <= 0:
            return arb(0), arb(0)
        found = self.back.tails(-inner.log())
        if found is None:
            return None
        alone = found[0] + self.back.infinite()
        return alone, kept * alone + rate * found[1]
