"""Certified numbers: an interval, and the certificate that says why it holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from .calls import outward, rounded
from .errors import InvalidParameter
from .question import Direction, Relation, neighbours

WIDE = 1e-3  # of the upper end: from here on an answer says why it is so wide
CLOCK = "ended by the clock"  # a parameter of certificates: the seconds that were asked for, which ended an answer
ERROR_SOURCES = ("discretisation", "truncation", "wrap_around", "quadrature", "rounding", "theorem")

BRIEFLY = MappingProxyType({Relation.ADD_REMOVE: "add/remove", Relation.REPLACE: "replace"})
SCALARS = (float, str, int)  # what most values are, and needs no look inside
Value = TypeVar("Value", covariant=True)
MaybeNone: TypeAlias = Any  # X | MaybeNone: None is possible, and who asks for an answer need not look for it


class FrozenMapping(Mapping[str, Value]):
    """The items of another mapping as they were, lists as tuples, also inside; equal to every mapping with the same.

    It cannot be changed, and can be hashed, copied and pickled as the values around it.
    """

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, Value]) -> None:
        self._items: dict[str, Any] = {
            key: value if type(value) in SCALARS else _frozen(value) for key, value in items.items()
        }

    def __getitem__(self, key: str) -> Value:
        value: Value = self._items[key]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


def frozen(items: Mapping[str, Value]) -> FrozenMapping[Value]:
    """The items as they are now; themselves where they cannot change."""
    return items if isinstance(items, FrozenMapping) else FrozenMapping(items)


def _frozen(value: object) -> object:
    """Lists and mappings inside too."""
    if type(value) in (list, tuple):
        return tuple(map(_frozen, cast(Sequence[object], value)))
    return FrozenMapping(value) if isinstance(value, dict) else value


def error_lines(**lines: float) -> Mapping[str, float]:
    """Every error source by name, in delta units; those not given are zero."""
    unknown = lines.keys() - ERROR_SOURCES
    if unknown:
        raise InvalidParameter(f"unknown budget line {sorted(unknown)[0]}; known: {', '.join(ERROR_SOURCES)}")
    return FrozenMapping({source: lines.get(source, 0.0) for source in ERROR_SOURCES}) if lines else NO_LINES


NO_LINES: Mapping[str, float] = FrozenMapping(dict.fromkeys(ERROR_SOURCES, 0.0))


@dataclass(frozen=True, slots=True)
class ErrorBreakdown:
    """How much delta each error source added above and took away below."""

    upper: Mapping[str, float] = field(default_factory=error_lines)
    lower: Mapping[str, float] = field(default_factory=error_lines)

    def __post_init__(self) -> None:
        object.__setattr__(self, "upper", frozen(self.upper))
        object.__setattr__(self, "lower", frozen(self.lower))

    @property
    def widest(self) -> str:
        """The source that adds most to the width; empty where none adds anything."""
        widths = self._widths()
        return max(widths, key=lambda name: widths[name]) if any(widths.values()) else ""

    def line(self, source: str) -> str:
        """What one source took, rounded up."""
        above, below = (rounded(side.get(source, 0.0), 2, up=True) for side in (self.upper, self.lower))
        return f"{source.replace('_', ' ')}, {above} above and {below} below"

    def __str__(self) -> str:
        """One line for each source that counts, the widest first."""
        widths = self._widths()
        lines = [self.line(name) for name in sorted(widths, key=lambda name: -widths[name]) if widths[name] > 0.0]
        return "\n".join(lines) or "no error to account for"

    def _widths(self) -> dict[str, float]:
        return {name: self.upper.get(name, 0.0) + self.lower.get(name, 0.0) for name in {**self.upper, **self.lower}}


@dataclass(frozen=True, slots=True)
class Certificate:
    """Who computed a bound, how, and what the interval accounts for.

    direction is the one that attains the upper end; None where a record is replaced. relation says which datasets are
    neighbours; None where nothing was sampled, so that each mechanism's own relation counts. tight says that one real
    pair of neighbours attains the dominating pair's profile, attained that real neighbours have at least what the lower
    end says: where neither is, the lower end speaks of the dominating pair only. confidence is the probability, over
    the draws that measured histograms rest on, with which the upper end holds; None without such. exhausted is what ran
    out before the interval was as narrow as wanted, time or memory; advice holds the arguments of a question that may
    narrow it. label is what names call the mechanism, such as GM1 * 3 + GM2; empty without.
    """

    engine: str
    arithmetic: str
    reason: str
    direction: Direction | None
    relation: Relation | None = None
    tight: bool = True
    attained: bool = True
    parameters: Mapping[str, object] = field(default_factory=dict)
    budget: ErrorBreakdown = field(default_factory=ErrorBreakdown)
    confidence: float | None = None
    exhausted: str | None = None
    advice: Mapping[str, object] = field(default_factory=dict)
    label: str = ""

    @property
    def directed(self) -> list[str]:
        """The direction in words, where there is one."""
        return [] if self.direction is None else [f"direction {self.direction.value}"]

    @property
    def beside(self) -> str:
        """What the first line of an answer says beside the interval: whose neighbours, and if the clock ended it."""
        told = [] if self.relation is None else [BRIEFLY[self.relation]]
        if CLOCK in self.parameters:
            told.append(f"ended by the clock after {self.parameters[CLOCK]} seconds")
        return f" ({'; '.join(told)})" if told else ""

    @property
    def assurance(self) -> str:
        """The confidence in words; empty where nothing was drawn."""
        if self.confidence is None:
            return ""
        if self.confidence == 0.0:
            return "no confidence stated: counts are taken as the laws"
        share = (100 * Decimal(repr(self.confidence))).normalize()
        return f"holds with {share:f} % confidence"

    @property
    def lower_end(self) -> str:
        """What the lower end speaks of."""
        if self.tight:
            return "that of the mechanism itself"
        if self.attained:
            return "what real neighbours lose; the upper end is that of the dominating pair"
        return "that of the dominating pair; the mechanism itself may lose less"

    @property
    def ends(self) -> str:
        """What the two ends speak of, whichever of them is the safe one."""
        if self.attained and not self.tight:
            return "the safe end is that of the dominating pair, the other one what real neighbours lose"
        return "both ends are those of the dominating pair; real neighbours have at most its delta at every epsilon"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", frozen(self.parameters))
        object.__setattr__(self, "advice", frozen(self.advice))

    def __str__(self) -> str:
        return "\n".join(f"{name + ':':<12} {text}" for name, text in self._lines())

    def _repr_html_(self) -> str:
        rows = (f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in self._lines())
        return f"<table>{''.join(rows)}</table>"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            ("engine", self.engine),
            ("arithmetic", self.arithmetic),
            ("neighbours", neighbours(self.relation)),
            *([] if self.direction is None else [("direction", self.direction.value)]),
            ("reason", self.reason),
            ("widest", self.budget.line(self.budget.widest) if self.budget.widest else str(self.budget)),
        ]
        if self.label:
            lines.insert(0, ("mechanism", self.label))
        if self.exhausted is not None:
            lines.append(("ended early", f"{self.exhausted} ran out"))
        if self.assurance:
            lines.append(("confidence", self.assurance))
        if "claimed" in self.parameters:
            lines.append(("rests on", str(self.parameters["claimed"])))
        if "remark" in self.parameters:
            lines.append(("note", str(self.parameters["remark"])))
        if not self.tight:
            lines.append(("not tight", self.ends))
        return lines


@dataclass(frozen=True, slots=True)
class Bound:
    """An interval that contains the true value, rounding included.

    float(bound) refuses: say .upper (what you must assume) or .lower, of which certificate.lower_end says whose it is.
    certificate is there in every answer; it is None where a bound was made by hand.
    """

    lower: float
    upper: float
    certificate: Certificate | MaybeNone = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))
        if math.isnan(self.lower) or math.isnan(self.upper):
            raise InvalidParameter("a bound cannot be NaN")
        if self.lower > self.upper:
            raise InvalidParameter(f"a bound needs lower <= upper, not [{self.lower!r}, {self.upper!r}]")

    @property
    def width(self) -> float:
        """upper - lower, rounded up; 0 for two equal infinities."""
        if self.lower == self.upper:
            return 0.0
        return math.nextafter(self.upper - self.lower, math.inf)

    @property
    def wide(self) -> str | None:
        """Why this is wider than 1e-3 of its upper end, or ended early, and what may help; None where neither is."""
        return why_wide(self, lambda name, value: f"{name}={value!r}")

    def __contains__(self, value: object) -> bool:
        return isinstance(value, (int, float)) and self.lower <= value <= self.upper

    def __float__(self) -> NoReturn:
        raise TypeError("a Bound is two numbers: use .upper (safe to promise) or .lower (certainly spent)")

    def __str__(self) -> str:
        """Both ends with the digits they share plus one, rounded outward."""
        for digits in range(2, 18):
            low, high = (rounded(end, digits, up) for end, up in ((self.lower, False), (self.upper, True)))
            if low != high and _width_grew(low, high, self):
                continue
            break
        return f"[{low}, {high}]"

    def __format__(self, spec: str) -> str:
        """Both ends by a format such as .3f, .2e, .4g, .1% or >30, rounded outward."""
        return outward(self.lower, self.upper, spec, str(self))

    def _repr_html_(self) -> str:
        about = self.certificate
        told = [] if about is None else [about.engine, about.arithmetic, *about.directed]
        told = [about.label, *told] if about is not None and about.label else told
        told += [about.assurance] if about is not None and about.assurance else []
        return f"<b>{self}</b>" + (f"<br><small>{escape(', '.join(told))}</small>" if told else "")


def why_wide(bound: Bound, show: Callable[[str, object], str]) -> str | None:
    """One line for a bound that is wide or ended early; show writes an argument of a question that may narrow it."""
    certificate = bound.certificate
    size = max(abs(bound.lower), abs(bound.upper))
    narrow = bound.width <= WIDE * size < math.inf or bound.lower == bound.upper
    if certificate is None or (narrow and certificate.exhausted is None):
        return None
    if certificate.budget.widest == "theorem" and certificate.exhausted is None:
        return (
            "the upper end is that of the dominating pair, the lower end what real neighbours lose; no more is proven"
        )
    if "limit" in certificate.parameters and certificate.exhausted is None:
        return f"{certificate.parameters['limit']}; no more is proven, and no seconds narrow it"
    why = "no engine came closer" if certificate.exhausted is None else f"{certificate.exhausted} ran out"
    if certificate.budget.widest:
        why += f", {certificate.budget.widest.replace('_', ' ')} is the widest part"
    tries = " or ".join(show(name, value) for name, value in certificate.advice.items())
    return f"{why}; {tries} may narrow it" if tries else f"{why}; nothing is known to narrow it"


def _width_grew(low: str, high: str, bound: Bound) -> bool:
    """Whether rounding to these digits made the interval more than ten times wider than it is."""
    printed = Decimal(high) - Decimal(low)
    return printed.is_finite() and printed > 10 * max(Decimal(bound.upper) - Decimal(bound.lower), Decimal(0))
