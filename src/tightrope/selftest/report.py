"""What came of a selftest: counts, failures with the command that does each again, the widest interval, the machine."""

from __future__ import annotations

import os
import platform
from collections import Counter
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .. import __version__
from ..extend.documents import plain
from ..extend.questions import ARGUMENTS, stated
from ..extend.wording import timed
from .judges import JUDGES, Judged, Ruling

LIBRARIES = ("numpy", "scipy", "python-flint")
SELFTEST_NARROW = 1e-6  # what answers aim at
TOLD_MAX = 160  # characters of an expression


@dataclass(frozen=True)
class Selftest:
    """The cases so far; prints as a page."""

    seed: int
    judged: tuple[Judged, ...] = ()
    seconds: float = 0.0

    def with_case(self, judged: Judged, seconds: float) -> Selftest:
        """With one more."""
        return replace(self, judged=(*self.judged, judged), seconds=seconds)

    @property
    def failures(self) -> list[Judged]:
        """Cases that a judge says are wrong."""
        return [judged for judged in self.judged if judged.failures]

    @property
    def refusals(self) -> int:
        """How many questions were not answered."""
        return sum(bool(judged.refused) for judged in self.judged)

    @property
    def widest(self) -> Judged:
        """The case with the widest interval, relative to its upper end."""
        return max(self.judged, key=lambda judged: judged.width)

    def rulings(self, judge: str) -> Counter[Ruling]:
        """How often a judge ruled what."""
        return Counter(
            opinion.ruling for judged in self.judged for opinion in judged.opinions if opinion.judge == judge
        )

    @property
    def title(self) -> str:
        """In one line."""
        failed = len(self.failures)
        cases = "1 case" if len(self.judged) == 1 else f"{len(self.judged):,} cases"
        told = "no failure" if not failed else "1 failure" if failed == 1 else f"{failed:,} failures"
        return f"{cases} of seed {self.seed} in {timed(self.seconds)}: {told}"

    def __str__(self) -> str:
        lines = [self.title]
        for judge in JUDGES:
            counts = self.rulings(judge)
            silent = f", {counts[Ruling.SILENT]:,} it cannot tell" if counts[Ruling.SILENT] else ""
            lines.append(
                f"  {judge + ':':<13} {counts[Ruling.AGREES]:,} agree, {counts[Ruling.DIFFERS]:,} differ{silent}"
            )
        lines.append(f"  {'refused:':<13} {self.refusals:,}")
        widest, narrow = self.widest, sum(judged.width <= SELFTEST_NARROW for judged in self.judged)
        lines.append(
            f"  {'widths:':<13} {narrow:,} at most {SELFTEST_NARROW:g} of the upper end; "
            f"the widest {widest.width:.2g}, {question(widest)}"
        )
        for failure in self.failures:
            lines += [f"  FAILED {question(failure)}"]
            lines += [f"    {opinion.judge}: {opinion.told}" for opinion in failure.failures]
            lines.append(f"    again: {failure.case.replay}")
        return "\n".join([*lines, f"  {', '.join(f'{name} {told}' for name, told in machine().items())}"])

    def document(self) -> dict[str, Any]:
        """As JSON holds it; schema/selftest.json describes it."""
        return {
            "quantity": "selftest",
            "seed": self.seed,
            "cases": len(self.judged),
            "seconds": self.seconds,
            "judges": {
                judge: {ruling.name.lower(): self.rulings(judge)[ruling] for ruling in Ruling} for judge in JUDGES
            },
            "refused": self.refusals,
            "failures": [_failure(failure) for failure in self.failures],
            "widest": {"width": self.widest.width, **_question(self.widest)},
            "machine": machine(),
        }


def question(judged: Judged) -> str:
    """What was asked and answered, in a line."""
    case, bound = judged.case, judged.bound
    text = case.expression if len(case.expression) <= TOLD_MAX else f"{case.expression[:TOLD_MAX]} ..."
    found = "no answer" if bound is None else f"in [{bound.lower!r}, {bound.upper!r}]"
    return f"case {case.number}: {case.quantity} {found}{stated(case.quantity, _arguments(judged))}, {text}"


def machine() -> dict[str, str]:
    """What all of this ran on."""
    found = {"tightrope": __version__, "Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return {**found, "on": f"{platform.platform()}, {os.cpu_count()} cores"}


def _arguments(judged: Judged) -> dict[str, float]:
    return {ARGUMENTS[judged.case.quantity][0]: judged.case.given}


def _question(judged: Judged) -> dict[str, Any]:
    ends = {} if judged.bound is None else {"lower": plain(judged.bound.lower), "upper": plain(judged.bound.upper)}
    asked = {"asked": judged.case.quantity, **plain(_arguments(judged))}
    return {"case": judged.case.number, "expression": judged.case.expression, **asked, **ends}


def _failure(judged: Judged) -> dict[str, Any]:
    told = {opinion.judge: opinion.told for opinion in judged.failures}
    return {**_question(judged), "told": told, "again": judged.case.replay}
