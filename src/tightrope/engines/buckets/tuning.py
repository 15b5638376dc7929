"""What buckets choose: none of it is needed for a bound to hold, a bad choice costs width or time.

Chosen by width and time with `benchmarks/still.py` ('engine buckets') and `benchmarks/buckets.py` unless told
otherwise.
What an error term rests on stands beside its proof instead: bucket_list.py, leaf.py, compose.py, read.py.
"""

from __future__ import annotations

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

# Composition (leaf.py, compose.py).
GROWTH = 2.2  # squaring is worth it where one composition with itself grows B(infinity) by more (Fig. 10 of the paper)
STEEPER_MOMENTS = 14  # that bound the mass above n
# Rates at which what falls below -n is foreseen, times n log f of a leaf.
FALL_RATES, FLATTEST_FALL, STEEPEST_FALL = 24, 0.02, 340.0
CORNER_NOISE = 1e3  # a corner bucket below so many radii is not worth its error

# Words (written.py).
TREE_TEXT_MAX = 2000  # characters; longer trees are told by their ends
