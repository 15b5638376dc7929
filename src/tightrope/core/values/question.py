"""A question as data: what is asked, how the answer is wanted, and what it may cost."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import ClassVar, Never, TypedDict

from .calls import short
from .compute_budget import Rating
from .errors import InvalidParameter

# Which datasets are neighbours, and which of the two is the first of a pair.


class Direction(Enum):
    """REMOVE is the pair (with the record, without it); ADD is (without, with)."""

    REMOVE = "remove"
    ADD = "add"

    @classmethod
    def _missing_(cls, value: object) -> Never:
        raise InvalidParameter(f"direction must be 'add' or 'remove', not {value!r:.40}")

    @property
    def opposite(self) -> Direction:
        """The other direction."""
        return Direction.ADD if self is Direction.REMOVE else Direction.REMOVE


class Relation(Enum):
    """What a transformation means by neighbours; leaf mechanisms leave it open."""

    ADD_REMOVE = "add_remove"
    REPLACE = "replace"


def relation_named(name: object) -> Relation:
    """The relation of this name."""
    known = {relation.value: relation for relation in Relation}
    if not isinstance(name, str) or name not in known:
        raise InvalidParameter(f"neighbours must be 'add_remove' or 'replace', not {name!r:.40}")
    return known[name]


def neighbours(relation: Relation | None) -> str:
    """The relation in words."""
    if relation is None:
        return "whatever each mechanism calls so: nothing is sampled"
    return {"add_remove": "one record is added or removed", "replace": "one record is replaced"}[relation.value]


def asked_directions(relation: Relation | None, direction: Direction | None) -> tuple[Direction, ...]:
    """The directions that a question looks at; under replacing both orders are one, and to ask for one is an error."""
    if relation is not Relation.REPLACE:
        return (Direction.REMOVE, Direction.ADD) if direction is None else (direction,)
    if direction is not None:
        raise InvalidParameter(
            f"direction must be left out, not {direction.value!r}: the run is about replacing a record, which has no "
            "direction, and one order of the two laws alone does not bound a composition"
        )
    return (Direction.REMOVE,)


AUTO = "auto"  # the engine is chosen
# What is given where a quantity is asked for: the arguments of its method, by their names.
ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "epsilon": ("delta",),
        "delta": ("epsilon",),
        "renyi": ("order",),
        "mean_loss": (),
        "loss_cdf": ("t",),
        "loss_quantile": ("p",),
        "pdp": ("epsilon",),
        "tradeoff": ("fpr",),
        "tpr": ("fpr",),
        "advantage": (),
        "total_variation": (),
        "bayes_accuracy": ("prior",),
        "posterior": ("prior", "fpr"),
        "reconstruction": ("baseline",),
        "gdp": ("delta_least",),
        "zcdp": ("order_most",),
    }
)
OF_LOSS = ("loss_cdf", "loss_quantile", "pdp")  # readings of the privacy loss itself
LESS_IS_WORSE = ("loss_cdf",)  # of two directions the smaller one counts
OF_ATTACKS = ("tradeoff", "tpr", "advantage", "total_variation", "bayes_accuracy", "posterior", "reconstruction")
PROBABILITIES = ("delta", "loss_cdf", "pdp", *OF_ATTACKS)
SIGNED = ("loss_quantile",)  # may be below 0
SECONDS = Rating(10.0)  # of work, where nobody says what a call may take


class EngineSettings(ABC):
    """An engine with settings of one's own, as `engine` takes it in place of a name: a frozen value."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, object]:
        """What the engine is prepared with beside the question; what is left out is chosen."""


class Manner(TypedDict, total=False):
    """How an answer is wanted, and what it may cost: the keywords that every search takes; see Question."""

    proof: bool
    engine: str | EngineSettings
    direction: Direction | str | None
    seconds: float


class Options(Manner, total=False):
    """The keywords of epsilon, delta and curve, and of what is read off them."""

    accuracy: float | None


class Plain(TypedDict, total=False):
    """The keywords of what is read off the moments, where no engine is chosen."""

    accuracy: float | None
    proof: bool
    direction: Direction | str | None
    seconds: float


class ReportOptions(TypedDict, total=False):
    """The keywords of a report: what stands at its head, those of risk, and how it is asked."""

    title: str | None
    system: str | None
    organisation: str | None
    author: str | None
    prior: float
    fpr: float
    baseline: float
    proof: bool
    direction: Direction | str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Question:
    """quantity: a key of ARGUMENTS. accuracy: relative width wanted, None where none is insisted on.

    proof: balls only. engine: auto, or the one insisted on, by name or with settings. direction: None for the worse of
    both. seconds: for all values that are asked for; by the clock too, unless they are the default.
    """

    quantity: str
    accuracy: float | None = None
    proof: bool = False
    engine: str | EngineSettings = AUTO
    direction: Direction | str | None = None
    seconds: float = SECONDS

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", parsed(self.direction))
        given: object = self.accuracy
        if isinstance(given, str) or (self.accuracy is not None and not 0.0 < self.accuracy < math.inf):
            raise InvalidParameter(f"accuracy must be a finite number above 0, not {self.accuracy!r}")
        if isinstance(self.seconds, bool) or not isinstance(self.seconds, (int, float)) or not self.seconds > 0.0:
            raise InvalidParameter(f"seconds must be a number above 0 (inf for no end), not {self.seconds!r}")

    @property
    def engine_name(self) -> str:
        """auto, or the engine insisted on."""
        return self.engine.name if isinstance(self.engine, EngineSettings) else self.engine

    @property
    def settings(self) -> Mapping[str, object]:
        """Those of the engine insisted on."""
        return self.engine.settings if isinstance(self.engine, EngineSettings) else MappingProxyType({})


def stated(quantity: str, arguments: Mapping[str, float]) -> str:
    """What is given, in words: at prior 0.1 and fpr 0.001; empty where nothing is."""
    told = " and ".join(f"{name} {short(arguments[name])}" for name in ARGUMENTS[quantity])
    return f" at {told}" if told else ""


def parsed(direction: Direction | str | None) -> Direction | None:
    """A direction by its name; None for both."""
    return None if direction is None else Direction(direction)
