"""What the hits engine chooses: when to try at all, and how finely.

None of it is needed for a bound to hold. `make fuzz` (rare hits, tiny rates, little noise) chose the limits by width
and time against the contour; the group 'engine hits' of benchmarks/still.py holds them.
"""

from __future__ import annotations

# Hits that are seen (outcomes.py, visible.py).
BITS = 256  # losses up to 1e30 and counts up to 2**60 leave more digits than a double has
HIDDEN_MAX = 1e-6  # mass of hits that are not told from misses: beyond, other engines are narrower
OUTCOMES_MAX, PRODUCTS_MAX = 20_000, 1_000_000  # outcomes that are listed, and looked at: a second in balls
BELOW = 45.0  # e-folds below delta that nobody sees
FIRST_LOOK = -90.0  # log of the masses left out where delta is not known yet
LISTS_MAX, LISTED_FURTHER = 3, 300.0  # lists until enough is listed, and e-folds that each goes further
LEFT_OUT_SHARE = 0.01  # of the width asked for: what a list may leave out
BISECTIONS, TILT_NEWTON_MAX = 60, 30
PROVING_STEP, PROVING_STEPS_MAX = 1e-15, 40  # of epsilon: distance of the proving points, taken further until they do
EVALUATION, MULTIPLICATION = 1e5, 1.5e3  # units of work, of one Gaussian profile and one product of balls

# When few hits decide (ends.py): `make fuzz` against the contour, which takes what is refused.
TERMS_MAX = 8
HITS_MAX = 0.4  # expected in all, about; with more the contour's integrand falls soon
BODY_MAX = 8.0  # times epsilon: what all uses lose without a hit; beyond, sums of many small losses reach it
BODY_POINTS_MAX = 3e5  # times the losses without a hit: larger hits are told apart by the contour
NEXT_TO_END = 0.25  # of a window: where at least half of a law is to be
TOGETHER = 1e10  # times delta, where one use alone has delta: several uses make epsilon

# How finely (cut.py): tests/engines/hits/test_cut.py holds the widths.
FIRST_POINTS, CUT_POINTS_MAX = 1 << 11, 5 << 14
ROUNDS_MAX = 4  # grids, each finer
FINER = 1.1  # times the points that the square root of the width suggests
FINER_MIN = 1.5
HAIR = 0.7  # of the width asked for: what a search for epsilon adds must fit too
SEARCHES_MAX = 6  # for the place of epsilon, on coarse grids
COARSE_WIDTH = 0.1  # of delta, on those
HIT_ROOM = 1e-3  # of epsilon: how far above its place the cut stays exact
NEAR_ZERO, CUT_ZERO_WIDTH = 1e-3, 5e-13  # below this epsilon so much is narrow enough
NEAR_WIDTHS = 5.0  # in 1/theta: from here on delta at a nearer epsilon, which differs by e^5, may say more
MEDIAN_POINTS = 257
POINT_WORK, ENTRY_WORK = 600.0, 250.0  # units of work: one point of a law, one entry of a transform, all three laws

# Which tilt and which window (tilt.py).
SHARES = 0.2, 4.0, 40  # of the saddle's tilt: least, most, how many
THINNED = 4  # points that make one of a sketch
STEEPEST, FLATTEST = 600.0, 1e-3  # log of the weights at both ends of a law
OUTSIDE_SHARE = 1e-2  # of the width asked for: what may lie outside of a window
FLOOR, CEILING = 1e-17, 1e-3  # of the tilted law: nothing below is told from rounding, and more is never left out
WINDOWS_MAX = 64.0  # times the longest law: what a transform is to hold
UNKNOWN = 1e-3  # of Chernoff's bound: about delta, where nothing else tells
NOISE, NOISY_USES = 3e-12, 20.0  # of the tilted law: what rounding hides, and the uses that double it
RATE_MIN = 1e-9  # of epsilon, for the noise: at 0 nothing cancels that a tilt could mend
