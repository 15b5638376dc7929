"""The names an expression or a JSON document may use: the catalogue's mechanisms, and one row per transformation."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from inspect import Parameter, signature
from types import MappingProxyType
from typing import TypeVar

from ..mechanisms.allocation import RandomAllocation, ShuffledBatches
from ..mechanisms.base import Leaf, Mechanism
from ..mechanisms.best_of import BestOf
from ..mechanisms.composition import REFUSED, Transformation
from ..mechanisms.fixed_size import WithoutReplacement, WithReplacement
from ..mechanisms.groups import Group, Parallel
from ..mechanisms.poisson import Poisson, TruncatedPoisson
from ..mechanisms.shuffle import Shuffle
from ..values.calls import nearest, quoted
from ..values.errors import InvalidParameter
from . import catalogue

Made = TypeVar("Made", bound=Mechanism)


MECHANISMS: Mapping[str, type[Leaf]] = MappingProxyType(
    {name: make for name, make in vars(catalogue).items() if getattr(make, "example", "")}
)

# What the listing calls its sections, by what a mechanism says of itself.
SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "noise": "Noise on the result of a query",
        "selection": "The best of several candidates",
        "stability": "Results that are shown if they are stable",
        "local": "Reports of single users",
        "training": "Training, sums over time",
        "promises": "Whatever is known of a mechanism: its guarantee, or bounds on it",
        "laws": "Two laws of your own",
    }
)

# By the names of their methods.
TRANSFORMS: Mapping[str, type[Transformation]] = MappingProxyType(
    {
        "poisson": Poisson,
        "without_replacement": WithoutReplacement,
        "group": Group,
        "shuffle": Shuffle,
        "with_replacement": WithReplacement,
        "truncated_poisson": TruncatedPoisson,
        "shuffled_batches": ShuffledBatches,
        "best_of": BestOf,
        "random_allocation": RandomAllocation,
    }
)

# Those of several mechanisms, by the functions that make them.
JOINS: Mapping[str, type[Parallel]] = MappingProxyType({"parallel": Parallel})


@cache
def keywords(make: type[Mechanism]) -> tuple[Parameter, ...]:
    """What the constructor takes, in order, annotations as text; neither the base of a transformation nor a name."""
    given = (item for item in signature(make).parameters.values() if item.name not in ("base", "name"))
    return tuple(item.replace(annotation=re.sub(r"^InitVar\[(.*)\]$", r"\1", str(item.annotation))) for item in given)


def is_matrix(parameter: Parameter) -> bool:
    """Whether it takes a list of lists."""
    return str(parameter.annotation) in ("Matrix", "Matrix | None")


def usage(name: str, make: type[Mechanism]) -> str:
    """How a call is written, such as Gaussian(sigma, sensitivity=1.0)."""
    if name in JOINS:
        return f"{name}(a, b, ...)"
    items = (
        item.name if item.default is Parameter.empty else f"{item.name}={item.default!r}" for item in keywords(make)
    )
    return f"{name}({', '.join(items)})"


def check_arguments(name: str, make: type[Mechanism], given: Collection[str]) -> None:
    """Refuses keywords that the constructor does not take, and the absence of those it must have."""
    known = {item.name: item for item in keywords(make)}
    for keyword in given:
        if keyword not in known:
            raise InvalidParameter(
                f"{name} takes no {quoted(keyword)}; it takes {', '.join(known)}{nearest(keyword, known)}"
            )
    missing = [key for key, item in known.items() if item.default is Parameter.empty and key not in given]
    if missing:
        raise InvalidParameter(f"{name} needs {' and '.join(missing)}: {usage(name, make)}")


def find_mechanism(name: str) -> type[Leaf]:
    """The class of that name; an unknown one is refused with the nearest that is known."""
    if name == "compose":
        raise InvalidParameter("compose is for Python: in a text mechanisms are added, as in a + b * 10")
    if name not in MECHANISMS and isinstance(getattr(catalogue, name, None), type):
        raise InvalidParameter(f"{name} is given by functions, which no text can hold: build it in Python")
    if name not in MECHANISMS and nearest(name, JOINS):
        raise InvalidParameter(f"unknown mechanism {quoted(name)}{nearest(name, JOINS)}")
    if name not in MECHANISMS and not nearest(name, MECHANISMS):
        raise InvalidParameter(f"unknown mechanism {quoted(name)}; tightrope mechanisms lists all, by what they do")
    return _found("mechanism", name, MECHANISMS)


def find_transform(name: str) -> type[Transformation]:
    """The class behind a method; an unknown one is refused with the nearest that is known, or with the reason."""
    if name in REFUSED:
        raise InvalidParameter(f"there is no {name}: {REFUSED[name]}")
    return _found("transformation", name, TRANSFORMS)


def _found(kind: str, name: str, known: Mapping[str, type[Made]]) -> type[Made]:
    if name not in known:
        shown = f"; known: {', '.join(known)}"
        raise InvalidParameter(f"unknown {kind} {quoted(name)}{nearest(name, known) or shown}")
    return known[name]
