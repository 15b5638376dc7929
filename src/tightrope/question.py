"""A question as data: what is asked, how the answer is wanted, and what it may cost."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, TypedDict

from .errors import InvalidParameter
from .relation import Direction

AUTO = "auto"  # the engine is chosen
# What is given where a quantity is asked for.
GIVEN = MappingProxyType(
    {
        "epsilon": "delta",
        "delta": "epsilon",
        "renyi": "order",
        "loss_cdf": "t",
        "loss_quantile": "p",
        "pdp": "epsilon",
    }
)
OF_LOSS = ("loss_cdf", "loss_quantile", "pdp")  # readings of the privacy loss itself
LESS_IS_WORSE = ("loss_cdf",)  # of two directions the smaller one counts
PROBABILITIES = ("delta", "loss_cdf", "pdp")
SIGNED = ("loss_quantile",)  # may be below 0
SECONDS = 10.0  # what a call may take where nobody says


class EngineSettings(ABC):
    """An engine with settings of one's own, as `engine` takes it in place of a name: a frozen value."""

    __slots__ = ()
    name: ClassVar[str]

    @property
    @abstractmethod
    def settings(self) -> Mapping[str, object]:
        """What the engine is prepared with beside the question; what is left out is chosen."""


class Manner(TypedDict, total=False):
    """How an answer is wanted, and what it may cost: the keywords that every question takes; see Question."""

    proof: bool
    engine: str | EngineSettings
    direction: Direction | str | None
    seconds: float


class Options(Manner, total=False):
    """The keywords of epsilon, delta and curve."""

    accuracy: float | None


@dataclass(frozen=True, slots=True)
class Question:
    """quantity: a key of GIVEN. accuracy: relative width wanted, None where none is insisted on.

    proof: balls only. engine: auto, or the one insisted on, by name or with settings. direction: None for the worse of
    both. seconds: for all values that are asked for.
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


def parsed(direction: Direction | str | None) -> Direction | None:
    """A direction by its name; None for both."""
    return None if direction is None else Direction(direction)
