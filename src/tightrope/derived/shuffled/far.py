"""Whether an event of the counts is rarer than every double, by Chernoff's bound.

Pr[score > 0] <= E e^(theta score) for every theta > 0, and the score is a sum over independent draws; P(E) <= p Pr[E].
Guarantee: upper. Proof: docs/proofs/shuffle.md, section 3.
"""

from __future__ import annotations

import math

from flint import arb

from .law import Chances, Counts, Scores

LOG_TINIEST = -745.0  # below log of the smallest double
SECTIONS = 80  # of a golden section


def gone(law: Counts, scores: Scores, chances: Chances) -> bool:
    """Whether p Pr[score > 0] is below every double."""
    # One draw of the three symbols, and what the others take away: scores of the symbols are those against "other".
    away = scores.gone / law.draws

    def log_bound(theta: arb) -> arb:
        first, second = chances.m * (theta * scores.tau).exp(), chances.m * (-theta * scores.y).exp()
        return law.draws * ((first + second + (1 - 2 * chances.m)).log() - theta * away) + law.epsilon.ball()

    low, high = -math.log(float(scores.y)) - 60.0, -math.log(float(scores.tau)) + 8.0
    for _ in range(SECTIONS):
        one, other = low + 0.382 * (high - low), low + 0.618 * (high - low)
        left, right = (float(log_bound(arb(value).exp()).mid()) for value in (one, other))
        low, high = (low, other) if left < right else (one, high)
        if min(left, right) < LOG_TINIEST - 50.0:
            break
    return bool(log_bound(arb(0.5 * (low + high)).exp()) < LOG_TINIEST)
