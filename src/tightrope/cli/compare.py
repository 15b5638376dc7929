"""The command that answers why two accountants differ."""

from __future__ import annotations

import json
import math
from decimal import ROUND_CEILING, Context, Decimal

import click

from ..compare.comparison import Comparison, Row, growth
from ..compare.comparison import compare as compared
from ..errors import InvalidParameter
from .output import SCHEMA, assured, say, short
from .spinner import spinner

COUNTS_MOST = 60


@click.command("compare")
@click.argument("expression", metavar="EXPR")
@click.option("--delta", type=float, help="Compare epsilons at this delta.")
@click.option("--epsilon", type=float, help="Compare deltas at this epsilon.")
@click.option("--plot", "picture", metavar="FILE", help="Draw the answers as .png, .pdf or .svg.")
@click.option("--over", "counts", metavar="COUNTS", help="Growth with the count: 1,10,100 times EXPR.")
@click.option("--json", "as_document", is_flag=True, help="Answer as JSON.")
def compare(
    expression: str,
    delta: float | None,
    epsilon: float | None,
    picture: str | None,
    counts: str | None,
    as_document: bool,
) -> int:
    """Every known method on one run: what each says, what kind of statement it is, how far off, and why.

    \b
    tightrope compare "Gaussian(sigma=1).poisson(rate=0.01) * 1000" --delta 1e-6
    tightrope compare "Laplace(scale=200)" --delta 1e-4 --over 1,8,64,512 --plot growth.png
    """
    from ..plot import check_path
    from .app import read

    if picture is not None:
        check_path(picture)
    times = None if counts is None else _counts(counts)
    run = read(expression)
    with spinner("every method in turn"):
        found = (compared(run, delta, epsilon),) if times is None else growth(run, times, delta, epsilon)
    if picture is not None:
        from ..compare.drawing import draw_comparison, draw_growth

        if times is None:
            draw_comparison(found[0], picture)
        else:
            draw_growth(found, times, str(run), picture)
    if as_document:
        records = [_record(each) for each in found]
        say(json.dumps({"schema": SCHEMA, **({"results": records} if times else records[0])}, allow_nan=False))
    else:
        say("\n\n".join(map(_text, found)))
    return 0


def _counts(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        raise InvalidParameter(f"--over takes whole numbers such as 1,10,100, not {text!r:.60}") from None
    if len(counts) > COUNTS_MOST:
        raise InvalidParameter(f"--over takes at most {COUNTS_MOST} counts, not {len(counts)}")
    return counts


def _text(comparison: Comparison) -> str:
    """One line per method, the reason beneath, dimmed."""
    other = "delta" if comparison.quantity == "epsilon" else "epsilon"
    truth = comparison.truth
    lines = [
        f"{comparison.quantity} at {other} {short(comparison.given)} of {comparison.title or comparison.expression}",
        "",
    ]
    from ..compare.methods import CERTIFIED_WHY, Kind

    lines += _entry("certified", str(truth), Kind.INTERVAL.value, "", CERTIFIED_WHY)
    for row in comparison.rows:
        lines += _entry(row.method, _shown(row, comparison.quantity), row.kind.value, row.distance, row.why)
    return "\n".join([*lines, *assured(truth)])


def _entry(name: str, value: str, kind: str, distance: str, why: str) -> list[str]:
    head = f"  {name:<24}{value:<34}{kind}" + (f", {distance}" if distance else "")
    return [head, click.style(f"    {why}", dim=True)]


def _shown(row: Row, quantity: str) -> str:
    if row.distance == "says nothing":
        return "inf" if quantity == "epsilon" else "1"
    from ..compare.methods import Kind

    if row.kind is Kind.APPROXIMATION:
        return f"{row.value:.6g}"
    # A bound stays one when it is printed.
    rounded = Context(prec=6, rounding=ROUND_CEILING).create_decimal(Decimal(row.value))
    return f"{float(rounded):.6g}"


def _record(comparison: Comparison) -> dict[str, object]:
    other = "delta" if comparison.quantity == "epsilon" else "epsilon"
    return {
        "quantity": comparison.quantity,
        other: comparison.given,
        "expression": comparison.expression,
        "lower": _plain(comparison.truth.lower),
        "upper": _plain(comparison.truth.upper),
        "confidence": None if comparison.truth.certificate is None else comparison.truth.certificate.confidence,
        "methods": [
            {
                "method": row.method,
                "value": _plain(row.value),
                "kind": row.kind.value,
                "distance": row.distance,
                "why": row.why,
            }
            for row in comparison.rows
        ],
    }


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
