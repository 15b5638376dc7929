"""What the readings of the loss choose: a bad value makes answers wide or late, never wrong."""

from __future__ import annotations

# cell.py
CELL_BITS_MAX = 4096  # to tell a number from a loss (tests/engines/loss/test_cell.py)
RATIO_BITS_MAX = 1 << 20  # of a product of ratios that is worked out to see whether it is 1

# secants.py
NOISE_MIN = 1e-16  # relative, of H: no double tells more
TRIES = 6  # of the distance: each comes closer to where noise and curvature are alike (benchmarks/loss.py)
POOR = 0.5  # of the upper end: below that a lower end by secants may be worse than H itself
NARROW = 0.1  # of the accuracy: a secant that leaves so little open is left as it is
CELL_STEPS = (1.0, 0.1, 0.01)  # from the left end of a cell: H is known best next to where it was asked
STEP_MIN = 2.0**-44  # of t: a distance that doubles still tell well
DISTANCE_MIN = 1e-300  # a distance that any two doubles next to 0 have
STEP_MAX = 0.25  # beyond that a secant is no tangent any more
BITS_FIRST, BITS_LAST = 256, 2048  # of a formula in balls; a quarter of them is the distance
BITS_TOLD = 54  # correct bits that are enough

# tails.py
SHARP_MIN = 1e-9  # relative width of delta that is asked for: float64 tells hardly more (benchmarks/loss.py)
SHARP_GRID = 1e-6  # the same of engines on grids, where each digit costs ten times the time
PREPARE_SHARE = 0.6  # of the work of an engine: the rest is for reading secants off it
NEAR_ZERO = 1e-3  # from here on a secant to the left, which ends at 0, may be too short

# survey.py
SURVEY_WIDTHS = (0.02, 5e-4)  # one pass for each: the first makes a picture, the last has more than it shows
SURVEY_MISSES = 3  # times that preparing anew did not help: then the rest of a pass is read off what there is
SURVEY_FIRST = 0.25  # of the work: what is prepared at the first place serves the others
