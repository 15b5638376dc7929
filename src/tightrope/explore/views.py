"""The charts of the page, one function each: a run and what is asked of it in, points with both ends out.

Every function gives what is drawn, and the same bounds as results, which make the document that is exported.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple

import tightrope as tr

from .. import Bound, Epochs, Mechanism, Tradeoffs, training
from ..extend.documents import plain
from ..extend.mechanisms import repeat
from ..extend.metrics import by_epoch, grid
from ..extend.numbers import complement
from ..extend.questions import Question
from ..extend.result import Result
from ..extend.wording import rounded
from . import copies
from .asked import PageQuestion
from .shown import ends, point, wide

PLACES_MAX = 240
ROUGH_PLACES, FINE_PLACES = 8, 61  # 60 cells: of a range such as [0, 3] the places are short decimals
STEP_ROWS = 24  # of a chart by steps
REPEATS = 10  # of a run that is not one thing many times
PINS_MAX = 20
# Of a trade-off: round ones, dense by their logarithm below a tenth and evenly above.
RATES = (
    0.0,
    *(float(f"{digit}e{power}") for power in range(-6, -1) for digit in (1, 1.5, 2, 3, 5, 7)),
    *(round(0.1 + 0.025 * index, 3) for index in range(37)),
)
RATES_ROUGH = 4  # of them one
BEND_DIGITS = 4
RATE_SEEN = 1e-3  # the width that is worth a word, of a rate


class Chart(NamedTuple):
    """What is drawn, and the results that it rests on."""

    drawn: dict[str, Any]
    results: list[Result]


def curve(asked: PageQuestion) -> Chart:
    """delta at equally spaced epsilons, and at those that were pinned."""
    run, began = asked.run(), time.perf_counter()
    start, stop = asked.number("from", 0.0), asked.number("to", 4.0)
    pinned = (number for number in asked.numbers("pins", PINS_MAX) if start <= number <= stop)
    places = sorted({*_grid(start, stop, _points(asked)), *pinned})
    found = run.curve(epsilons=places, seconds=asked.seconds)
    results = _results(run, "delta", "epsilon", list(found), began)
    return Chart({**_points_of(found.epsilons, found.bounds), **_copied(asked, "curve", places)}, results)


def steps(asked: PageQuestion) -> Chart:
    """epsilon at one delta as the run goes on: by steps, and by epochs where it is a training run."""
    run, delta, began = asked.run(), asked.number("delta"), time.perf_counter()
    rows = asked.whole("points", ROUGH_PLACES if asked.rough else STEP_ROWS, 1, PLACES_MAX)
    unit, epochs = _by_steps(run, delta, rows, asked.seconds)
    share = (time.perf_counter() - began) / max(len(epochs), 1)
    results = [
        Result(repr(part), "epsilon", {"delta": delta}, bound, share)
        for part, bound in zip(epochs.runs, epochs.bounds, strict=True)
    ]
    points = [
        {**point(float(count), bound), "epoch": epoch, "epochText": rounded(epoch, 6, up=False) if epoch else "0"}
        for count, epoch, bound in zip(epochs.steps, epochs.epochs, epochs.bounds, strict=True)
    ]
    return Chart({"points": points, "unit": unit, "notes": list(epochs.notes)}, results)


def tradeoff(asked: PageQuestion) -> Chart:
    """The least false negative rate, and the highest true positive rate, over false positive rates."""
    run, began = asked.run(), time.perf_counter()
    rates = RATES[::RATES_ROUGH] if asked.rough else RATES
    tradeoffs = run.tradeoff_curve(fprs=rates, seconds=asked.seconds)
    results = _results(run, "tradeoff", "fpr", list(tradeoffs), began)
    bends = (float(f"{bend:.{BEND_DIGITS}g}") for bend in tradeoffs.bends())  # near them, and short
    places = sorted({*tradeoffs.fprs, *(bend for bend in bends if 0.0 <= bend <= 1.0)})
    bounds = [tradeoffs.at(place) for place in places]
    hits = [complement(bound) for bound in bounds]
    drawn = {
        "points": [_rate(*each, tradeoffs) for each in zip(places, bounds, strict=True)],
        "hits": [_rate(*each, tradeoffs) for each in zip(places, hits, strict=True)],
        "wide": wide(bound for bound in tradeoffs.bounds if bound.width > RATE_SEEN),
        "command": copies.command("tradeoff", asked.text, {"fpr": list(rates)}),
        "python": copies.question(asked.text, "tradeoff_curve", {"fprs": list(rates)}),
    }
    return Chart(drawn, results)


def risk(asked: PageQuestion) -> Chart:
    """What a release may cost one person: numbers with a sentence each."""
    run, began = asked.run(), time.perf_counter()
    given = {name: asked.number(name) for name in ("prior", "fpr", "baseline", "delta")}
    found = run.risk(*given.values(), seconds=asked.seconds)
    share = (time.perf_counter() - began) / len(found.rows)
    results = [Result(repr(run), row.quantity, row.arguments, row.bound, share, row.direction) for row in found.rows]
    rows = [
        {"quantity": row.quantity.replace("_", " "), "number": row.number, "sentence": row.sentence, **ends(row.bound)}
        for row in found.rows
    ]
    drawn = {
        "rows": rows,
        "meant": list(found.meant),
        "assumed": list(found.assumed),
        "notCovered": list(found.not_covered),
        "axes": list(found.axis_names),
        "wide": wide(row.bound for row in found.rows),
        **_questioned(asked, "risk", given),
    }
    return Chart(drawn, results)


def compare(asked: PageQuestion) -> Chart:
    """What every other method says of epsilon at one delta."""
    run, delta, began = asked.run(), asked.number("delta"), time.perf_counter()
    comparison = tr.compare(run, delta=delta, seconds=asked.seconds)
    results = [Result(repr(run), "epsilon", {"delta": delta}, comparison.truth, time.perf_counter() - began)]
    rows = [
        {
            "method": row.method,
            "kind": row.kind.value,
            "value": None if row.silent else plain(row.value),
            "text": row.distance if row.silent else rounded(row.value, 6, up=True),
            "distance": row.distance,
            "why": row.why,
        }
        for row in comparison.rows
    ]
    options = {"delta": delta}
    drawn = {
        "truth": ends(comparison.truth),
        "why": comparison.why,
        "rows": rows,
        "command": copies.command("compare", asked.text, options),
        "python": copies.comparison(asked.text, delta),
    }
    return Chart(drawn, results)


def _rate(place: float, bound: Bound, asked: Tradeoffs) -> dict[str, Any]:
    """A point of a trade-off; what lies between the rates that were asked for says so."""
    return point(place, bound) | ({} if place in asked.fprs else {"between": True})


def _grid(start: float, stop: float, points: int) -> list[float]:
    """Equally spaced in the decimals of both ends, so that places read as people write them."""
    grid(start, stop, points, None)  # refuses what is no range
    first, last = Fraction(repr(start)), Fraction(repr(stop))
    return [float(first + (last - first) * index / (points - 1)) for index in range(points)]


def _points(asked: PageQuestion) -> int:
    return asked.whole("points", ROUGH_PLACES if asked.rough else FINE_PLACES, 2, PLACES_MAX)


def _points_of(places: Sequence[float], bounds: Sequence[Bound]) -> dict[str, Any]:
    return {"points": [point(*each) for each in zip(places, bounds, strict=True)], "wide": wide(bounds)}


def _results(
    run: Mechanism, quantity: str, argument: str, found: Sequence[tuple[float, Bound]], began: float
) -> list[Result]:
    expression, share = repr(run), (time.perf_counter() - began) / max(len(found), 1)
    return [Result(expression, quantity, {argument: place}, bound, share) for place, bound in found]


def _by_steps(run: Mechanism, delta: float, rows: int, seconds: float) -> tuple[str, Epochs]:
    """What is counted, and the run after some of it: epochs of a training run, uses of one mechanism, or all again."""
    if isinstance(run, training):
        return "steps", run.by_epoch(delta, rows=rows, seconds=seconds)
    part, count = run.parts[0]
    if len(run.parts) == 1 and count > 1:
        unit, base, most = f"uses of {part.label}", part, count
    else:
        unit, base, most = "times the whole run", run, REPEATS
    step = _round_step(most / min(rows, most))
    counts = dict.fromkeys([*range(step, most, step), most])
    parts: Any = [(0.0, each, repeat(base, each)) for each in counts]
    return unit, by_epoch(parts, Question("epsilon", seconds=seconds), delta)


def _round_step(least: float) -> int:
    """The next of 1, 2, 5, 10, 20, ...: places that several runs share."""
    power = int("1" + "0" * (len(str(ceil(least))) - 1))
    return next(each * power for each in (1, 2, 5, 10) if each * power >= least)


def _copied(asked: PageQuestion, verb: str, places: Sequence[float]) -> dict[str, str]:
    """The curve as a command and in Python, at the same epsilons."""
    start, stop, count = places[0], places[-1], len(places)
    if len({*places} - {*grid(start, stop, count, None)}):
        told: dict[str, object] = {"epsilons": list(places)}
        line = copies.command(verb, asked.text, {"epsilon": list(places)})
    else:
        told = {"start": start, "stop": stop, "points": count}
        line = copies.command(verb, asked.text, {"from": start, "to": stop, "points": count})
    return {"command": line, "python": copies.question(asked.text, verb, told)}


def _questioned(asked: PageQuestion, method: str, given: dict[str, float]) -> dict[str, str]:
    return {
        "command": copies.command(method, asked.text, given),
        "python": copies.question(asked.text, method, given),
    }
