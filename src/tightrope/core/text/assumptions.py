"""What a number rests on, in sentences: neighbours, what each part of the run means, and what the ends speak of.

The notes are those that the command line prints beneath an answer.
"""

from __future__ import annotations

import math
import re
from inspect import getdoc

from ..mechanisms.base import Leaf
from ..mechanisms.composition import Transformation
from ..mechanisms.groups import Parallel
from ..mechanisms.training import LOADERS
from ..values.bound import Bound, Certificate
from ..values.question import OF_LOSS, Direction, neighbours
from .registry import JOINS, MECHANISMS, TRANSFORMS

OF_PAIR = "the loss is that of the dominating pair; that of real neighbours may be large more often, or less often"

_CALL = re.compile(r"\b(\w+)\(")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_SAMPLING = re.compile(r"\bsampling='(\w+)'")


def assumptions(expression: str, quantity: str, bound: Bound, only: Direction | None = None) -> list[str]:
    """All that the bound of this quantity rests on; only: the direction that was asked for, None for the worse."""
    certificate = bound.certificate
    told = [] if certificate is None else [f"neighbours: {neighbours(certificate.relation)}"]
    told += described(expression)
    if certificate is not None and "claimed" in certificate.parameters:
        told.append(f"rests on {certificate.parameters['claimed']}")
    told += notes(quantity, bound, only)
    if certificate is not None and certificate.assurance:
        told.append(certificate.assurance)
    return told


def notes(quantity: str, bound: Bound, only: Direction | None) -> list[str]:
    """What a user of this number should know: why it is infinite, a remark, one direction, what its ends speak of."""
    certificate = bound.certificate
    told = [] if only is None else [f"direction {only.value} only; the other one may cost more"]
    if certificate is None:
        return told
    if "remark" in certificate.parameters:
        told.insert(0, str(certificate.parameters["remark"]))
    if bound.lower == math.inf:
        told.insert(0, certificate.reason)
    return told if certificate.tight else [*told, spoken_of(quantity, certificate)]


def spoken_of(quantity: str, certificate: Certificate) -> str:
    """What the ends of a mechanism that is not tight speak of."""
    if quantity in OF_LOSS:
        return OF_PAIR
    least = "what is found at least" if quantity == "tradeoff" else "the lower end"
    return f"{least} is {certificate.lower_end}"


def described(expression: str) -> list[str]:
    """What each kind of part in the text means, and which neighbours it is about, by its own words."""
    text = _TEXT.sub("''", expression)
    known: dict[str, type[Leaf | Transformation | Parallel]] = {**MECHANISMS, **TRANSFORMS, **JOINS}
    names = dict.fromkeys(name for name in _CALL.findall(text) if name in known)
    told = [f"{name}: {str(getdoc(known[name])).splitlines()[0]} {known[name].relations}" for name in names]
    if "training" in names:
        loaders = _SAMPLING.findall(expression) or ["poisson"]
        told += [f"training: {LOADERS[loader].assumed}" for loader in dict.fromkeys(loaders) if loader in LOADERS]
    return told
