"""What the closed form takes on: limits that weigh its time against that of the engines that follow.

None of them is needed for a bound to hold. `make bench` and `benchmarks/still.py` ('one use', 'engine closed_form')
show what moving one does to times.
"""

from __future__ import annotations

ATOMS_MAX = 200_000  # of a finite part in float64, times the cost of the other part's profile: a tenth of a second
ROW_ENTRIES_MAX = 2_000_000  # how often each atom of one use occurs in each of several: half a second
BALL_ATOMS_MAX = 50_000  # the same in balls: a second
HOCKEY_STICK_MAX = 60_000  # cost of one profile without a finite part: beyond, a contour answers sooner
BINOMIAL_MIN = 20_000  # uses of two atoms: below, listing the atoms is faster than a beta function
BINOMIAL_ROUGHLY = 1e-9  # where an epsilon to this share is good enough, others have it in milliseconds, not seconds
BINOMIAL_MAX = 10**18  # beyond, Arb's beta function takes long
