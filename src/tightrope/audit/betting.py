"""Evidence that may be looked at after every run, or every coin, and ended whenever one likes.

E1, many runs: round t has one run with the canary and one without. Before it a threshold is chosen from the past;
phi is 1 above it. N_t = prod_s (1 + c (phi(X_s) - a phi(Y_s) - H_remove(a))), 0 <= c <= 1/(a + 1), is a supermartingale
above 0, and so is the mean of several: P(ever N_t >= 1/alpha) <= alpha.
E2, one run: coins are revealed one by one. N = prod (1 + c (1{right} - q)), q = o/(1 + o), 0 <= c <= 1:
P(ever N_t >= 1/alpha) <= alpha + c B/(1 + o_0), o and B as for guesses (one_run.py), o_0 = o/a; of the mean of
several bets with the largest of their summands. p = 1/max_t N_t, of E2 with that summand, is valid at any stopping.
Guarantee: upper; the round is chosen in floats, and its N evaluated in balls.
Reference: docs/proofs/audit.md, section 10.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from flint import arb

from ..core.numerics.balls import BITS_START, upper_float, working_precision
from ..core.numerics.enclosures import FloatArray
from ..core.numerics.fp_environment import quiet
from ..core.values import compute_budget
from .claims import SlopeClaim
from .events import AuditEvent
from .one_run import GuessEvent

STAKES = (0.125, 0.25, 0.5, 1.0)  # of the largest stake
BET_EPSILONS = (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # log a, fixed before the data
PAST_SHARES = (0.0, 0.02, 0.1, 0.3)  # of the past scores without the canary, above the threshold
PENALTY_MAX = 0.002  # slopes of E2 whose summand is larger are not bet on
ROUND_WORK = 1e4  # units for each round
BET_WORK = 30.0  # units for each round and bet

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RoundBets(AuditEvent):
    """counts[i, t]: for the i-th rule of thresholds, after t rounds, of each of four outcomes so many.

    Outcomes: neither above, X alone, Y alone, both.
    """

    method: ClassVar[str] = "E1"
    counts: IntArray = field(compare=False, repr=False)
    rounds: int
    count: int

    @staticmethod
    def of(with_canary: FloatArray, without: FloatArray) -> RoundBets:
        """Rounds in the order of the scores, as many as there are pairs; thresholds from earlier rounds alone."""
        rounds = min(len(with_canary), len(without))
        counts = np.zeros((len(PAST_SHARES), rounds + 1, 4), dtype=np.int64)
        past: list[float] = []
        for t in range(rounds):
            compute_budget.spend(ROUND_WORK + t)  # the past moves over
            x, y = float(with_canary[t]), float(without[t])
            counts[:, t + 1] = counts[:, t]
            for rule, share in enumerate(PAST_SHARES):
                if past:
                    threshold = past[max(len(past) - 1 - int(share * len(past)), 0)]
                    counts[rule, t + 1, (x > threshold) + 2 * (y > threshold)] += 1
            _insert(past, y)
        return RoundBets(counts, rounds, rounds)

    @property
    def trials(self) -> int:
        return self.rounds

    @property
    def place(self) -> int:
        return self.rounds

    def p_upper(self, claim: SlopeClaim) -> float:
        size = (self.rounds + 1) * len(PAST_SHARES) * len(STAKES) * len(BET_EPSILONS)
        compute_budget.spend(BET_WORK * size)
        compute_budget.hold(16 * size)
        budgets = [claim.remove_at(epsilon) for epsilon in BET_EPSILONS]
        with quiet():
            logs = [
                self._logs(epsilon, h, stake)
                for epsilon, h in zip(BET_EPSILONS, budgets, strict=True)
                for stake in STAKES
            ]
            table = np.array(logs)  # bets, outcomes
            paths = np.einsum("rtk,bk->trb", self.counts.astype(float), table).reshape(self.rounds + 1, -1)
            best = int(np.argmax(np.logaddexp.reduce(paths, axis=1)))
        with compute_budget.uncounted(), working_precision(BITS_START):
            total = arb(0)
            for epsilon, h in zip(BET_EPSILONS, budgets, strict=True):
                a = arb(epsilon).exp()
                for stake in STAKES:
                    factors = [1 + stake / (a + 1) * (gain - h) for gain in (arb(0), arb(1), -a, 1 - a)]
                    for rule in range(len(PAST_SHARES)):
                        value = arb(1)
                        for factor, times in zip(factors, self.counts[rule, best], strict=True):
                            value *= factor ** int(times)
                        total += value
            bets = len(BET_EPSILONS) * len(STAKES) * len(PAST_SHARES)
            return min(upper_float(bets / total), 1.0)

    @staticmethod
    def _logs(epsilon: float, budget: float, stake: float) -> list[float]:
        a = float(np.exp(epsilon))
        return [float(np.log(1.0 + stake / (a + 1.0) * (gain - budget))) for gain in (0.0, 1.0, -a, 1.0 - a)]


@dataclass(frozen=True)
class CoinBets(AuditEvent):
    """right[t]: of the first t guesses, in an order that the scores decide, so many are right."""

    method: ClassVar[str] = "E2"
    right: IntArray = field(compare=False, repr=False)
    event: GuessEvent  # canaries, sides and coin; all guesses
    count: int

    @staticmethod
    def of(right: npt.NDArray[np.bool_], event: GuessEvent) -> CoinBets:
        """The guesses in the order in which their coins are revealed."""
        path = np.concatenate([[0], np.cumsum(right.astype(np.int64))])
        return CoinBets(path, event, int(path[-1]))

    @property
    def trials(self) -> int:
        return self.event.guesses

    @property
    def place(self) -> int:
        return self.event.guesses

    def p_upper(self, claim: SlopeClaim) -> float:
        compute_budget.spend(BET_WORK * len(self.right) * len(STAKES) * len(claim.slopes))
        with compute_budget.uncounted(), working_precision(BITS_START):
            # The odds of the coin alone are the least that there are: the summand does not fall as epsilon rises, so
            # that what is refuted is nested.
            bets = []
            for slope in claim.slopes:
                odds, budget = self.event.odds_and_budget(slope)
                bets.append((odds / (1 + odds), max(STAKES) * budget / (1 + odds * (-arb(slope.epsilon)).exp())))
            bets = [bet for bet in bets if bet[1] < PENALTY_MAX] or bets[-1:]
            # The mean of the bets may be all in the one of the least q, whose summand is the largest.
            penalty = max((value for _, value in bets), key=upper_float)
            best = self._best([float(q) for q, _ in bets])
            right, wrong = int(self.right[best]), best - int(self.right[best])
            total = arb(0)
            for q, _ in bets:
                for stake in STAKES:
                    total += (1 + stake * (1 - q)) ** right * (1 - stake * q) ** wrong
            return min(upper_float(len(bets) * len(STAKES) / total + penalty), 1.0)

    def _best(self, rates: list[float]) -> int:
        """Where the mean of the bets is largest, about."""
        right = self.right.astype(float)
        wrong = np.arange(len(right)) - right
        with quiet():
            paths = [right * np.log1p(c * (1.0 - q)) + wrong * np.log1p(-c * q) for q in rates for c in STAKES]
            return int(np.argmax(np.logaddexp.reduce(np.array(paths), axis=0)))


def _insert(past: list[float], value: float) -> None:
    from bisect import insort

    insort(past, value)
