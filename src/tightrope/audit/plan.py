"""How many runs or canaries an audit needs, if the truth is a given run: by simulated audits.

Each audit draws scores of the best attack on one record, whose rates are those of the run's own trade-off curve: the
score of a record that is not in is uniform, and of one that is in Pr(score above the false positive rate x) = g(x).
It refutes by the same tests and bounds as `audit`.
Guarantee: none for the number; it is an estimate, and its power comes with an interval (Clopper and Pearson).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict, Unpack

import numpy as np

from ..core.mechanisms.base import Mechanism
from ..core.mechanisms.parameters import probability, real, whole
from ..core.numerics.enclosures import FloatArray
from ..core.text.expressions import parse
from ..core.values import compute_budget
from ..core.values.calls import checked, cut, rounded, short
from ..core.values.errors import InvalidParameter, WorkExhausted
from ..core.values.question import SECONDS, Direction, Relation
from .auditing import seconds_given
from .claims import SlopeClaim, private_claim
from .designs import ONE_RUN, RANDOM_SPLIT, RUNS, Settings, evidence_of_scores
from .evidence import Evidence
from .one_run import BOTH, IN
from .scores import Scored
from .wording import least_count

PLANNED = (RUNS, ONE_RUN, RANDOM_SPLIT)
AUDITS, AUDITS_QUICK = 400, 100
AUDIT_MIN, AUDIT_MAX = 20, 1 << 20
SIZE_NARROW = 1.1  # factor: so close the search comes
PLAN_DOUBT = 0.05  # of the interval of the power
RATES_PLANNED = 80  # of the trade-off curve
DRAW_WORK = 300.0  # units for each score


class PlanOptions(TypedDict, total=False):
    """How sure the audit has to be, and what the plan may cost."""

    power: float
    level: float
    most: int
    coin: float
    sides: str | None
    seed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PlannedSize:
    """So many of the simulated audits of this size refuted, and the interval for their share with 95 % confidence."""

    size: int
    refuted: int
    audits: int
    power_lower: float
    power_upper: float


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """An estimate: the size from which on audits refuted often enough; None where none up to the largest did.

    size counts runs, half of them with the canary; canaries; or records of a pool, half of them members. tried: each
    size that was simulated.
    """

    design: str
    truth: str
    epsilon: float
    delta: float
    power: float
    level: float
    size: int | None
    tried: tuple[PlannedSize, ...]

    @property
    def sentence(self) -> str:
        """What it says, as an estimate."""
        what = {RUNS: "runs, half of them with the canary", ONE_RUN: "canaries", RANDOM_SPLIT: "records in the pool"}
        claim = f"epsilon {short(self.epsilon)} at delta {short(self.delta)}"
        best = next((size for size in self.tried if size.size == self.size), self.tried[-1])
        seen = (
            f"{best.refuted} of {best.audits} simulated audits refuted it, a power between "
            f"{rounded(best.power_lower, 3, up=False)} and {rounded(best.power_upper, 3, up=True)} with 95 % confidence"
        )
        if self.size is None:
            return (
                f"Estimate: up to {best.size:,} {what[self.design]} are not enough to refute {claim} with probability "
                f"{short(self.power)} if the truth is {self.truth}; at that size {seen}."
            )
        return (
            f"Estimate: about {self.size:,} {what[self.design]} refute {claim} with probability {short(self.power)} if "
            f"the truth is {self.truth} and the attack is the best on each record: {seen}."
        )

    def __str__(self) -> str:
        return self.sentence


@checked
def plan_audit(
    truth: Mechanism | str,
    *,
    design: str,
    epsilon: float,
    delta: float,
    **options: Unpack[PlanOptions],
) -> AuditPlan:
    """How large an audit must be to refute epsilon at delta, if the truth is this run: an estimate by simulation.

    design: "runs", "one-run" or "random-split". power: the probability to refute that is wanted, 0.8. level: of the
    audit. most: the largest size that is tried. coin, sides, seed: as for audit. seconds: for all of it; the sizes
    tried until then are the answer. Attacks on real training find less than the best one: plan for more.
    """
    run = parse(truth) if isinstance(truth, str) else truth
    if not isinstance(run, Mechanism):
        raise InvalidParameter(f"truth must be a mechanism or its expression, not {cut(truth)}")
    if design not in PLANNED:
        raise InvalidParameter(f"design must be one of {', '.join(PLANNED)} to be planned, not {cut(design)}")
    if run.relation is Relation.REPLACE:
        raise InvalidParameter(
            "a plan draws the score of each record by itself: give the truth for a record that is added or left out"
        )
    claim = private_claim(epsilon, delta)
    power, level = probability("power", options.get("power", 0.8)), real("level", options.get("level", 0.95))
    if not 0.0 < power < 1.0 or not 0.5 <= level < 1.0:
        raise InvalidParameter(f"power must lie in (0, 1) and level in [0.5, 1), not {power!r} and {level!r}")
    seconds = seconds_given(options.get("seconds", SECONDS))
    sides = options.get("sides") or (BOTH if design == RANDOM_SPLIT else IN)
    settings = Settings(coin=probability("coin", options.get("coin", 0.5)), sides=sides)
    most = whole("most", options.get("most", AUDIT_MAX), least=AUDIT_MIN)
    with compute_budget.allowance(seconds):
        known = run.epsilon(delta)
        if known.upper <= epsilon:
            raise InvalidParameter(
                f"the truth has epsilon at most {rounded(known.upper, 6, up=True)} at delta {short(delta)}: no audit "
                f"refutes {short(epsilon)} but by chance; ask for a smaller epsilon"
            )
        draw = np.random.Generator(np.random.PCG64(options.get("seed", 0)))
        search = _SizeSearch(design, claim, 1 - Fraction(repr(level)), settings, draw, _curve(run))
        size = search.run(power, most)
    tried = tuple(search.tried[value] for value in sorted(search.tried))
    return AuditPlan(design, repr(run), float(epsilon), float(delta), power, level, size, tried)


def _curve(run: Mechanism) -> tuple[FloatArray, FloatArray]:
    """False and true positive rates of the best tests, about."""
    fprs = [0.0, *np.geomspace(1e-7, 0.1, RATES_PLANNED), *np.linspace(0.125, 1.0, 36)]
    tradeoffs = run.tradeoff_curve(fprs=fprs, direction=Direction.REMOVE)
    return np.array(fprs), np.maximum.accumulate(
        [1.0 - (bound.lower + bound.upper) / 2.0 for bound in tradeoffs.bounds]
    )


@dataclass
class _SizeSearch:
    """Sizes that were simulated, and how many audits of each refuted."""

    design: str
    claim: SlopeClaim
    alpha: Fraction
    settings: Settings
    draw: np.random.Generator
    curve: tuple[FloatArray, FloatArray]

    def __post_init__(self) -> None:
        self.tried: dict[int, PlannedSize] = {}

    def run(self, power: float, most: int) -> int | None:
        """Doubles until enough refute, then halves the gap by its logarithm; the end is simulated with care."""
        low, high, size = 0, 0, AUDIT_MIN
        try:
            while not high:
                if self.simulated(size, AUDITS_QUICK) >= power:
                    high = size
                elif size >= most:
                    return None
                else:
                    low, size = size, min(2 * size, most)
            while low and high > SIZE_NARROW * low:
                middle = round((low * high) ** 0.5)
                if not low < middle < high:
                    break
                low, high = (low, middle) if self.simulated(middle, AUDITS_QUICK) >= power else (middle, high)
            while self.simulated(high, AUDITS) < power and high < most:
                high = min(round(SIZE_NARROW * high) + 1, most)
            return high if self.tried[high].refuted >= power * self.tried[high].audits else None
        except WorkExhausted:
            if not self.tried:
                raise
            enough = [
                planned_size.size
                for planned_size in self.tried.values()
                if planned_size.refuted >= power * planned_size.audits
            ]
            return min(enough, default=None)

    def simulated(self, size: int, audits: int) -> float:
        """The share of audits of this size that refute."""
        from scipy import special

        least: list[int | None] = []
        refuted = 0
        for _ in range(audits):
            compute_budget.spend(DRAW_WORK * size)
            evidence = self._drawn(size)
            if not least:
                least = [least_count(test, self.claim, test.limit(self.alpha)) for test in evidence.tests]
            refuted += any(
                count is not None and test.event.count >= count
                for test, count in zip(evidence.tests, least, strict=True)
            )
        rest, half = audits - refuted, PLAN_DOUBT / 2.0
        lower = float(special.betaincinv(refuted, rest + 1, half)) if refuted else 0.0
        upper = float(special.betainccinv(refuted + 1, rest, half)) if rest else 1.0
        self.tried[size] = PlannedSize(size, refuted, audits, lower, upper)
        return refuted / audits

    def _drawn(self, size: int) -> Evidence:
        """Scores are 1 less the false positive rate at which a record would be accused."""
        fprs, tprs = self.curve
        if self.design == ONE_RUN:
            member = self.draw.random(size) < self.settings.coin
            member[:2] = True, False  # both kinds are needed
        else:
            member = np.arange(size) < size // 2
        place = self.draw.random(size)
        place[member] = np.interp(place[member], tprs, fprs)
        return evidence_of_scores(self.design, Scored(1.0 - place, member), self.settings)
