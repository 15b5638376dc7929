"""What the lattice engine chooses: none of it is needed for a bound to hold, a bad choice costs width or time.

Chosen by width and time with `benchmarks/still.py` ('engine lattice', mixes, 'many uses') unless another is named.
What an error term rests on stands beside its proof instead: law.py, masses.py, compose.py.
"""

from __future__ import annotations

import numpy as np

# The aim (aim.py).
TOP_SHARE = 1e-2  # of the width wanted: what may go to infinite loss, and what may move up to the first point
WINDOW_SHARE = 1e-3  # of the width wanted: what may lie outside of the window
EPSILON_TOLD = 1e-4  # in 1/theta: a smaller epsilon is not told from 0 to the full accuracy
WANTED_MAX = 0.3  # of delta: beyond, a steep delta would not be told from nothing
AIMS_MAX = 4  # times that rare losses are dropped and the saddle is found again
STEEPEST_TILT = 1e9
CLOSENESS = 1e-3  # of what the contour is content with: steps follow the tilt, and widths their squares
TILT_RUNG = 24.0 * np.log(10.0) / 2**16  # difference of log tilt
TILT_SHARES = np.concatenate(  # of the saddle's tilt: where the cgf is looked at
    [
        -np.geomspace(8.0, 0.1, 12),
        [0.0],
        np.geomspace(0.01, 0.5, 12),
        np.linspace(0.55, 1.5, 39),
        np.geomspace(1.6, 30.0, 16),
    ]
)
TILTS_TRIED = 0.3, 1.2  # of the saddle's tilt: between these lies the one with the shortest window
KNOWN_MIN = 1e-15  # per use: a transform knows no tilted law better, so less outside of a window does not pay

# Sketches (sketch.py).
SKETCH_CELLS = 2048  # of one sketch; with fewer it is a coarse one
EVEN_CELLS, EVEN_CELLS_MIN = 2000, 64  # of them on an even grid, in a full sketch and in the coarsest
SKETCH_CELLS_MAX = 1 << 17  # of all sketches together: many terms are drawn more coarsely
SKETCH_TAIL = 1e-305  # P-mass beyond the last cell
MEDIAN_SMOOTH = 1e-3  # of one half: with less next to it, the median is no atom that matters
ATOM_SHARE = 0.02  # of the law: a cell with more is an atom

# Grids (plan.py): a width is in units of the one wanted, work is points times transforms.
DISCRETISATION_SHARE = 0.45  # of the width wanted: what the step may take of it
ON_GRID_SHARE = 1e-3  # an excess so small says that the atoms lie on the grid
GRID_POINTS_MAX = 15 << 16  # a little below a power of two, to which windows are rounded up
GRID_POINTS_WANTED = 1 << 18  # with no more than that, levels need not be tried
GRID_WORK_MAX = float(32 << 20)  # a few seconds (`make bench`)
LAW_SHARE = 0.6  # of a composition: what one law more takes
GRID_LEVELS_MAX = 16
GOOD_WIDTH = 2.0  # such a width is met in the end: then the least work decides
NOISE_WEIGHT = 5.0  # a level is taken where its noise, which spreads over wide windows, is far from mattering
STEEPEST_STEP = 20.0  # log of the weights of neighbouring points: beyond, what is lost weighs too much
RANGE_PARTS_MAX = 64  # of a bounded range, tried one by one
RANGES_MAX = 4  # of different widths: the atoms of more than a few lie on no common grid
TRANSFORM_NOISE = 2e-14  # about the rounding of one transform, relative to the masses

# Composition (compose.py).
BLOCK_USES = 16  # that one squaring step of the evolving grid takes together
GRID_GROWTH = 4  # of its step: the square root of that, as the law widens
CHERNOFF_SHARES = tuple(1.4**-power for power in range(-2, 28))  # exponents tried, in units of a normal law's
WINDOW_MAX = 1 << 21  # entries; a wider law is cut to the middle of it, and what lies outside is bounded as always
NATIVE_LENGTH_MAX = 1 << 23  # places between the least and the greatest loss of one use

# The search for a grid (engine.py), and what it finds (grid.py, narrowest.py).
GRIDS_MAX = 5
ENOUGH_FOR_EPSILON, ENOUGH_FOR_DELTA = 0.7, 0.95  # of the width wanted: what a search for epsilon adds must fit too
GRIDS_WORK = 0.7  # of what is left is allowed: a search for epsilon follows
FIRST_GRID_WORK, LAST_GRID_WORK = 0.6, 0.75  # of allowed: what the first grid may take, and when there is no other
TRANSFORM_UNITS = 100.0  # of work, for a point in a transform
BLUR_MAX = 0.1  # of the width wanted: noise of the levels that one grid would be without
NOISY_FINER = 0.125  # of the points before, where their rounding was too wide
HELPED = 0.8  # of the width before: what does not reach that is not the grid's fault
STEP_ALIKE = 0.1  # difference of log step: such a grid was tried
KNOWN_PER_WIDTH = 1e-13  # of the tilted law: with a smaller tolerance per width wanted, transforms tell too little
INTEGERS_WIDTH = 0.1  # of delta: better than transforms do then
RESCUE_WIDTH = 30.0  # times the width wanted: integers may help
RESCUE_USES_MAX = 10**9  # powers of more uses take minutes
DELTA_TOLD = 1e-300  # tails are not told apart below
SEARCH_WIDTH = 1e-12  # relative: what a search for epsilon aims at where delta is not discretised
NEWTON_STEPS = 10  # of that search, for each end
NEAR_FOLDS = 5.0  # delta changes by e^5: further from the tilt, a nearer epsilon may say more
CUT_ROOM = 64  # points below epsilon where the best event may start
HALVING_ROOM = 50.0  # times the tolerance, a thousandth of the width: where that halves a transform
HOCKEY_STICK_UNITS, TAILS_UNITS = 500.0, 1000.0  # of work per point, for a sampled Gaussian: the slowest of the many
CELL_UNITS, SUM_UNITS = 12.0, 40.0  # of work, to tilt a cell of a sketch, and for an entry of a law that is summed

# Whole numbers (whole.py, proof.py), in seconds (tests/engines/lattice/test_proof.py, `make bench`).
INTEGER_POINTS_MAX = 1 << 16
WHOLE_LENGTH_MAX = 1 << 19  # entries of both factors of a product
PROOF_SECONDS, PROOF_WORK = 3.0, 0.5  # at most, and of what is left: sums in balls follow
LIMB_SECONDS, COEFFICIENT_SECONDS, MASS_SECONDS = 3e-7, 1e-6, 2.5e-4  # a limb, a coefficient, the masses of a point
PAID_AT_ONCE = 32  # points
