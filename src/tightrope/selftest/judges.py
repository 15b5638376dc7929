"""One case, answered as users ask, and what each judge says of the answer.

balls         the same question in ball arithmetic: both intervals contain the truth, so they meet
enumeration   every outcome in exact fractions, where all laws are finite
checker       the proof of each end by tightrope verify, which knows the question alone
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from .. import Bound, Mechanism, UnsupportedMechanism, WorkExhausted, parse
from ..extend import result
from ..extend.questions import ARGUMENTS
from . import enumeration
from .cases import SelftestCase

ANSWER_SECONDS, BALLS_SECONDS, CHECKER_SECONDS = 2.0, 4.0, 6.0  # for each question


class Ruling(Enum):
    """What a judge says of an answer."""

    AGREES = "agrees"
    DIFFERS = "differs"
    SILENT = "cannot tell"  # and the words say why


@dataclass(frozen=True)
class Opinion:
    """A judge's ruling, in words too."""

    judge: str
    ruling: Ruling
    told: str


@dataclass(frozen=True)
class Judged:
    """An answer and the opinions on it; no bound where it was refused, and why."""

    case: SelftestCase
    bound: Bound | None
    refused: str
    opinions: tuple[Opinion, ...]
    seconds: float

    @property
    def failures(self) -> list[Opinion]:
        """Those of judges who differ."""
        return [opinion for opinion in self.opinions if opinion.ruling is Ruling.DIFFERS]

    @property
    def width(self) -> float:
        """Of the interval, relative to its upper end."""
        if self.bound is None or self.bound.lower == self.bound.upper:
            return 0.0
        return 1.0 - self.bound.lower / self.bound.upper


def judged(case: SelftestCase) -> Judged:
    """The answer and all opinions; whatever is raised that is no refusal is a failure too."""
    began = time.perf_counter()
    bound: Bound | None = None
    opinions: list[Opinion] = []
    refused = ""
    try:
        mechanism = parse(case.expression)
        bound = _asked(mechanism, case, proof=False, seconds=ANSWER_SECONDS)
        for name, judge in JUDGES.items():
            found = judge(mechanism, case, bound)
            opinions += [] if found is None else [Opinion(name, *found)]
    except (UnsupportedMechanism, WorkExhausted) as error:
        refused = str(error)
    except Exception as error:
        opinions.append(Opinion("raised", Ruling.DIFFERS, f"{type(error).__name__}: {error!s:.200}"))
    return Judged(case, bound, refused, tuple(opinions), time.perf_counter() - began)


def _asked(mechanism: Mechanism, case: SelftestCase, proof: bool, seconds: float) -> Bound:
    ask: Callable[..., Bound] = getattr(mechanism, case.quantity)
    return ask(case.given, proof=proof, seconds=seconds)


Found = tuple[Ruling, str] | None  # None where a judge has no say


def _by_balls(mechanism: Mechanism, case: SelftestCase, bound: Bound) -> Found:
    try:
        proven = _asked(mechanism, case, proof=True, seconds=BALLS_SECONDS)
    except (UnsupportedMechanism, WorkExhausted) as error:
        return Ruling.SILENT, str(error)
    meet = proven.lower <= bound.upper and bound.lower <= proven.upper
    return Ruling.AGREES if meet else Ruling.DIFFERS, f"in balls it is in [{proven.lower!r}, {proven.upper!r}]"


def _by_enumeration(mechanism: Mechanism, case: SelftestCase, bound: Bound) -> Found:
    if not case.uses:
        return None
    law = enumeration.outcomes(case.uses)
    contradiction = {"delta": enumeration.contradiction_of_delta, "epsilon": enumeration.contradiction_of_epsilon}
    told = contradiction[case.quantity](law, case.given, (bound.lower, bound.upper))
    return (Ruling.DIFFERS, told) if told else (Ruling.AGREES, f"{len(law):,} outcomes agree")


def _by_checker(mechanism: Mechanism, case: SelftestCase, bound: Bound) -> Found:
    from .. import verify

    asked = result.Result(repr(mechanism), case.quantity, {ARGUMENTS[case.quantity][0]: case.given}, bound)
    verification = verify(result.write([asked], several=False), seconds=CHECKER_SECONDS)
    ends = [verdict for answer in verification.answers for verdict in answer.verdicts]
    told = "; ".join(f"{end.end} end {end.verdict}{f', {end.why}' if end.why else ''}" for end in ends)
    if not verification.count("refuted"):
        return Ruling.AGREES if verification.proved else Ruling.SILENT, told
    deltas = [f"delta there is in [{end.found[0]!r}, {end.found[1]!r}]" for end in ends if end.found]
    return Ruling.DIFFERS, "; ".join([told, *deltas])


JUDGES: Mapping[str, Callable[[Mechanism, SelftestCase, Bound], Found]] = MappingProxyType(
    {"balls": _by_balls, "enumeration": _by_enumeration, "checker": _by_checker}
)
