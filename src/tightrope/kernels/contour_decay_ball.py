"""The decay bound of kernels.contour_decay in balls, cell by cell.

Guarantee: upper, every rounding enclosed. Proof: docs/proofs/contour.md, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import arb

from .ball import upper_float, working_precision
from .contour_decay import SHIFTS, Cell, cell_edges, exponent, log_masses, shift_height, tail_slopes

DECAY_BITS = 64
CELLS_MOST = 3000  # more take longer than any other engine


class _Balls:
    @staticmethod
    def exp(x: arb) -> arb:
        return x.exp()

    @staticmethod
    def expm1(x: arb) -> arb:
        return x.expm1()

    @staticmethod
    def log1p(x: arb) -> arb:
        return x.log1p()

    @staticmethod
    def sin(x: arb) -> arb:
        return x.sin()

    @staticmethod
    def cos(x: arb) -> arb:
        return x.cos()

    @staticmethod
    def angle(y: arb, x: arb) -> arb:
        return arb.atan2(y, x)

    @staticmethod
    def smaller(x: arb, y: arb) -> arb:
        return x.min(y)


@dataclass(frozen=True, slots=True)
class BallDecay:
    """Cells of a tilted law with bounds of their masses; the tails are the last two cells, with no least mass."""

    mu: arb
    power: float
    cells: tuple[tuple[Cell, arb, arb], ...]

    def log_bound(self, radius: float) -> float:
        """An upper bound of log |phi(t)| for every t >= radius; 0 where nothing better is known."""
        with working_precision(DECAY_BITS):
            return min(0.0, *(self._with_shift(radius, *shift) for shift in SHIFTS))

    def _with_shift(self, radius: float, fraction: float, eagerness: float) -> float:
        height = shift_height(_Balls, self.mu, self.power, radius, fraction * arb.pi() / self.mu)
        least, most = arb(0), arb(0)
        falls, rises, far = arb(0), arb(0), arb(0)
        for cell, low, high in self.cells:
            bound, _ = exponent(_Balls, cell, self.mu, self.power, radius, height, eagerness)
            gain = bound.expm1()
            least, most, far = least + low, most + high, far + high * (1 + gain)
            if gain < 0:
                falls += low * gain
            else:
                rises += high * gain.max(arb(0))
        near = falls / most + rises / least
        bounds = [upper_float(near.log1p()), upper_float((far / least).log())]
        return min(bounds)


def ball_decay(mu: arb, rate: float, power: float) -> BallDecay | None:
    """The cells for the law with density proportional to n g^power; None where the tails cannot be bounded."""
    with working_precision(DECAY_BITS):
        points = cell_edges(float(mu.mid()), rate, power)
        if len(points) > CELLS_MOST:
            return None
        share = arb(rate)
        logit = share.log() - (-share).log1p() - mu * mu / 2

        def shares(x: arb) -> tuple[arb, arb]:
            odds = (mu * x + logit).exp()
            return odds / (1 + odds), 1 / (1 + odds)

        def log_density(x: arb) -> arb:
            return arb(power) * (mu * x + logit).exp().log1p() - x * x / 2

        edges = [arb(point) for point in points]
        known = [shares(edge) for edge in edges]
        slope_left, slope_right = tail_slopes(edges[0], edges[-1], known[0][0], mu, power)
        if not (slope_left > 0 and slope_right > 0):
            return None
        top = log_density(edges[len(edges) // 2])
        at_edges = [log_density(edge) - top for edge in edges]
        cells = []
        for index in range(len(edges) - 1):
            left, right = edges[index], edges[index + 1]
            cell = Cell(left, right, known[index][0], known[index + 1][0], known[index][1], known[index + 1][1])
            logs = at_edges[index], log_density((left + right) / 2) - top, at_edges[index + 1]
            low, high = log_masses(_Balls, cell, logs, mu, power)
            width = right - left
            cells.append((cell, width * low.exp(), width * high.exp()))
        (first, first_other), (last, last_other) = known[0], known[-1]
        left_mass, right_mass = (
            log.exp() / slope for log, slope in ((at_edges[0], slope_left), (at_edges[-1], slope_right))
        )
        cells.append((Cell(edges[0], edges[0], arb(0), first, arb(1), first_other), arb(0), left_mass))
        cells.append((Cell(edges[-1], edges[-1], last, arb(1), last_other, arb(0)), arb(0), right_mass))
        return BallDecay(mu, power, tuple(cells))
