"""Laws that dominate a mechanism, and that no two neighbours show at every use; with others that some do.

One use of them is shown at each epsilon, by neighbours that depend on it. Proof: docs/proofs/exponential.md,
docs/proofs/noisy_max.md, docs/proofs/shuffled_batches.md; docs/proofs/checker_laws.md, "Bounds".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from ..law import CheckedLaw, exact
from .finite import Outcome, OutcomesLaw
from .laplace import LaplaceLaw

CHORDS = 16  # places of two losses, of which the middle ones are tried


@dataclass(frozen=True)
class BoundedLaw(CheckedLaw):
    """The law above, and those below; once: whether one use is as it is above. rho: K(c) <= c (c + 1) rho, too."""

    law: CheckedLaw
    below: tuple[CheckedLaw, ...] = ()
    once: bool = True
    rho: Fraction | None = None

    def bound(self) -> CheckedLaw:
        return self.law

    def shown_once(self) -> bool:
        return self.once

    def zcdp(self) -> Fraction | None:
        return self.rho

    def infinite(self) -> arb:
        return self.law.infinite()

    def tails(self, x: arb) -> tuple[arb, arb] | None:
        return self.law.tails(x)

    def reversed(self) -> BoundedLaw | None:
        back, others = self.law.reversed(), [law.reversed() for law in self.below]
        if back is None or any(law is None for law in others):
            return None
        found = BoundedLaw(back, tuple(law for law in others if law is not None), self.once, self.rho)
        return self if back == self.law and set(found.below) == set(self.below) else found

    def witnesses(self) -> tuple[CheckedLaw, ...]:
        return self.below


@dataclass(frozen=True)
class LogisticLaw(CheckedLaw):
    """The largest profile of losses that span e at most: losses in [-e, e] with the P-density e^{l/2}/(4 sinh(e/2))."""

    span: Fraction

    def reversed(self) -> LogisticLaw:
        return self

    def tails(self, x: arb) -> tuple[arb, arb]:
        span = exact(self.span)
        r = ((x.max(-span).min(span) - span) / 2).exp()
        return -(r - 1) / -(-span).expm1(), -(r - 1) / (r * span.expm1())

    def moments(self, tilt: arb, step: arb, count: int) -> list[acb]:
        span, found = exact(self.span), []
        for j in range(count):
            s = acb(tilt + arb(1) / 2, step * j)
            found.append((s * span).sinh() / (2 * (span / 2).sinh() * s))
        return found

    def decay(self, tilt: arb, reach: arb) -> arb:
        """|sinh((s + it) e)/(s + it)| <= cosh(s e)/|s + it|."""
        s, span = tilt + arb(1) / 2, exact(self.span)
        found = (s * span).cosh() / (s * span).sinh() * s / (s * s + reach * reach).sqrt()
        return found.upper().min(arb(1)) if found.is_finite() else arb(1)


@dataclass(frozen=True)
class TwoLossesLaw(OutcomesLaw):
    """Losses share e and (share - 1) e: what two candidates show whose log odds move by e."""

    span: Fraction
    share: Fraction

    def outcomes(self) -> list[Outcome]:
        span, high = exact(self.span), exact(self.share * self.span)
        q = -(high - span).expm1() * (-high).exp() / -(-span).expm1()
        return [(q * high.exp(), q, high), ((1 - q) * (high - span).exp(), 1 - q, high - span)]

    def reversed(self) -> TwoLossesLaw:
        return TwoLossesLaw(self.span, 1 - self.share)


def exponential(span: Fraction) -> BoundedLaw:
    """The exponential mechanism, and whatever else has losses that span no more; also e^2/8-zCDP."""
    shares = [Fraction(place, CHORDS) for place in range(CHORDS // 4, 3 * CHORDS // 4 + 1, 2)]
    below = tuple(TwoLossesLaw(span, share) for share in shares)
    return BoundedLaw(LogisticLaw(span), below, True, span**2 / 8)


def noisy_max(span: Fraction) -> BoundedLaw:
    """The largest of noisy scores: Laplace noise above."""
    return BoundedLaw(LaplaceLaw(span))
