"""The sentences of an audit: what is refuted, what it rests on, and never that a claim is proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np

from ..core.mechanisms.base import Mechanism
from ..core.numerics.balls import BITS_START, lower_float, working_precision
from ..core.values.calls import rounded, short
from ..core.values.question import Relation
from .betting import CoinBets, RoundBets
from .claims import SlopeClaim
from .designs import MEMBERS, NO_COIN, ONE_RUN, RANDOM_SPLIT, RUNS, Settings
from .events import AuditEvent
from .evidence import Evidence, WeightedEvent
from .families import Family
from .many_runs import CountEvent, RankEvent
from .one_run import BOTH, IN, GuessEvent
from .result import AuditResult, AuditStatement, AuditTest
from .scores import Scored

SHOWN_DIGITS = 6
HALF_MIN = 100  # canaries, of which coins put exactly half in less than one time in twelve
GUESSES_TRIED_MAX = 10**6
FPRS_SHOWN = (0.001, 0.01, 0.1)  # of the description of a list without a coin


@dataclass(frozen=True)
class About:
    """What was asked, as the result repeats it."""

    design: str
    settings: Settings
    level: float
    delta: float | None
    neighbours: str
    claim: Mechanism | Family | tuple[float, float] | None
    data: Scored | None

    @property
    def claim_text(self) -> str:
        """The claim in words; empty without one."""
        if isinstance(self.claim, tuple):
            return f"({short(float(self.claim[0]))}, {short(float(self.claim[1]))})"
        if isinstance(self.claim, Family):
            return self.claim.text
        return "" if self.claim is None else repr(self.claim)

    @property
    def replaced(self) -> str:
        """Whom an (epsilon, delta) is about, where that is not a record that comes or goes."""
        return " for a replaced record" if self.neighbours == Relation.REPLACE.value else ""

    @property
    def confidence(self) -> str:
        """Such as 95 %."""
        return f"{(100 * Decimal(repr(self.level))).normalize():f} %"

    @property
    def doubt(self) -> str:
        """Such as 5 %."""
        return f"{(100 - 100 * Decimal(repr(self.level))).normalize():f} %"


def result(evidence: Evidence, statements: Sequence[AuditStatement], about: About, seconds: float) -> AuditResult:
    """The answer, in numbers and words."""
    by_name = {statement.about: statement for statement in statements}
    epsilon, claim, family = (by_name.get(name) for name in ("epsilon", "claim", "parameter"))
    gaussian = isinstance(about.claim, Family) and about.claim.gaussian
    refuted_from = family.value if family is not None and family.refuted else None
    return AuditResult(
        design=about.design,
        method=_method(evidence, statements),
        level=about.level,
        delta=about.delta,
        epsilon_lower=None if epsilon is None else (epsilon.epsilon if epsilon.refuted else 0.0),
        claim=about.claim_text,
        p_upper=None if claim is None else claim.p_upper,
        refuted=None if claim is None else claim.refuted,
        parameter=about.claim.parameter if isinstance(about.claim, Family) else None,
        refuted_from=refuted_from,
        mu_lower=None if not gaussian else 0.0 if refuted_from is None else inverse_below(refuted_from),
        tests=_tests(evidence, statements[-1]),
        statements=tuple(statements),
        sentences=tuple(_sentences(evidence, statements, about)),
        assumptions=tuple(_assumptions(evidence, about)),
        warnings=tuple(_warnings(evidence, about)),
        settings=_given(about),
        seconds=seconds,
        evidence=evidence,
        data=about.data,
    )


def described(data: Scored, level: float, asked: bool) -> AuditResult:
    """A list of members and others without a coin: what the attack found, and that it bounds nothing."""
    inside, outside = np.sort(data.inside), np.sort(data.outside)
    texts = [NO_COIN]
    if len(inside) and len(outside):
        for fpr in FPRS_SHOWN:
            most = int(fpr * len(outside))
            threshold = outside[len(outside) - 1 - most]
            share = np.count_nonzero(inside > threshold) / len(inside)
            false = np.count_nonzero(outside > threshold) / len(outside)
            texts.append(
                f"At a threshold that finds {share:.4g} of these members it accuses {false:.4g} of the others."
            )
    if asked:
        texts.append("Neither an epsilon nor a claim was audited.")
    return AuditResult(
        design=MEMBERS,
        method="none",
        level=level,
        delta=None,
        epsilon_lower=None,
        claim="",
        p_upper=None,
        refuted=None,
        parameter=None,
        refuted_from=None,
        mu_lower=None,
        tests=(),
        statements=(),
        sentences=tuple(texts),
        assumptions=(),
        warnings=(),
        settings={},
        data=data,
    )


def inverse_below(value: float) -> float:
    """1/value, rounded down."""
    with working_precision(BITS_START):
        from flint import arb

        return lower_float(1 / arb(value))


def _method(evidence: Evidence, statements: Sequence[AuditStatement]) -> str:
    names = list(dict.fromkeys("M1'" if _reversed(test.event) else test.event.method for test in evidence.tests))
    if any(statement.certificates for statement in statements):
        names.append("O4")
    if len(evidence.groups) > 1:
        names.append("Fisher")
    return ", ".join(names)


def _reversed(event: AuditEvent) -> bool:
    return isinstance(event, RankEvent) and event.reverse


def _tests(evidence: Evidence, statement: AuditStatement) -> tuple[AuditTest, ...]:
    found, place = [], 0
    for number, group in enumerate(evidence.groups):
        for test in group:
            event, p = test.event, statement.p_each[place]
            row = (event.method, number, event.place, event.count, event.trials, test.weight, p)
            found.append(AuditTest(*row, event.parameters))
            place += 1
    return tuple(found)


def _given(about: About) -> dict[str, Any]:
    settings = about.settings
    return {
        "coin": settings.coin,
        "sides": settings.sides,
        "tail": settings.tail,
        "ranks": list(settings.ranks),
        "stopping": settings.stopping,
        "seed": settings.seed,
        "neighbours": about.neighbours,
    }


def _sentences(evidence: Evidence, statements: Sequence[AuditStatement], about: About) -> list[str]:
    return [_sentence(evidence, statement, about) for statement in statements]


def _sentence(evidence: Evidence, statement: AuditStatement, about: About) -> str:
    seen = _seen(evidence, statement)
    if statement.about == "epsilon":
        assert statement.epsilon is not None
        assert statement.delta is not None
        delta = short(statement.delta)
        if not statement.refuted or statement.epsilon == 0.0:
            return (
                f"No epsilon above 0 is refuted at delta {delta}: {seen} is not rare enough under any of "
                f"them{_needed(evidence, statement, about, 'any')}. That is no proof of privacy; a better attack may "
                "refute more."
            )
        epsilon = rounded(statement.epsilon, SHOWN_DIGITS, up=False)
        return (
            f"At least epsilon {epsilon} at delta {delta}{about.replaced}, with {about.confidence} confidence: if this "
            f"were ({epsilon}, {delta})-private{about.replaced}, {seen} would happen with probability at most "
            f"{about.doubt}."
        )
    p = rounded(statement.p_upper, 2, up=True)
    if statement.about == "parameter":
        assert isinstance(about.claim, Family)
        name = about.claim.parameter
        if not statement.refuted or statement.value is None:
            return f"No {name} is refuted of {about.claim_text} (p at most {p}): that is no proof of any of them."
        value = rounded(statement.value, SHOWN_DIGITS, up=True)
        gaussian = f", so mu is at least {rounded(inverse_below(statement.value), SHOWN_DIGITS, up=False)}"
        return (
            f"{about.claim_text} with {name} {value} or more is REFUTED with {about.confidence} confidence"
            f"{gaussian if about.claim.gaussian else ''}: {seen} would happen with probability at most {about.doubt}. "
            "This is about that family of curves, and no other."
        )
    if statement.refuted:
        claim = f"{about.claim_text}{about.replaced}"
        return f"The claim {claim} is REFUTED at level {about.doubt}: p at most {p}, for {seen}."
    return (
        f"The claim {about.claim_text}{about.replaced} is not refuted (p at most {p}): that is no proof of the claim"
        f"{_needed(evidence, statement, about)}."
    )


def _seen(evidence: Evidence, statement: AuditStatement) -> str:
    """What the test saw that counts most."""
    if len(evidence.groups) > 1:
        return f"what was seen in {len(evidence.groups)} runs together"
    tests = evidence.tests
    best = evidence.best(statement.p_each)[0]
    event = tests[best].event
    if isinstance(event, RankEvent):
        inside, above = ("runs without", "below") if event.reverse else ("runs with", "above")
        others = "lowest score with it" if event.reverse else "highest score without"
        return f"{event.count} or more of {event.n1} {inside} the canary {above} rank {event.rank} of the {others}"
    if isinstance(event, CountEvent):
        return f"{event.count} or more of {event.n1} true and at most {event.false} of {event.n0} false accusations"
    if isinstance(event, GuessEvent):
        return f"{event.count} or more right out of {event.guesses} guesses"
    return "what was won by bets against it"


def _needed(evidence: Evidence, statement: AuditStatement, about: About, what: str = "it") -> str:
    """How good an attack would have to be, by the test that came nearest."""
    from fractions import Fraction

    tests = evidence.tests
    best = evidence.best(statement.p_each)[0]
    test = tests[best]
    if len(evidence.groups) > 1 or isinstance(test.event, RoundBets | CoinBets):
        return ""
    claim, limit = SlopeClaim(statement.slopes), test.limit(1 - Fraction(repr(about.level)))
    least = least_count(test, claim, limit)
    # Multipliers for other counts are not looked for: they may refute with a few less.
    by = "by its slopes one by one, " if statement.expression and isinstance(test.event, GuessEvent) else ""
    if least is None:
        all_of = f"{test.event.trials} of {test.event.trials}"
        return f"; {by}even {all_of} would not refute {what}{_more(test.event, claim, limit)}"
    if least <= test.event.count:
        return ""
    return f"; {by}an attack would have to be right {least} of {test.event.trials} times there to refute {what}"


def _more(event: AuditEvent, claim: SlopeClaim, limit: float) -> str:
    """How many guesses are needed if all of them are right; empty of other tests, and where no number is enough."""
    if not isinstance(event, GuessEvent):
        return ": more of them are needed"
    low, high = event.guesses, 2 * event.guesses
    while _p_all_right(event, high, claim) > limit:
        if high > GUESSES_TRIED_MAX:
            return ""
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _p_all_right(event, middle, claim) <= limit else (middle, high)
    return f": at least {high} guesses are needed, all of them right"


def _p_all_right(event: GuessEvent, guesses: int, claim: SlopeClaim) -> float:
    """Of so many guesses, about at least as many canaries."""
    canaries = max(event.canaries, guesses)
    return replace(event, canaries=canaries, guesses=guesses, count=guesses).p_upper(claim)


def least_count(test: WeightedEvent, claim: SlopeClaim, limit: float) -> int | None:
    """The least count of this test that its bounds refute a claim with; None where none does."""
    low, high = 0, test.event.trials
    if test.event.with_count(high).rough(claim) > limit:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if test.event.with_count(middle).rough(claim) <= limit else (middle, high)
    return high


def _assumptions(evidence: Evidence, about: About) -> list[str]:
    """What was random, what was fixed beforehand, and what the claim is about."""
    settings = about.settings
    texts = [_random(about)]
    texts.append(
        "a record is replaced by another"
        if about.replaced
        else "the canary is added or left out, and all else stays; a canary that is there several times is a group"
    )
    texts.append("canaries, the attack and its scores were chosen without a look at who is in")
    texts.append(_fixed(evidence, settings))
    if about.data is not None and about.design != RUNS:
        pairs = " and pairs" if about.design == RANDOM_SPLIT else ""
        texts.append(
            f"equal scores{pairs} are put in an order drawn with the seed {settings.seed}, whoever is in; no other "
            "seed was tried before"
        )
    if about.delta is not None:
        texts.append(f"delta {short(about.delta)} and the level were fixed before the data")
    if isinstance(about.claim, Family):
        texts.append("what is said of its noise holds if the run is one of this family, with all else as written")
    if len(evidence.groups) > 1:
        texts.append(
            f"the {len(evidence.groups)} runs are independent of each other, with new coins in each; their p-values "
            "are joined as Fisher does"
        )
    texts.append("each statement holds by itself with this confidence, not all of them together")
    return texts


def _random(about: About) -> str:
    if about.design == RUNS:
        return (
            "the runs are independent of each other, alike but for the canary, and each gives one score; none that was "
            "made is left out"
        )
    if about.design == RANDOM_SPLIT:
        return "the members are a uniformly random part of one pool, which was fixed before; each is paired at random"
    coin = short(about.settings.coin)
    return (
        f"each canary was put in by a coin of its own with probability {coin}, independent of all else; all canaries "
        "whose coins were tossed are counted"
    )


def _fixed(evidence: Evidence, settings: Settings) -> str:
    """Which tests there are, and how they share the error probability."""
    tests = evidence.groups[0]
    event = tests[0].event
    if settings.stopping:
        return "the order of the rows is that in which they came; one may look at any time, and stop"
    if isinstance(event, CountEvent):
        return "the threshold was fixed before the data"
    if isinstance(event, GuessEvent) and len(tests) == 1:
        kinds = {BOTH: "in or out", IN: "in alone"}.get(event.sides, "out alone")
        return f"the number of guesses ({event.guesses}, {kinds}) was fixed before the run"
    places = ", ".join(dict.fromkeys(str(test.event.place) for test in tests))
    what = "guesses" if isinstance(event, GuessEvent) else "ranks"
    sides = f" ({settings.sides})" if isinstance(event, GuessEvent) and about_sides(settings) else ""
    tails = ", at both ends" if settings.tail == "both" else ""
    return (
        f"{len(tests)} tests were fixed before the data and share the error probability equally: {what}{sides} "
        f"{places}{tails}"
    )


def about_sides(settings: Settings) -> bool:
    """Whether the guesses are of one kind."""
    return settings.sides != BOTH


def _warnings(evidence: Evidence, about: About) -> list[str]:
    found = []
    if about.data is not None:
        data, rows = about.data, len(about.data.scores)
        if len(np.unique(data.scores)) <= rows / 2:
            found.append(
                "half of the scores or more are equal to another: rows that are there twice count once, so leave "
                "copies out; an attack that tells equal scores apart refutes more"
            )
        if about.design == ONE_RUN and rows >= HALF_MIN and 2 * np.count_nonzero(data.member) == rows:
            found.append(
                "exactly half of the canaries are in: if their number was fixed, nobody tossed coins, and the design "
                "is a random split"
            )
    if about.design == ONE_RUN and about.data is None:
        found.append("a number of guesses that was picked after looking at several refutes nothing")
    return found
