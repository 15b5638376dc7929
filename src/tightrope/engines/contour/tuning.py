"""What the contour chooses: nothing here is needed for a bound to hold, it only moves width and time.

Chosen with `benchmarks/still.py` by width and time ('vectors' and 'training' unless said otherwise; 'corners' for laws
in parts), and with `make bench`.
"""

from __future__ import annotations

# How sharp.
FLOAT_AIM, BALL_AIM = 1e-10, 1e-13  # relative errors that cost little enough to aim at in any case
LOOSE = 5e-3  # accuracies from here on decide between values, and serve one question: nothing sharper is worth a node
TOLERANCE_MAX = 0.1  # of delta: what a plan may leave open at most
ROOMS = (16.0, 4.0)  # the estimate of delta is off by a few, and two tilts bound aliases: some room costs few nodes
SENSITIVITY_MIN = 1e-6  # of delta's error to epsilon's: next to 0 there is an end to it
NEAR_ZERO, ZERO_WIDTH = 1e-3, 1e-12  # below this epsilon so much is narrow enough
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
