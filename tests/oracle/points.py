"""The law whose profile is the largest that some points allow: by the lines through two points that lie under all.

The lower hull of (0, 1) and the points is the largest of these lines and of the last level. Losses sit at the points
where two lines meet, with the difference of their slopes as Q-mass. For points of which no three lie on a line, the
largest epsilon with the smallest delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from flint import arb

from .finite import FiniteLaw, Output
from .precision import Number, Real, Weight, ball
from .truth import Ratio


@dataclass(frozen=True)
class Points(FiniteLaw):
    """(epsilon, delta) at once for all of them; with their mirrors where both directions obey them."""

    epsilons: tuple[Number, ...]
    deltas: tuple[Number, ...]
    both: bool = True

    def places(self) -> dict[Fraction | None, tuple[arb, arb]]:
        """(alpha, delta) by epsilon; None stands for alpha = 0."""
        found: dict[Fraction | None, tuple[arb, arb]] = {None: (arb(0), arb(1))}
        for epsilon, delta in zip(map(Fraction, self.epsilons), map(Fraction, self.deltas), strict=True):
            alpha = ball(epsilon).exp()
            found[epsilon] = alpha, ball(delta)
            if self.both and epsilon:
                found[-epsilon] = 1 / alpha, 1 - (1 - ball(delta)) / alpha
        return found

    def lines(self) -> list[tuple[arb, set[Fraction | None]]]:
        """Slopes, the steepest first, and the points on each line."""
        places, found = self.places(), []
        for one, two in combinations(places, 2):
            (x, d), (y, e) = places[one], places[two]
            others = [place for key, place in places.items() if key not in (one, two)]
            if (d - e) / (y - x) > 0 and all(d + (e - d) / (y - x) * (z - x) < f for z, f in others):
                found.append(((d - e) / (y - x), {one, two}))
        return sorted(found, key=lambda line: -float(line[0].mid()))

    def outputs(self) -> tuple[Output, ...]:
        lines = [*self.lines(), (arb(0), {Fraction(max(self.epsilons))})]
        found = [Output(ball(p), ball(q), Ratio(r)) for p, q, r in self._alone() if p or q]
        for (slope, one), (next_slope, two) in pairwise(lines):
            (loss,) = one & two
            assert loss is not None
            q = slope - next_slope
            found.append(Output(ball(loss).exp() * q, q, Ratio(Fraction(1), loss)))
        return tuple(found)

    def _alone(self) -> tuple[tuple[Weight, Weight, Fraction | None], ...]:
        p, q = self.alone()
        return (p, Fraction(0), None), (Fraction(0), q, Fraction(0))

    def alone(self) -> tuple[Fraction, Weight]:  # type: ignore[override]
        last = Fraction(self.deltas[-1])
        return last, last if self.both else Real(lambda: 1 - self.lines()[0][0])
