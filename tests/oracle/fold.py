"""Many uses: Gaussians, randomized responses through the incomplete beta function, Gaussians times finite laws."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from .finite import FiniteLaw, Output
from .laplace_fold import LaplaceFold
from .precision import INVISIBLE, START, Number, ball, precision, refined
from .truth import Ratio


@dataclass(frozen=True)
class GaussianFold:
    """Uses of Gaussians, (sigma, sensitivity, count) each, next to one use of a finite law (a Product for many).

    Seen along the line between the two means, the Gaussians are N(mu, 1) against N(0, 1) with
    mu^2 = sum of count (sensitivity / sigma)^2. For each output of the finite law the set chosen is a half-line.
    """

    uses: tuple[tuple[Number, Number, int], ...]
    finite: FiniteLaw | None = None
    remove: bool = True

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """The smallest delta at this epsilon."""
        square = sum(
            (count * (Fraction(shift) / Fraction(sigma)) ** 2 for sigma, shift, count in self.uses), Fraction(0)
        )

        def value() -> arb:
            mu = ball(square).sqrt()
            total = arb(0)
            for p, q, log_ratio in self._outputs():
                if log_ratio is None:
                    total += p
                elif not p.is_zero():
                    cut = mu / 2 + (ball(Fraction(epsilon)) - log_ratio) / mu
                    total += p * above(cut - mu) - ball(Fraction(epsilon)).exp() * q * above(cut)
            return total

        return refined(value, bits, INVISIBLE)

    def _outputs(self) -> list[tuple[arb, arb, arb | None]]:
        if self.finite is None:
            return [(arb(1), arb(1), arb(0))]
        return [
            self._seen(output)
            for output in self.finite.outputs()
            if output.ratio.factor != (0 if self.remove else None)
        ]

    def _seen(self, output: Output) -> tuple[arb, arb, arb | None]:
        p, q = (output.p, output.q) if self.remove else (output.q, output.p)
        if q.is_zero():
            return p, q, None
        loss = ball(output.ratio.factor).log() + ball(output.ratio.exponent)
        return p, q, loss if self.remove else -loss


@dataclass(frozen=True)
class CentredFold:
    """count uses of N(0, first^2) against N(0, second^2): the outputs chosen are a ball, or what is outside of one.

    The mass outside of a ball is a finite sum: e^-u (1 + u + ... ) for an even count, erfc and half-integer powers for
    an odd one.
    """

    first: Number
    second: Number
    count: int
    remove: bool = True

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """The smallest delta at this epsilon."""
        first, second = (Fraction(self.first), Fraction(self.second))[:: 1 if self.remove else -1]

        def value() -> arb:
            # 2 (epsilon + count log(first/second)) = |x|^2 (1/second^2 - 1/first^2)
            half = (ball(Fraction(epsilon)) + self.count * ball(first / second).log()) / ball(
                1 / second**2 - 1 / first**2
            )
            if not half > 0:
                return (1 - ball(Fraction(epsilon)).exp()).max(arb(0))
            p, q = (outside_ball(self.count, half / ball(each) ** 2) for each in (first, second))
            if first < second:
                p, q = 1 - p, 1 - q
            return p - ball(Fraction(epsilon)).exp() * q

        return refined(value, bits, INVISIBLE)


def outside_ball(count: int, u: arb) -> arb:
    """P[|N|^2 > 2u], N standard normal in so many dimensions."""
    term = (-u).exp() if count % 2 == 0 else 2 * (u / arb.pi()).sqrt() * (-u).exp()
    total, power = (arb(0), Fraction(0)) if count % 2 == 0 else (u.sqrt().erfc(), Fraction(1, 2))
    for _ in range(count // 2):
        total += term
        power += 1
        term *= u / ball(power)
    return total


@dataclass(frozen=True)
class ResponseFold:
    """count uses of leaky randomized response with two answers: the number of true ones is binomial.

    odds of a true answer to a false one, at least 1: Ratio(p / (1 - p)) or Ratio(1, epsilon).
    """

    odds: Ratio
    delta_each: Number
    count: int

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """1 - (1 - delta)^count of leaking, else P[J >= j] - e^epsilon Q[J >= j] at the first useful j."""
        first = self._first(Fraction(epsilon))

        def value() -> arb:
            odds = ball(self.odds.factor) * ball(self.odds.exponent).exp()
            kept = ball(1 - Fraction(self.delta_each)) ** self.count
            if first > self.count:
                return 1 - kept
            p, q = (self._at_least(first, truth) for truth in (odds / (1 + odds), 1 / (1 + odds)))
            return 1 - kept + kept * (p - ball(Fraction(epsilon)).exp() * q)

        return refined(value, bits, INVISIBLE)

    def _first(self, epsilon: Fraction) -> int:
        """The least j whose loss (2 j - count) log odds exceeds epsilon; a tie adds nothing to delta."""
        if self.odds == Ratio(Fraction(1)):
            return 0 if epsilon < 0 else self.count + 1
        if self.odds.factor == 1:
            ratio = epsilon / self.odds.exponent
        elif epsilon == 0:
            ratio = Fraction(0)
        else:
            with precision(4 * START):
                quotient = ball(epsilon) / (ball(self.odds.factor).log() + ball(self.odds.exponent))
                least = ((quotient + self.count) / 2).floor().unique_fmpz()
            if least is None:
                raise ArithmeticError("epsilon cannot be told from a loss")
            return max(0, int(least) + 1)
        return max(0, int((ratio + self.count) // 2) + 1)

    def _at_least(self, first: int, truth: arb) -> arb:
        """P[Binomial(count, truth) >= first]."""
        if first == 0:
            return arb(1)
        return truth.beta_lower(first, self.count - first + 1, regularized=True)


@dataclass(frozen=True)
class Mixture:
    """One use of a finite law with ratios e^x, x rational, next to uses of Laplace noise.

    delta(epsilon) is the mean over the finite law's outputs of the others' delta at epsilon - x.
    """

    finite: FiniteLaw
    laplace: LaplaceFold

    def delta(self, epsilon: Number, bits: int = 100) -> arb:
        """The smallest delta at this epsilon."""

        def value() -> arb:
            total = arb(0)
            for p, _, ratio in self.finite.outputs():
                if ratio.factor is None:
                    total += p
                elif ratio.factor == 1:
                    total += p * self.laplace.delta(Fraction(epsilon) - ratio.exponent, 2 * bits)
                elif ratio.factor != 0:
                    raise ValueError(f"the ratio {ratio} is no exponential of a rational")
            return total

        return refined(value, bits, INVISIBLE)


def above(z: arb) -> arb:
    """P[N(0, 1) > z]."""
    return (z / arb(2).sqrt()).erfc() / 2
