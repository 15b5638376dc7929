"""What the planner, its helpers and the shared saddle choose: a bad value makes answers wide or late, never wrong.

Named after each value: what it means, and what shows a better or worse one (`make bench`, `make fuzz`, still.py).
"""

from __future__ import annotations

# plan.py, answer.py
WIDE_EPSILON = 0.01  # of epsilon: an engine that leaves so much open did not aim well (make fuzz)
NEXT_TO_NOTHING = 9.9e-13  # an epsilon that is as good as 0: below 1e-12 however a width is rounded (make fuzz)
SMALL = 1e-9  # the total variation from which on such an epsilon is not expected (make fuzz)
FIRST_WIDTH, DEAR_COST = 1e-3, 16  # accuracy of a first answer, and the cost of profiles from which on there is one
DEAR_SHARE = 1e-2  # of it: what must be wanted for that
DEAR = 20_000  # cost of a profile in balls that is not asked for that alone (tests/transforms/test_shuffle.py)
ROUGHLY = 0.02  # good enough to see that one direction is not the worse one (make bench, the vectors)
PLAIN_SHARE = 0.3  # of what was kept: for simpler pairs on one side of a wide answer (tests/derived/test_allocated.py)
# Prepared for several questions: half of the width is kept for those that follow, and it is this sharp at least.
REUSED = 0.5, 1e-3  # (make bench, the curves)
AHEAD = 0.4  # of how far an evaluator served: where the next is prepared (make bench, the curves)

# parameter_binning.py
KINDS_MIN = 300  # that may be pooled: fewer are looked at one by one
KIND_UNITS = 4e6  # units of work that one kind takes in a call (make bench, 500 distinct steps)
PARAMETER_BINS = {True: 128, False: 64}  # cells by whether they hold combinations; in this order (docs/limits.md)
BINNING_SHARE = 0.8  # of the time, for combinations
BINNING_AIM = 1e-5  # relative width of each side: pools are further apart
BINNING_WIDE = 1e-2  # relative width from which on the next kinds are asked too

# extremes_of_loss.py, evaluation.py
NEXT_TO_MASS = 1e-4  # of delta: a larger rest is as well known by itself (tests/engines/test_leaks.py)
BALL_TOLERANCE = 1e-14  # a formula in balls is cheap: the interval may end where doubles do (make bench)

# events.py, fallback_bounds.py
BITS_MORE, BITS_WANTED = 1024, 50  # where the first precision leaves fewer (tests/engines/test_events.py)
NARROWINGS = 24  # of the threshold, by golden sections (make fuzz)
TOP = 1e-9  # of the range of a loss: below its supremum by that much, an atom there is above (test_events.py)
TERMS_MAX = 8  # events are looked for term by term (make fuzz)
FALLBACK_TOLERANCE = 0.02  # of epsilon: the bounds themselves are wider than that (make fuzz)

# chernoff.py, parts.py
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
