"""What adaptive lower bounds choose: none of it is needed for a bound to hold, a bad choice costs width or time.

Chosen by width and time for sampled Gaussians, Laplace noise and randomized response, 2 to 1000 uses.
"""

from __future__ import annotations

STATES_FIRST, STATES_MAX, PROOF_STATES_MAX = 128, 1 << 13, 1 << 9  # of the states that are looked at
STATES_EVERYWHERE = 1 << 11  # where one game serves many epsilons
USES_MAX = 1 << 10  # with a choice: what adapting gains over the best alternative is little from there on
GAIN_MIN = 1e-3  # relative: with less, a game was fine enough, since the next one would gain a quarter of it
SLOWER = 3.0  # times as long as the game before, with twice as many states
ADAPTIVE_SHARE, ADAPTIVE_UNITS = 0.6, 1.6e9  # of the work that is left, and in units: what another game may take
TAIL_RATIO, OUTSIDE_MIN = 1e-6, 1e-300  # of delta, and in any case: what may lie outside of the window
TAIL_FIRST = 1e-30  # the same where delta is not known
DELTA_FAR = 1e-290  # tails in float64 tell too little below
LOSS_FAR, STATES_NARROWEST = 600.0, 1e-9  # larger losses count as this; all states together span at least so much
LAW_LONGEST = 16.0  # than all states together: what the law of one use may be
ADAPTIVE_GUARD = 48  # bits of the masses that are left out
STARTS, AROUND = 8, 8.0  # states on either side of where the game begins, and around the best of the game before
SCALE, PROOF_SCALE = 8, 2  # edges of a rough picture between a loss and twice that, in float64 and in balls
SCALE_MIN, SCALE_MAX = -60, 10  # powers of two between which they lie
TILTS = 1e-3, 1e4, 29  # where Chernoff's bound of the ends is looked at: least, most, how many
CHOICE_UNITS = 1e3  # of work, for one state in whole numbers
USE_UNITS = 7e4  # the same for one use in float64, besides its products
PRODUCT_UNITS = 0.15  # of work, for one product in a long sum
