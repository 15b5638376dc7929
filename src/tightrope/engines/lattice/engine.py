"""The lattice engine: certified bounds for any composition of any pairs.

    native     losses that lie on one lattice already
    search     grids until the width is met: aim (where the question lies), plan (how finely, and the work it takes),
               grid (one in float64: masses, law, compose, tail_sum)
    proof      a grid in exact integers
    narrowest  what several of them say together, as an interval of delta or of epsilon
Guarantee: upper and lower; what discretisation, windows, wrap-around and rounding cost is inside the interval.
Proof: docs/proofs/lattice.md.
Reference: Meiser, Mohammadi 2018 (privacy buckets); Koskela, Jaelkoe, Honkela 2020 (Fourier accountant).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import UnsupportedMechanism
from ...kernels.ball import BITS_START, working_precision
from ...kernels.fft import POWER_MOST
from ..evaluation import Evaluator, Term
from . import native as lattice_native
from .aim import aim
from .narrowest import Narrowest
from .proof import prepare_proof
from .search import refined
from .tuning import ENOUGH_FOR_DELTA, ENOUGH_FOR_EPSILON, SEARCH_WIDTH


def prepare(
    terms: Sequence[Term],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    accuracy: float = 1e-6,
    proof: bool = False,
    beat: float = math.inf,
) -> Evaluator:
    """An evaluator whose grid and tilt suit delta at this epsilon, or epsilon at this delta; others get wider
    intervals.

    beat: a relative width that is known already; what is not expected to halve it is refused before it is done.
    proof: exact integers and balls instead of transforms, on a grid of fewer points.
    """
    with working_precision(BITS_START):
        if any(not pair.infinite_mass() < 1 for pair, _ in terms):
            raise UnsupportedMechanism("all of its loss is infinite: delta is 1 at every epsilon")
    if any(count > POWER_MOST for _, count in terms):
        raise UnsupportedMechanism(f"the transforms are raised to powers up to {POWER_MOST} only")
    terms = tuple(terms)
    if proof:
        target = aim(terms, epsilon, delta, accuracy)
        made, point = prepare_proof(terms, target), target.point
        return Narrowest((made,), terms, target.wanted, point.epsilon, point.tilt, SEARCH_WIDTH)
    native = lattice_native.prepare(terms, epsilon, delta, accuracy)
    if native is not None:
        return Narrowest((native,), terms, accuracy, native.near, native.theta, SEARCH_WIDTH)
    enough = ENOUGH_FOR_EPSILON if epsilon is None else ENOUGH_FOR_DELTA
    return refined(terms, aim(terms, epsilon, delta, accuracy), 0.5 * beat / accuracy, enough)
