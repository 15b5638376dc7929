"""Moments of rounded Gaussian noise that is too coarse for the formula of its cells: added up one by one.

Cells further than v sigma beyond the centres of all three laws, p, q and the tilted one, have at most
2 max(e^{c(c+1) mu^2/2}, 1) e^{-v^2/2}/kept in all, c = Re z: such a cell has at most its integral, or P + Q of it.
Guarantee: exact. Proof: docs/proofs/truncated.md, "Cells of Gaussian noise".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import acb, arb, ctx

from ...kernels.ball import complex_log, integer, working_precision
from .density_segment import NormalSegment
from .losses import Losses

if TYPE_CHECKING:
    from .pair import TruncatedPair

CELLS_SUMMED = 20_000  # a second


def summed_log_moment(pair: TruncatedPair, z: acb) -> acb | None:
    """K(z); None where there are too many cells, or none that are normal."""
    known = pair.losses()
    if not isinstance(known.segment, NormalSegment):
        return None
    spare = 64 + known.spare_bits(float(z.real.mid()), abs(float(z.imag.mid())))
    with working_precision(ctx.prec + spare):
        known = pair.losses()
        assert isinstance(known.segment, NormalSegment)
        cells = _cells(pair, known.segment, z)
        if cells is None:
            return None
        value = Losses(known.atoms, None).moment(z) + cells
        return acb(value.real.log()) if z.imag.is_zero() else complex_log(value)


def _cells(pair: TruncatedPair, stretch: NormalSegment, z: acb) -> acb | None:
    noise, c, mu = pair.noise, z.real, stretch.mu
    v, shift = (2 * (ctx.prec + 16) * arb(2).log()).sqrt(), noise.ball_shift
    reach, centre = v * shift / mu, (c + 1) * shift
    ends = centre.min(arb(0)) - reach - 1, centre.max(shift) + reach + 2
    start, stop = (integer(end.mid().floor()) for end in ends)
    if start is None or stop is None or stop - start > CELLS_SUMMED:
        return None
    low, high = pair.inner()
    first, last = int(max(start, low)), int(min(stop, high))
    masses: dict[int, arb] = pair.__dict__.setdefault("_log_masses", {}).setdefault(ctx.prec, {})
    for k in range(first - int(noise.shift), last):
        if k not in masses:
            masses[k] = noise.ball_mass(arb(k), arb(k + 1)).log()
    # Under the first law a cell has what the one D below has under the second.
    logs = ((masses[k - int(noise.shift)], masses[k]) for k in range(first, last))
    total = sum((((1 + z) * p - z * q).exp() for p, q in logs), acb(0))
    left_out = 2 * (-v * v / 2).exp() * (c * (c + 1) * mu * mu / 2).exp().max(arb(1))
    around = arb(0) if (first, last) == (low, high) else arb(0, 1) * left_out
    return (total + acb(around, arb(0) if z.imag.is_zero() else around)) / stretch.kept
