"""What the joint engine chooses: how fine the pairs around a product are, and when finer ones pay.

None of it is needed for a bound to hold. Chosen by width and time over the groups 'one sample for several' and
'engine joint' of benchmarks/still.py.
"""

from __future__ import annotations

# One use (once.py).
BACKWARDS = (2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)  # of epsilon: how far below, to prove a lower end
PREPARED = 0.5  # relative width asked for where what was prepared before will do

# Uses that are one pair between two numbers (bounds.py).
BOUNDS_FINEST, BOUNDS_ROUGHEST = 1e-7, 1e-3  # relative, of epsilon: the two numbers differ by more

# Several uses (engine.py).
POINTS_FIRST, JOINT_POINTS_MAX, PROOF_POINTS_MAX = 512, 1 << 16, 1 << 11  # of the law of a product
ROUNDS_MAX = 4
FIRST_AIM = 1e-3  # accuracy of the first compositions: they tell how fine the next ones must be
PLAN_SHARE = 0.25  # of the width: what the engines may leave open
TAIL_SHARE = 1e-4  # of the accuracy: what may go to infinite loss
TAIL_FIRST, TAIL_MIN = 1e-30, 1e-290  # the same where delta is not known, and in any case
SHALLOW = 1e-3  # of the tail before: the upper pair counted too much as infinite
FASTEST = 6.0  # times as many points as before: a round that time ends leaves the one before it
HELPS = 0.3  # of the width: less between the two pairs is not worth finer ones
ABOVE_SHARE = 0.5  # of the work: for the pairs above
WORK_SHARE = 0.3  # of the work that is left: what finer pairs may take

# The pairs around a product (bracket.py).
BLOCK = 4  # uses that become one law on a grid twice as coarse: a law of four uses is twice as wide
LOW_TAIL = 1e-22  # P-mass below: moved up, where it weighs no more than that
LOSS_MAX = 2000.0  # larger losses count as infinite above, and as this below
LONGER = 8  # than the whole law, in points: what one use may be
NARROWEST = 1e-6  # of the losses: a law of one atom needs no finer grid
TILTS = 1e-3, 1e4, 29  # where Chernoff's bound of the ends is looked at: least, most, how many
POINT = 2e4  # units of work, for the masses of a point in float64
