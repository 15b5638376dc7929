"""One number at a time: epsilon at a delta, delta at an epsilon, and the number that meets a target."""

from __future__ import annotations

import time
from typing import Any

import tightrope as tr

from .. import Calibration, Target
from ..extend import result
from ..extend.questions import ARGUMENTS
from ..extend.result import Result
from ..extend.wording import short
from . import copies
from .asked import PageQuestion
from .shown import about, ends
from .views import Chart


def answer(asked: PageQuestion) -> Chart:
    """epsilon at delta, or delta at epsilon: the method that has the name of the question."""
    run, quantity = asked.run(), asked.kind
    (name,) = ARGUMENTS[quantity]
    given, began = asked.number(name), time.perf_counter()
    bound = getattr(run, quantity)(given, seconds=asked.seconds)
    found = Result(repr(run), quantity, {name: given}, bound, time.perf_counter() - began)
    drawn = {
        **about(found),
        "given": short(given),
        "label": run.label,
        "command": copies.command(quantity, asked.text, {name: given}),
        "python": copies.question(asked.text, quantity, {name: given}),
        "json": result.write([found], several=False),
    }
    return Chart(drawn, [found])


def calibrate(asked: PageQuestion) -> dict[str, Any]:
    """The least noise, or the most uses, that meet epsilon at delta; while a target is dragged, as far as it gets."""
    template = asked.template()
    epsilon, delta = asked.number("epsilon"), asked.number("delta")
    began = time.perf_counter()
    calibration = tr.calibrate(
        template,
        target=Target(epsilon=epsilon, delta=delta),
        parameter=template.parameter,
        integer=template.integer,
        seconds=asked.seconds,
    )
    taken = time.perf_counter() - began
    return {
        **_found(calibration),
        "text": copies.filled(asked.text, calibration.value),
        "seconds": taken,
        "command": copies.command("calibrate", asked.text, {"epsilon": epsilon, "delta": delta}),
        "python": copies.calibration(template, epsilon, delta),
        "json": result.calibration(calibration, taken),
    }


def _found(calibration: Calibration) -> dict[str, Any]:
    missed = calibration.missed
    return {
        "parameter": calibration.parameter,
        "value": calibration.value,
        "valueText": short(calibration.value),
        **ends(calibration.bound),
        "missed": None if missed is None else {"valueText": short(missed.value), **ends(missed.bound)},
        "ended": calibration.ended,
    }
