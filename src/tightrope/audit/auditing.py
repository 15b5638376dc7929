"""From what an attack saw to what is refuted: the largest epsilon, a claim, the noise of a family of runs.

Every number is certified at the claim that it names (evidence.py, certificates.py); nothing is proven of any mechanism
but that what was seen would be rare.
Reference: docs/proofs/audit.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from typing import TypedDict, Unpack

from ..core.mechanisms.base import Mechanism
from ..core.mechanisms.composition import named_relation
from ..core.mechanisms.parameters import flag, probability, real, whole
from ..core.text.expressions import has_unknown, parse, parse_template
from ..core.values import compute_budget
from ..core.values.calls import checked, cut
from ..core.values.errors import DataError, InvalidParameter, WorkExhausted
from ..core.values.question import SECONDS, Relation, relation_named
from . import designs, wording
from .betting import BET_EPSILONS, CoinBets, RoundBets
from .certificates import Multipliers, multipliers
from .claims import SlopeClaim, private_claim, run_claim, run_epsilons
from .designs import DESIGNS, MEMBERS, RANDOM_SPLIT, RUNS, Settings
from .evidence import Evidence, Verdict, at_most
from .families import Family, family_of
from .many_runs import CountEvent, RankEvent
from .one_run import BOTH, IN, SIDES, GuessEvent
from .result import AuditResult, AuditStatement
from .scores import Scored, read_scores

LEVEL = 0.95
SLOPES_RUNS, SLOPES_GUESSES = 32, 16
RARE_SHARE = 0.01  # times alpha over the number of records: where the slopes of a run end
PROGRAMS = 2  # tests for which the linear program is solved
FAMILY_NARROW = 1e-5
FAMILY_ROUNDS = 4

Claimed = Mechanism | str | tuple[float, float] | None


class AuditOptions(TypedDict, total=False):
    """How the tests are made, all of it fixed before the data; what was counted, where there are no scores."""

    level: float
    table: Sequence[int] | None
    guesses: Sequence[int] | None
    run: Iterable[object] | None
    canary: Iterable[object] | None
    coin: float
    sides: str | None
    tail: str
    ranks: Iterable[int] | None
    stopping: bool
    nan: str
    neighbours: str
    seed: int
    seconds: float


@checked
def audit(
    scores: str | PathLike[str] | Iterable[float] | None = None,
    member: Iterable[float] | None = None,
    *,
    design: str | None = None,
    claim: Claimed = None,
    delta: float | None = None,
    **options: Unpack[AuditOptions],
) -> AuditResult:
    """What the scores of an attack, or its counts, refute: the largest epsilon at delta, and a claim.

    scores, member: a row each for a run (design="runs") or a canary ("one-run", "random-split"), high where the attack
    believes that the record was in; or the path of a CSV or Parquet file with the columns score and member. design has
    no default, since it decides what may be concluded; "members" is a list without any coin, which bounds no epsilon.
    claim: a mechanism, its expression, (epsilon, delta), or an expression with ? for the noise (`refuted_from`).
    delta: of the largest epsilon that is refuted; that of the claim where it is (epsilon, delta).
    level: the confidence of each statement. table: TP, FP, FN, TN at a threshold fixed before. guesses: m canaries, r
    guesses, v right. run, canary: names, one for each score. coin: the chance of a canary to be in. sides: which
    guesses are made, "in" (the default), "out" or "both". tail: "high", "low" where members score low, "both" where
    that is not known. ranks: these tests in place of the grid. stopping: evidence that may be looked at after every run
    or coin, in the order of the rows. nan: "lowest" takes NaN for the lowest score. neighbours: "replace" where the
    record was replaced rather than left out. seed: of ties and pairs. seconds: for all of it.
    """
    began = time.perf_counter()
    if design not in DESIGNS:
        said = "" if design is None else f", not {cut(design)}"
        raise InvalidParameter(f"audit needs design{said}: {designs.EXPLAINED}")
    level = _level(options.get("level", LEVEL))
    with compute_budget.allowance(seconds_given(options.get("seconds", SECONDS))):
        settings = _settings(design, options)
        evidence, data = _seen(design, scores, member, settings, options)
        if design == MEMBERS:
            assert data is not None
            return wording.described(data, level, claim is not None or delta is not None)
        neighbours = _relation(design, options.get("neighbours", "add_remove"))
        wanted = _claimed(claim, design, neighbours)
        if delta is None and isinstance(wanted, tuple):
            delta = wanted[1]
        if delta is None and wanted is None:
            raise InvalidParameter("audit needs delta, of the epsilon that is asked for, or a claim to be refuted")
        if delta is not None:
            private_claim(0.0, delta)
        asked = _Audit(design, evidence, 1 - Fraction(repr(level)))
        statements = asked.statements(wanted, None if delta is None else float(delta))
    about = wording.About(design, settings, level, delta, neighbours, wanted, data)
    return wording.result(asked.evidence, statements, about, time.perf_counter() - began)


@dataclass(frozen=True)
class _Audit:
    """The evidence, and what is asked of it."""

    design: str
    evidence: Evidence
    alpha: Fraction

    def statements(
        self, claim: Mechanism | Family | tuple[float, float] | None, delta: float | None
    ) -> tuple[AuditStatement, ...]:
        """About epsilon, then about the claim; a run's own curve comes last, since it takes most of the time."""
        found = [] if delta is None else [self._epsilon(delta)]
        if isinstance(claim, tuple):
            found.append(self._stated("claim", private_claim(*claim), {}, *claim))
        elif isinstance(claim, Mechanism):
            slopes = self._run_claim(claim)
            found.append(self._stated("claim", slopes, self._programs(slopes)))
        elif isinstance(claim, Family):
            found.append(self._parameter(claim))
        return tuple(found)

    def _epsilon(self, delta: float) -> AuditStatement:
        found = self.evidence.largest(lambda value: SlopeClaim.private(value, delta), self.alpha)
        return self._stated("epsilon", SlopeClaim.private(found, delta), {}, found, delta)

    def _stated(
        self,
        about: str,
        claim: SlopeClaim,
        certificates: dict[int, Multipliers],
        epsilon: float | None = None,
        delta: float | None = None,
    ) -> AuditStatement:
        with compute_budget.uncounted():  # what is found is stated, also where time is up
            verdict = self.verdict(claim, certificates)
        refuted = Fraction(verdict.p) <= self.alpha
        if len(claim.slopes) > 1:
            with compute_budget.uncounted():
                fewer, kept = self._pruned(claim, certificates, verdict)
                again = self.verdict(fewer, kept)
            if not refuted or Fraction(again.p) <= self.alpha:
                claim, certificates, verdict = fewer, kept, again
        return AuditStatement(
            about,
            verdict.p,
            refuted,
            claim.slopes,
            verdict.each,
            claim.expression,
            epsilon,
            delta,
            certificates=certificates,
        )

    def _pruned(
        self, claim: SlopeClaim, certificates: dict[int, Multipliers], verdict: Verdict
    ) -> tuple[SlopeClaim, dict[int, Multipliers]]:
        """The slopes and multipliers that p rests on, which is all that anybody has to check."""
        used: set[int] = set()
        best = self.evidence.best(verdict.each)
        for index in best:
            used |= certificates[index].used if index in certificates else self.evidence.tests[index].event.used(claim)
        kept = sorted(used) or [0]
        return claim.only(kept), {index: certificates[index].only(kept) for index in best if index in certificates}

    def verdict(self, claim: SlopeClaim, certificates: dict[int, Multipliers]) -> Verdict:
        """With the multipliers of a linear program where there are any."""
        values = list(self.evidence.p_upper(claim).each)
        for test, found in certificates.items():
            event = self.evidence.tests[test].event
            assert isinstance(event, GuessEvent)
            values[test] = min(values[test], found.bound(event, claim))
        return self.evidence.joined(values)

    def _run_claim(self, run: Mechanism, epsilons: Sequence[float] = ()) -> SlopeClaim:
        guessed = any(isinstance(test.event, GuessEvent) for test in self.evidence.tests)
        records = max(_records(test.event) for test in self.evidence.tests)
        rare = RARE_SHARE * float(self.alpha) / records
        count = SLOPES_GUESSES if guessed else SLOPES_RUNS
        with compute_budget.part(0.5) as meter:
            seconds = max(meter.left / compute_budget.UNITS_PER_SECOND, 1e-3) if math.isfinite(meter.left) else SECONDS
            return run_claim(run, epsilons or run_epsilons(run, rare, count, seconds), seconds)

    def _programs(self, claim: SlopeClaim) -> dict[int, Multipliers]:
        """Multipliers of the tests that are nearest to a refutation, as far as there is time."""
        if len(claim.slopes) < 2:
            return {}
        with compute_budget.uncounted():
            values = self.evidence.p_upper(claim).each
        found = {}
        tests = self.evidence.tests
        order = sorted(range(len(tests)), key=lambda index: values[index] / tests[index].weight)
        for index in order[: max(PROGRAMS, len(self.evidence.groups))]:
            event = tests[index].event
            if not isinstance(event, GuessEvent) or values[index] >= 1.0:
                continue
            try:
                better = multipliers(event, claim)
                if better is not None and better.bound(event, claim) < values[index]:
                    found[index] = better
            except WorkExhausted:
                break
        return found

    def _parameter(self, family: Family) -> AuditStatement:
        """The least private value that is refuted: by bounds without a program, then with multipliers found there."""
        limit = at_most(self.alpha)
        fixed: Sequence[float] = ()
        if any(isinstance(test.event, CoinBets) for test in self.evidence.tests):
            raise InvalidParameter(
                "bets on coins refute a claim, and of a run with ? each value by itself: leave out stopping, or give "
                "the number"
            )
        if any(isinstance(test.event, RoundBets) for test in self.evidence.tests):
            fixed = BET_EPSILONS  # bets must not depend on the value, or what they refute is not nested
        claims: dict[float, SlopeClaim] = {}  # of each value that was tried

        def p_of(value: float, epsilons: Sequence[float], programs: dict[int, Multipliers]) -> float:
            claims[value] = self._run_claim(family.run(value), epsilons)
            return self.verdict(claims[value], programs).p

        weakest = family.weakest(lambda value: p_of(value, fixed, {}), limit)
        if weakest is None:
            return self._stated("parameter", claims[next(iter(claims))], {})
        epsilons = [slope.epsilon for slope in claims[weakest].slopes]
        certificates: dict[int, Multipliers] = {}
        for _ in range(FAMILY_ROUNDS):
            try:
                programs = self._programs(claims[weakest])
                if not programs:
                    break
                better = family.weakest(lambda value, held=programs: p_of(value, epsilons, held), limit, weakest)  # type: ignore[misc]
            except WorkExhausted:
                break
            if better is None:
                break
            certificates, gain, weakest = programs, abs(better / weakest - 1.0), better
            if gain < FAMILY_NARROW:
                break
        return replace(self._stated("parameter", claims[weakest], certificates), value=weakest)


def p_at(result: AuditResult, epsilon: float, delta: float | None) -> float:
    """Of an audit that was made here: documents hold no evidence."""
    if result.evidence is None:
        raise InvalidParameter("this audit bounds no epsilon: its design has no coin")
    delta = result.delta if delta is None else delta
    if delta is None:
        raise InvalidParameter("p_at needs delta: the audit had none")
    return result.evidence.p_upper(private_claim(epsilon, delta)).p


def _level(value: float) -> float:
    level = real("level", value)
    if not 0.5 <= level < 1.0:
        raise InvalidParameter(f"level must lie in [0.5, 1), such as 0.95, not {value!r}")
    return level


def seconds_given(value: float) -> float:
    """What a call may take, checked; what nobody asked for stays a rating of work, which no clock ends."""
    if isinstance(value, compute_budget.Rating):
        return value
    seconds = real("seconds", value)
    if not seconds > 0.0:
        raise InvalidParameter(f"seconds must be a number above 0 (inf for no end), not {value!r}")
    return seconds


def _settings(design: str, options: AuditOptions) -> Settings:
    """How the tests are made, checked."""
    sides = options.get("sides")
    if sides is None:
        sides = IN if design != RANDOM_SPLIT and options.get("guesses") is None else BOTH
    for name, value, known in (("sides", sides, SIDES), ("tail", options.get("tail", "high"), designs.TAILS)):
        if value not in known:
            raise InvalidParameter(f"{name} must be one of {', '.join(known)}, not {cut(value)}")
    ranks = tuple(whole("a rank", each, least=1) for each in options.get("ranks") or ())
    if len(set(ranks)) < len(ranks):
        raise InvalidParameter("each rank once: every test has its share of the error probability")
    return Settings(
        coin=probability("coin", options.get("coin", 0.5)),
        sides=sides,
        tail=options.get("tail", "high"),
        ranks=ranks,
        stopping=flag("stopping", options.get("stopping", False)),
        seed=whole("seed", options.get("seed", 0), least=0),
    )


def _seen(
    design: str,
    scores: str | PathLike[str] | Iterable[float] | None,
    member: Iterable[float] | None,
    settings: Settings,
    options: AuditOptions,
) -> tuple[Evidence, Scored | None]:
    """The evidence of scores or of counts, whichever were given."""
    table, guesses = options.get("table"), options.get("guesses")
    _refuse_unused(design, table is not None, table is not None or guesses is not None, settings, options)
    if sum(each is not None for each in (scores, table, guesses)) != 1:
        raise InvalidParameter("audit needs one of: scores and member, table=(TP, FP, FN, TN), guesses=(m, r, v)")
    if scores is not None:
        data = read_scores(scores, member, options.get("run"), options.get("canary"), options.get("nan", "refuse"))
        if design == MEMBERS:
            return Evidence(()), data
        return designs.evidence_of_scores(design, data, settings), data
    if design == MEMBERS:
        raise DataError(designs.NO_COIN)
    if table is not None:
        return designs.evidence_of_table(design, table, settings), None
    assert guesses is not None
    return designs.evidence_of_guesses(design, guesses, settings), None


def _refuse_unused(design: str, table: bool, counts: bool, settings: Settings, options: AuditOptions) -> None:
    """What is given and would not be looked at is refused."""
    given = {
        "coin": settings.coin != 0.5,
        "sides": options.get("sides") is not None,
        "tail": settings.tail != "high",
        "ranks": bool(settings.ranks),
        "stopping": settings.stopping,
        "nan": options.get("nan", "refuse") != "refuse",
        "run": options.get("run") is not None,
        "canary": options.get("canary") is not None,
    }
    for name in ("coin", "sides") if design == RUNS else ("sides",) if table else ():
        if given[name]:
            raise InvalidParameter(
                f"leave out {name}: it is about guesses in one run, and these are {design}, or a table"
            )
    for name in ("tail", "ranks", "stopping", "nan", "run", "canary") if counts else ():
        if given[name]:
            raise InvalidParameter(
                f"leave out {name}: it is about scores, and counts have one test, fixed before the data"
            )


def _claimed(claim: Claimed, design: str, neighbours: str) -> Mechanism | Family | tuple[float, float] | None:
    """The claim, and whether it is about what the design did to a record."""
    if claim is None or isinstance(claim, tuple):
        if isinstance(claim, tuple):
            if len(claim) != 2:
                raise InvalidParameter(f"a claim of two numbers is (epsilon, delta), not {cut(claim)}")
            (slope,) = private_claim(*claim).slopes
            return slope.epsilon, slope.remove
        return claim
    if isinstance(claim, str):
        found: Mechanism | Family = family_of(parse_template(claim)) if has_unknown(claim) else parse(claim)
    elif isinstance(claim, Mechanism):
        found = claim
    else:
        raise InvalidParameter(f"claim must be a mechanism, its expression or (epsilon, delta), not {cut(claim)}")
    run = found.run(found.start) if isinstance(found, Family) else found
    made = relation_named(neighbours)
    # A run that leaves the relation open has one order of its laws in all uses; a replaced record may meet either.
    if named_relation(run) not in (None, made):
        told = {Relation.REPLACE: "replaced a record", Relation.ADD_REMOVE: "added or left out a record"}
        remedy = (
            "write the claim for replaced records, such as .poisson(rate=0.01, neighbours='replace')"
            if made is Relation.REPLACE
            else "say neighbours='replace' if a record was replaced by another, or write the claim for added ones"
        )
        raise InvalidParameter(f"this audit {told[made]}, and the claim is about another relation: {remedy}")
    return found


def _relation(design: str, neighbours: object) -> str:
    """What was done to a record."""
    named = relation_named(neighbours)
    return (Relation.REPLACE if design == RANDOM_SPLIT else named).value


def _records(event: object) -> int:
    """How many records, or runs without the canary, an event is about."""
    if isinstance(event, GuessEvent):
        return event.canaries
    return max(event.n0, event.n1) if isinstance(event, RankEvent | CountEvent) else 1000
