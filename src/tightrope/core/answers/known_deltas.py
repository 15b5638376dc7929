"""What certified deltas of one run say of each other: H(a), a = e^epsilon, falls and is convex, whatever the run.

H(a) = sup P(A) - a Q(A) over events, neighbours and directions is a supremum of lines: convex, H(0) = 1, its slope
between -1 and 0. With low_i <= H(a_i) <= up_i at some points:

- above: H(a) <= up_j for every a_j <= a, and H lies at or below the chord of (a_i, up_i), (a_k, up_k) between the two;
  (0, 1) is one of the points.
- below: H(a) >= low_j for every a_j >= a, H(a) >= 1 - a, and outside of two points H lies at or above the line through
  (a_i, low_i), the nearer one, and (a_j, up_j).

Where no real neighbours are known to reach a lower end it speaks of the dominating pair, whose H is the larger one: a
line below it rests on upper ends of the pair alone.

    with sharing(): ...     answers of one page or report know each other; inside another, that one goes on
Guarantee: both ends, rounded outward. Proof: docs/proofs/readings.md, section 6.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from flint import arb

from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values import compute_budget
from ..values.bound import Bound
from ..values.errors import agreed
from ..values.question import AUTO, Direction, Question, parsed
