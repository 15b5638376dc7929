"""Answers as text and as JSON; schema/result.json describes the latter."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ..bound import Bound, why_wide
from ..calibrate import Calibration
from ..digits import timed
from ..errors import TightropeError

SCHEMA = 1
LINE_MOST = 400
INTERRUPTED = 130
PIPE_CLOSED = 141


@dataclass(frozen=True, slots=True)
class Shown:
    """One question with its bound."""

    expression: str
    quantity: str  # epsilon, delta or renyi
    given: str  # delta, epsilon or order
    value: float
    bound: Bound
    seconds: float
    only: str | None  # the direction asked for; None for the worse of both


def say(text: str) -> None:
    """Writes to standard output; a reader that went away ends the program quietly."""
    try:
        click.echo(text)
    except BrokenPipeError:
        # Python flushes standard output once more at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(PIPE_CLOSED) from None


def complain(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    line = " ".join(message.split())
    click.echo(f"tightrope: {line if len(line) <= LINE_MOST else line[:LINE_MOST] + ' ...'}", err=True)


def as_text(answer: Shown) -> str:
    """The interval first; how it came about, dimmed, beneath."""
    lines = [f"{answer.quantity} in {answer.bound} at {answer.given} {short(answer.value)}"]
    certificate = answer.bound.certificate
    about = [timed(answer.seconds)]
    if certificate is not None:
        about = [certificate.engine, certificate.arithmetic, f"direction {certificate.direction.value}", *about]
    lines.append(click.style("  " + ", ".join(about), dim=True))
    wide = why_wide(answer.bound, as_option)
    if wide is not None:
        lines.append(f"  wide: {wide}")
    if certificate is not None and answer.bound.lower == math.inf:
        lines.append(f"  note: {certificate.reason}")
    if answer.only is not None:
        lines.append(f"  note: direction {answer.only} only; the other one may cost more")
    if certificate is not None and not certificate.tight:
        lines.append("  note: the lower end is that of the dominating pair; the mechanism itself may lose less")
    lines += assured(answer.bound)
    return "\n".join(lines)


def as_option(name: str, value: object) -> str:
    """An argument of a Python call as an option."""
    if value is True:
        return f"--{name}"
    return f"--{name} {short(value) if isinstance(value, float) else value}"


def as_json(answers: Sequence[Shown], several: bool) -> str:
    """One object for one question; a list of results for several."""
    results = [_record(answer) for answer in answers]
    document = {"schema": SCHEMA, "results": results} if several else {"schema": SCHEMA, **results[0]}
    return json.dumps(document, allow_nan=False)


def assured(bound: Bound) -> list[str]:
    """A line on how sure the bound is, where it rests on draws."""
    words = "" if bound.certificate is None else bound.certificate.assurance
    return [f"  {words}"] if words else []


def calibration_text(found: Calibration, epsilon: float, delta: float, seconds: float) -> str:
    """The value, the mechanism with it and what that reaches; beneath, the value that misses."""
    filled = f"{found.parameter} = {short(found.value)}, {found.mechanism!r}"
    lines = [f"{filled}: epsilon in {found.bound} at delta {short(delta)}"]
    if found.missed is not None:
        lines.append(
            f"  {found.parameter} = {short(found.missed.value)} misses it: epsilon in {found.missed.bound}, "
            f"above {short(epsilon)}"
        )
    if found.ended is not None:
        lines.append(
            f"  {'no value was shown to miss it' if found.missed is None else 'it ended there'}: {found.ended}"
        )
    lines += assured(found.bound)
    certificate = found.bound.certificate
    about = [] if certificate is None else [certificate.engine, certificate.arithmetic]
    lines.append(click.style("  " + ", ".join([*about, timed(seconds)]), dim=True))
    return "\n".join(lines)


def calibration_json(found: Calibration, epsilon: float, delta: float, seconds: float) -> str:
    """The calibration as one object; schema/calibration.json describes it."""
    missed = found.missed
    document = {
        "schema": SCHEMA,
        "quantity": "calibration",
        "parameter": found.parameter,
        "value": _plain(found.value),
        "epsilon": epsilon,
        "delta": delta,
        "bound": {"lower": _plain(found.bound.lower), "upper": _plain(found.bound.upper)},
        "missed": None
        if missed is None
        else {"value": _plain(missed.value), "lower": _plain(missed.bound.lower), "upper": _plain(missed.bound.upper)},
        "confidence": None if found.bound.certificate is None else found.bound.certificate.confidence,
        "ended": found.ended,
        "expression": repr(found.mechanism),
        "seconds": seconds,
    }
    return json.dumps(document, allow_nan=False)


def short(value: float) -> str:
    """All digits of a double, without a needless .0."""
    return repr(value).removesuffix(".0")


def _record(answer: Shown) -> dict[str, Any]:
    certificate = answer.bound.certificate
    if certificate is None:
        raise TightropeError("this bound came without a certificate")
    return {
        "quantity": answer.quantity,
        "lower": _plain(answer.bound.lower),
        "upper": _plain(answer.bound.upper),
        answer.given: _plain(answer.value),
        "expression": answer.expression,
        "direction": certificate.direction.value,
        "tight": certificate.tight,
        "confidence": certificate.confidence,
        "seconds": answer.seconds,
        "certificate": {
            "engine": certificate.engine,
            "arithmetic": certificate.arithmetic,
            "reason": certificate.reason,
            "parameters": _plain(certificate.parameters),
            "budget": {"upper": _plain(certificate.budget.upper), "lower": _plain(certificate.budget.lower)},
            "widest": certificate.budget.widest or None,
            "exhausted": certificate.exhausted,
            "advice": _plain(certificate.advice),
        },
    }


def _plain(value: object) -> Any:
    """What JSON can hold: infinities as text, mappings and sequences by item, anything else as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
