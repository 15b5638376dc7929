"""What the planner, its helpers and the shared saddle choose: a bad value makes answers wide or late, never wrong.

Named after each value: what it means, and what shows a better or worse one (`make bench`, `make fuzz`, still.py).
"""

from __future__ import annotations

import numpy as np

# plan.py, planner.py
WIDE_EPSILON = 0.01  # of epsilon: an engine that leaves so much open did not aim well (make fuzz)
NEXT_TO_NOTHING = 9.9e-13  # an epsilon that is as good as 0: below 1e-12 however a width is rounded (make fuzz)
SMALL = 1e-9  # the total variation from which on such an epsilon is not expected (make fuzz)
FIRST_WIDTH, DEAR_COST = 1e-3, 16  # accuracy of a first answer, and the cost of profiles from which on there is one
DEAR_SHARE = 1e-2  # of it: what must be wanted for that
DEAR = 20_000  # cost of a profile in balls that is not asked for that alone (tests/mechanisms/test_shuffle.py)
ROUGHLY = 0.02  # good enough to see that one direction is not the worse one (make bench, the vectors)
PLAIN_SHARE = 0.3  # of what was kept: for simpler pairs on one side of a wide answer (tests/derived/test_allocated.py)
# Prepared for several questions: half of the width is kept for those that follow, and it is this sharp at least.
REUSED = 0.5, 1e-3  # (make bench, the curves)
AHEAD = 0.4  # of how far an evaluator served: where the next is prepared (make bench, the curves)

# planner.py
KINDS_MIN = 300  # that may be pooled: fewer are looked at one by one
KIND_UNITS = 4e6  # units of work that one kind takes in a call (make bench, 500 distinct steps)
PARAMETER_BINS = {True: 128, False: 64}  # cells by whether they hold combinations; in this order (docs/limits.md)
BINNING_SHARE = 0.8  # of the time, for combinations
BINNING_AIM = 1e-5  # relative width of each side: pools are further apart
BINNING_WIDE = 1e-2  # relative width from which on the next kinds are asked too

# loss_extremes.py, selection.py
NEXT_TO_MASS = 1e-4  # of delta: a larger rest is as well known by itself (tests/engines/test_leaks.py)
BALL_TOLERANCE = 1e-14  # a formula in balls is cheap: the interval may end where doubles do (make bench)

# events.py, fallback_bounds.py
BITS_MORE, BITS_WANTED = 1024, 50  # where the first precision leaves fewer (tests/engines/test_events.py)
NARROWINGS = 24  # of the threshold, by golden sections (make fuzz)
TOP = 1e-9  # of the range of a loss: below its supremum by that much, an atom there is above (test_events.py)
TERMS_MAX = 8  # events are looked for term by term (make fuzz)
FALLBACK_TOLERANCE = 0.02  # of epsilon: the bounds themselves are wider than that (make fuzz)

# saddle.py, saddle.py
FAR_ABOVE = 1e3  # times the delta that is wanted: what only rare outputs make of the bound (make fuzz)
RARE = 1e-3  # of the delta that is wanted: what may be left out (make fuzz)
DEPTH = 40.0  # e-folds that are low enough for a hard end (still.py, corners)
SPLIT_STEPS = 9  # halvings of the place of a split (make fuzz)
RARE_HITS = -40.0  # log of a ratio of hits to body that needs no second order (still.py, corners)

# saddle.py
TILT_MIN, TILT_MAX = 1e-9, 2.0**51  # of so many bits, 1 + c is a double
TILT_BITS, STEP_BITS = 16, 20  # of a tilt and of a step of nodes: products with small numbers are exact
SEARCH_STEPS, SEARCH_FACTOR = 24, 0.6  # of the second tilt, from far to near (make bench, the vectors)
BRACKET_MIN = 1e-4  # where K turns sharply no tilt has the wanted epsilon; any tilt is valid (make fuzz)
SAMPLE = 8  # of many terms stand for all until the end (make bench, 500 distinct steps)

# decided.py (still.py, corners)
DECIDED_TILTS = 0.5, 1.8, 24  # in 1/epsilon: the least, the ratio, and how many
DECIDED_MARGINS = 1e-3, 1e3  # of epsilon: between which the loss that decides lies above it
DECIDED_HALVINGS = 10  # of their ratio


# What the closed form takes on: limits that weigh its time against that of the engines that follow.
#
# None of them is needed for a bound to hold. `make bench` and `benchmarks/still.py` ('one use', 'engine closed_form')
# show what moving one does to times.

ATOMS_MAX = 200_000  # of a finite part in float64, times the cost of the other part's profile: a tenth of a second
ROW_ENTRIES_MAX = 2_000_000  # how often each atom of one use occurs in each of several: half a second
BALL_ATOMS_MAX = 50_000  # the same in balls: a second
HOCKEY_STICK_MAX = 60_000  # cost of one profile without a finite part: beyond, a contour answers sooner
BINOMIAL_MIN = 20_000  # uses of two atoms: below, listing the atoms is faster than a beta function
BINOMIAL_ROUGHLY = 1e-9  # where an epsilon to this share is good enough, others have it in milliseconds, not seconds
BINOMIAL_MAX = 10**18  # beyond, Arb's beta function takes long


# What the hits engine chooses: when to try at all, and how finely.
#
# None of it is needed for a bound to hold. `make fuzz` (rare hits, tiny rates, little noise) chose the limits by width
# and time against the contour; the group 'engine hits' of benchmarks/still.py holds them.

# Hits that are seen (engines/hits/engine.py, engines/hits/engine.py).
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
HITS_TERMS_MAX = 8
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
HITS_NEAR_ZERO, CUT_ZERO_WIDTH = 1e-3, 5e-13  # below this epsilon so much is narrow enough
NEAR_WIDTHS = 5.0  # in 1/theta: from here on delta at a nearer epsilon, which differs by e^5, may say more
MEDIAN_POINTS = 257
POINT_WORK, ENTRY_WORK = 600.0, 250.0  # units of work: one point of a law, one entry of a transform, all three laws

# Which tilt and which window (engines/hits/cut.py).
SHARES = 0.2, 4.0, 40  # of the saddle's tilt: least, most, how many
THINNED = 4  # points that make one of a sketch
STEEPEST, FLATTEST = 600.0, 1e-3  # log of the weights at both ends of a law
OUTSIDE_SHARE = 1e-2  # of the width asked for: what may lie outside of a window
FLOOR, CEILING = 1e-17, 1e-3  # of the tilted law: nothing below is told from rounding, and more is never left out
WINDOWS_MAX = 64.0  # times the longest law: what a transform is to hold
UNKNOWN = 1e-3  # of Chernoff's bound: about delta, where nothing else tells
NOISE, NOISY_USES = 3e-12, 20.0  # of the tilted law: what rounding hides, and the uses that double it
RATE_MIN = 1e-9  # of epsilon, for the noise: at 0 nothing cancels that a tilt could mend


# What the contour chooses: nothing here is needed for a bound to hold, it only moves width and time.
#
# Chosen with `benchmarks/still.py` by width and time ('vectors' and 'training' unless said otherwise; 'corners' for
# laws
# in parts), and with `make bench`.

# How sharp.
FLOAT_AIM, BALL_AIM = 1e-10, 1e-13  # relative errors that cost little enough to aim at in any case
LOOSE = 5e-3  # accuracies from here on decide between values, and serve one question: nothing sharper is worth a node
TOLERANCE_MAX = 0.1  # of delta: what a plan may leave open at most
ROOMS = (16.0, 4.0)  # the estimate of delta is off by a few, and two tilts bound aliases: some room costs few nodes
SENSITIVITY_MIN = 1e-6  # of delta's error to epsilon's: next to 0 there is an end to it
CONTOUR_NEAR_ZERO, ZERO_WIDTH = 1e-3, 1e-12  # below this epsilon so much is narrow enough
RAMP_SHARE = 8.0  # of the accuracy of a tail: for the distance of its secant (benchmarks/loss.py)
TURN_MAX = 2.0**20  # angles of a ramp: larger ones cost digits, and no answer needs them
RAMP_MIN = 1e-22  # of delta: what a plan for a tail may ask at most
LEFT_OUT = 0.03  # of the accuracy: for what is rare, and for the body ('corners')

# How much work.
NODES_MAX = 1 << 17
FLOAT_WORK_MAX, BALL_WORK_MAX = 1.5e8, 1e7  # nodes times inner points: seconds at most
FLOAT_UNITS, BALL_UNITS = 6.0, 450.0  # of work, for one node and inner point (tests/test_seconds.py)
BALLS_AT_ONCE = 1e5  # nodes times inner points: balls that cost so little come before other ways
CHEAP, MODERATE = 0.02, 0.1  # shares for ways that are tried before surer and dearer ones ('corners')
QUICK = 0.1  # share of one product of matrices that is faster than a sum of few hits (benchmarks/fuzz.py, training)
MANY_KINDS = 5.0  # share of a sum of many kinds of uses, which nothing else sums faster (schedules of 500 kinds)
WHOLE_MIN = 256  # nodes of a period that are not worth counting ('engine contour')
BITS_MIN = 88  # of balls: 1e-14 after the loss in long sums and large angles
TOLERANCE_SPARE = 20.0  # e-folds of inner quadratures in balls, beyond those of float64

# Which part of the law ('corners').
HIT_TERMS_MAX = 8  # a split is searched, term by term
SPLIT_WIDTHS, SPLIT_MIDDLE, SPLIT_SHARP = 8.0, 16.0, 32.0  # of the split, to a loss of epsilon
LOOSENED = 1e3  # times the accuracy: where small hits join large ones, leaving out more is the only way
LOG_TINIEST = -745.0  # no double is a smaller delta

# Trying again from what was found ('corners').
CORRECTIONS_MAX = 3
CORRECTION_MIN, CORRECTION_SHARE = 1.0, 0.1  # so far from the saddle, in units of log delta, and of epsilon
CORRECTION_DECIDED = 1e-4  # the same, of epsilon, where what decides alone was cut off for that epsilon
CORRECTION_MAX = 6.0  # epsilon may have been lost where its hits were left out
IMPROVED = 0.5  # of the width before: less is no reason to go on

# Where the sum may stop.
FIRST_GUESS = 1.2  # the bound of the decay keeps about 70 % of the exponent
EASIER = 0.7  # of the height for the tolerance before: where the next one begins
GROWTH_MIN, GROWTH_MAX = 1.05, 4.0  # of the height, at a step
ORDER_MIN = 0.3  # of the fall with the height: slower ones are not followed further at a step
STEPS_BEFORE_MAX = 2  # until the largest height is looked at (benchmarks/sweep_speed.py)

# Newton on log delta (tests/engines/test_contour.py).
STEPS_MAX = 30
EPSILON_MAX = 1e300
CLOSE = 1e-9  # Newton squares the distance: after a step this small nothing is left to gain
CLOSE_LOG = 1e-3  # unless it was no step of Newton's, or delta turns sharply: next to a single loss it does
BESIDE = 1.05  # times the noise: the first step to either side of the root that is tried
LOPSIDED = 0.05  # of the noise of both sides: on one side it is taken for no less

# Lattices ('engine contour').
BITS_DECIDED = 1 << 13  # what is no further apart than this is one point
BITS_BEYOND = 64  # of the distance from epsilon to the first loss
TILT_STEPS = 60.0  # tilts beyond so many e-folds per step, and twice the step itself, change nothing


# What the lattice engine chooses: none of it is needed for a bound to hold, a bad choice costs width or time.
#
# Chosen by width and time with `benchmarks/still.py` ('engine lattice', mixes, 'many uses') unless another is named.
# What an error term rests on stands beside its proof instead: law.py, engines/lattice/grid.py, compose.py.

# The aim (engines/lattice/grid_plan.py).
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

# Sketches (engines/lattice/grid_plan.py).
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

# The search for a grid (engine.py), and what it finds (grid.py, engines/lattice/native.py).
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

# Whole numbers (engines/lattice/proof.py, proof.py), in seconds (tests/engines/lattice/test_proof.py, `make bench`).
INTEGER_POINTS_MAX = 1 << 16
WHOLE_LENGTH_MAX = 1 << 19  # entries of both factors of a product
PROOF_SECONDS, PROOF_WORK = 3.0, 0.5  # at most, and of what is left: sums in balls follow
LIMB_SECONDS, COEFFICIENT_SECONDS, MASS_SECONDS = 3e-7, 1e-6, 2.5e-4  # a limb, a coefficient, the masses of a point
PAID_AT_ONCE = 32  # points


# What the joint engine chooses: how fine the pairs around a product are, and when finer ones pay.
#
# None of it is needed for a bound to hold. Chosen by width and time over the groups 'one sample for several' and
# 'engine joint' of benchmarks/still.py.

# One use (engines/joint/engine.py).
BACKWARDS = (2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)  # of epsilon: how far below, to prove a lower end
PREPARED = 0.5  # relative width asked for where what was prepared before will do

# Uses that are one pair between two numbers (bounds.py).
BOUNDS_FINEST, BOUNDS_ROUGHEST = 1e-7, 1e-3  # relative, of epsilon: the two numbers differ by more

# Several uses (engine.py).
POINTS_FIRST, JOINT_POINTS_MAX, PROOF_POINTS_MAX = 512, 1 << 16, 1 << 11  # of the law of a product
JOINT_ROUNDS_MAX = 4
FIRST_AIM = 1e-3  # accuracy of the first compositions: they tell how fine the next ones must be
PLAN_SHARE = 0.25  # of the width: what the engines may leave open
TAIL_SHARE = 1e-4  # of the accuracy: what may go to infinite loss
TAIL_FIRST, TAIL_MIN = 1e-30, 1e-290  # the same where delta is not known, and in any case
SHALLOW = 1e-3  # of the tail before: the upper pair counted too much as infinite
FASTEST = 6.0  # times as many points as before: a round that time ends leaves the one before it
HELPS = 0.3  # of the width: less between the two pairs is not worth finer ones
ABOVE_SHARE = 0.5  # of the work: for the pairs above
WORK_SHARE = 0.3  # of the work that is left: what finer pairs may take

# The pairs around a product (engines/joint/bracket.py).
BLOCK = 4  # uses that become one law on a grid twice as coarse: a law of four uses is twice as wide
LOW_TAIL = 1e-22  # P-mass below: moved up, where it weighs no more than that
LOSS_MAX = 2000.0  # larger losses count as infinite above, and as this below
LONGER = 8  # than the whole law, in points: what one use may be
NARROWEST = 1e-6  # of the losses: a law of one atom needs no finer grid
TILTS = 1e-3, 1e4, 29  # where Chernoff's bound of the ends is looked at: least, most, how many
POINT = 2e4  # units of work, for the masses of a point in float64


# What buckets choose: none of it is needed for a bound to hold, a bad choice costs width or time.
#
# Chosen by width and time with `benchmarks/still.py` ('engine buckets') and `benchmarks/buckets.py` unless told
# otherwise.
# What an error term rests on stands beside its proof instead: engines/buckets/bucket_list.py,
# engines/buckets/bucket_composition.py, compose.py, engines/buckets/read.py.

# Numbers of buckets (engine.py).
N_START = 1024  # the first list, which tells how wide the answer is
N_DEFAULT_MAX = 1 << 17
N_GIVEN_MAX = 1 << 20  # where a caller fixes it, or a factor that needs so many: 0.7 GB
N_GRAIN = 512  # losses that lie on buckets stay on them in nine squarings
GROWN_MAX = 8.0  # times as many buckets: the lists before the last one cost a seventh of it, and each is an answer
REFINING = 0.6  # of the work and of the time that are left: the rest is for reading, and for the other direction
DELTA_AIM = 1e-6  # where a question names neither epsilon nor delta
# Of the upper end of epsilon: where its lower end is looked for.
COMING_DOWN = (0.999, 0.99, 0.97, 0.94, 0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)
EPSILON_GAP = 1e-10  # relative, where the search for epsilon ends
BUCKET_UNITS = 60.0  # of work, for one bucket that is read

# Centres (choice.py).
ROUND_SHARE = 16  # of n: what a rounder number of buckets may cost
CENTRED_MAX = 200  # atoms: among more none is so heavy
CENTRED_WORTH = 0.75  # of the rounding that lists around 0 have

# Tilts (choice.py).
TILT_RARE = 1e-12  # P-mass of all uses together: larger losses have no part in the choice of a tilt
FLATTER = 0.75  # than the saddle: a tilt a little too small costs less rounding than one too large
STEEPEST_LIST = 400.0  # tilt times the width of the composed law
SAME_TILT_BITS = 3  # tilts that differ by less share a list
STEEPEST_BUCKET = 0.5  # a tilt steeper than e^0.5 per bucket gains nothing
ROUNDING_SHARE = 0.05  # of the width; above it a list with a tilt of its own is worth its time

# Composition (engines/buckets/bucket_composition.py, compose.py).
GROWTH = 2.2  # squaring is worth it where one composition with itself grows B(infinity) by more (Fig. 10 of the paper)
STEEPER_MOMENTS = 14  # that bound the mass above n
# Rates at which what falls below -n is foreseen, times n log f of a leaf.
FALL_RATES, FLATTEST_FALL, STEEPEST_FALL = 24, 0.02, 340.0
CORNER_NOISE = 1e3  # a corner bucket below so many radii is not worth its error

# Words (engines/buckets/bucket_list.py).
TREE_TEXT_MAX = 2000  # characters; longer trees are told by their ends


# What the readings of the loss choose: a bad value makes answers wide or late, never wrong.

# loss_tails.py
CELL_BITS_MAX = 4096  # to tell a number from a loss (tests/engines/test_cell.py)
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
LOSS_NEAR_ZERO = 1e-3  # from here on a secant to the left, which ends at 0, may be too short

# loss_planner.py
SURVEY_WIDTHS = (0.02, 5e-4)  # one pass for each: the first makes a picture, the last has more than it shows
SURVEY_MISSES = 3  # times that preparing anew did not help: then the rest of a pass is read off what there is
SURVEY_FIRST = 0.25  # of the work: what is prepared at the first place serves the others


# What adaptive lower bounds choose: none of it is needed for a bound to hold, a bad choice costs width or time.
#
# Chosen by width and time for sampled Gaussians, Laplace noise and randomized response, 2 to 1000 uses.

STATES_FIRST, STATES_MAX, PROOF_STATES_MAX = 128, 1 << 13, 1 << 9  # of the states that are looked at
STATES_EVERYWHERE = 1 << 11  # where one game serves many epsilons
USES_MAX = 1 << 10  # with a choice: what adapting gains over the best alternative is little from there on
GAIN_MIN = 1e-3  # relative: with less, a game was fine enough, since the next one would gain a quarter of it
SLOWER = 3.0  # times as long as the game before, with twice as many states
ADAPTIVE_SHARE, ADAPTIVE_UNITS = 0.6, 1.6e9  # of the work that is left, and in units: what another game may take
TAIL_RATIO, OUTSIDE_MIN = 1e-6, 1e-300  # of delta, and in any case: what may lie outside of the window
ADAPTIVE_TAIL_FIRST = 1e-30  # the same where delta is not known
DELTA_FAR = 1e-290  # tails in float64 tell too little below
LOSS_FAR, STATES_NARROWEST = 600.0, 1e-9  # larger losses count as this; all states together span at least so much
LAW_LONGEST = 16.0  # than all states together: what the law of one use may be
ADAPTIVE_GUARD = 48  # bits of the masses that are left out
STARTS, AROUND = 8, 8.0  # states on either side of where the game begins, and around the best of the game before
SCALE, PROOF_SCALE = 8, 2  # edges of a rough picture between a loss and twice that, in float64 and in balls
SCALE_MIN, SCALE_MAX = -60, 10  # powers of two between which they lie
ADAPTIVE_TILTS = 1e-3, 1e4, 29  # where Chernoff's bound of the ends is looked at: least, most, how many
CHOICE_UNITS = 1e3  # of work, for one state in whole numbers
USE_UNITS = 7e4  # the same for one use in float64, besides its products
PRODUCT_UNITS = 0.15  # of work, for one product in a long sum
