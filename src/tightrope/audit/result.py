"""What an audit answers, as a value: numbers, each with the slopes and multipliers that prove it, and its sentences.

Guarantee: each statement by itself holds with the stated confidence; none of them says that a claim is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..core.values.bound import FrozenMapping
from ..documents import Date, plain, write_dated
from .certificates import Multipliers
from .claims import ClaimSlope

if TYPE_CHECKING:
    from os import PathLike

    from ..plotting.style import Axes, Figure
    from .evidence import Evidence
    from .scores import Scored

AUDIT_WIDTH = 110


@dataclass(frozen=True, slots=True)
class AuditTest:
    """One test that was fixed before the data: what was seen, and its share of the error probability.

    group: tests of one group share that; groups are independent runs. p is that of the claim, or without one that of
    (epsilon, delta)-privacy at the epsilon that was refuted. parameters: what the checker needs of it besides.
    """

    method: str
    group: int
    rank: int
    count: int
    trials: int
    weight: float
    p: float
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", FrozenMapping(self.parameters))

    def document(self) -> dict[str, Any]:
        """The test as JSON holds it, with what a checker needs of it."""
        names = ("method", "group", "rank", "count", "trials", "weight", "p")
        return {**{name: plain(getattr(self, name)) for name in names}, **plain(self.parameters)}


@dataclass(frozen=True, slots=True)
class AuditStatement:
    """A claim, the slopes that bound it, and a p-value that is at or above the probability of what was seen.

    about: "epsilon" (the largest that is refuted), "claim" (what was claimed) or "parameter" (of a family of runs).
    p_each: of each test. expression is empty for (epsilon, delta)-privacy; value is that of the parameter.
    certificates: multipliers of a linear program, by test.
    """

    about: str
    p_upper: float
    refuted: bool
    slopes: tuple[ClaimSlope, ...]
    p_each: tuple[float, ...]
    expression: str = ""
    epsilon: float | None = None
    delta: float | None = None
    value: float | None = None
    certificates: Mapping[int, Multipliers] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As JSON holds it: multipliers that are not 0, as slope, w and value."""
        return {
            "about": self.about,
            "statement": "curve" if self.expression else "eps-delta",
            "expression": self.expression,
            "epsilon": plain(self.epsilon),
            "delta": plain(self.delta),
            "value": plain(self.value),
            "p_upper": self.p_upper,
            "p_each": list(self.p_each),
            "refuted": self.refuted,
            "slopes": [{"epsilon": slope.epsilon, "remove": slope.remove, "add": slope.add} for slope in self.slopes],
            "certificates": [
                {"test": test, "phi": _sparse(multipliers.phi), "psi": _sparse(multipliers.psi)}
                for test, multipliers in self.certificates.items()
            ],
        }


@dataclass(frozen=True, slots=True, repr=False)
class AuditResult:
    """What was seen refutes this much, and no more is said.

    epsilon_lower: the largest epsilon that is refuted at delta, whatever the mechanism; 0 where none is, None where
    delta was not given. p_upper and refuted: of the claim. parameter, refuted_from: of a run with `?`, each value that
    is at least as private as this one is refuted; mu_lower: the same as mu, where the run is one Gaussian.
    evidence and data: what was seen, for pictures; they are in no document.
    """

    design: str
    method: str
    level: float
    delta: float | None
    epsilon_lower: float | None
    claim: str
    p_upper: float | None
    refuted: bool | None
    parameter: str | None
    refuted_from: float | None
    mu_lower: float | None
    tests: tuple[AuditTest, ...]
    statements: tuple[AuditStatement, ...]
    sentences: tuple[str, ...]
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    settings: Mapping[str, Any]
    seconds: float = field(default=0.0, compare=False)
    evidence: Evidence | None = field(default=None, compare=False)
    data: Scored | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", FrozenMapping(self.settings))

    def __str__(self) -> str:
        return self.page()

    def __repr__(self) -> str:
        return f"<Audit: {' '.join(self.sentences[:1])}>"

    def page(self, width: int = AUDIT_WIDTH) -> str:
        """The sentences, what they rest on, and warnings, in lines of at most this width."""
        lines = [fill(sentence, width, subsequent_indent="  ") for sentence in self.sentences]
        for name, notes in self._notes():
            lines += ["", name, *(fill(note, width, initial_indent="  - ", subsequent_indent="    ") for note in notes)]
        return "\n".join(lines)

    def _notes(self) -> list[tuple[str, tuple[str, ...]]]:
        named = [("What it rests on", self.assumptions), ("Look at this", self.warnings)]
        return [(name, notes) for name, notes in named if notes]

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences)
        notes = "".join(
            f"<p>{name}</p><ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>"
            for name, notes in self._notes()
        )
        return f"<div>{told}{notes}</div>"

    def p_at(self, epsilon: float, delta: float | None = None) -> float:
        """At or above the probability of what was seen under (epsilon, delta)-privacy; delta: that of the audit."""
        from .auditing import p_at

        return p_at(self, epsilon, delta)

    def document(self) -> dict[str, Any]:
        """As JSON holds it; schema/audit.json describes it."""
        return {
            "quantity": "audit",
            **{name: plain(getattr(self, name)) for name in ("design", "method", "level", "delta")},
            "epsilon_lower": plain(self.epsilon_lower),
            "claim": self.claim or None,
            "p_upper": self.p_upper,
            "claim_refuted": self.refuted,
            "parameter": self.parameter,
            "refuted_from": plain(self.refuted_from),
            "mu_lower": plain(self.mu_lower),
            "settings": plain(self.settings),
            "tests": [test.document() for test in self.tests],
            "statements": [statement.document() for statement in self.statements],
            "sentences": list(self.sentences),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "seconds": self.seconds,
        }

    def to_json(self, date: Date = None) -> str:
        """The document, dated, with a digest; `verify` and `tightrope verify` check it without a solver."""
        return write_dated(self.document(), date)

    def plot(
        self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None, panel: str | None = None
    ) -> Figure:
        """What was seen beside what the claim allows, side by side; panel: one of them.

        "roc": the attack on many runs, with a band below that holds at all thresholds at once; "guesses": right ones in
        one run, and the least that refute; "p": over epsilon at delta, with the level and the epsilon that is refuted.
        """
        from .picture import draw

        return draw(self, path, ax, panel)


def _sparse(rows: tuple[tuple[float, ...], ...]) -> list[list[float]]:
    return [[s, w, value] for s, row in enumerate(rows) for w, value in enumerate(row, 1) if value]
