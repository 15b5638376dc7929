"""What the joint engine chooses: none of it is needed for a bound to hold.

Chosen with `benchmarks/still.py` ('one sample for several', 'engine joint'), by width and time.
"""

from __future__ import annotations

BACKWARDS = (2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)  # of epsilon: how far below, to prove a lower end
PREPARED = 0.5  # relative width asked for where what was prepared before will do
