"""A comparison as text and as HTML: one line per method, the certified interval first."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..bound import why_wide
from ..calls import shortened
from ..digits import rounded, short, timed
from ..question import ARGUMENTS
from .methods import CERTIFIED_WHY, Kind

if TYPE_CHECKING:
    from .comparison import Comparison, Row

DIGITS = 6
TITLE_MAX = 160


Line = tuple[str, str, str, str, str, str]  # what a reader sees of a method: name, value, kind, distance, time, why


def lines(comparison: Comparison) -> list[Line]:
    """The certified interval, and the methods as they are sorted."""
    why = comparison.why or CERTIFIED_WHY
    first = "certified", str(comparison.truth), Kind.INTERVAL.value, "", timed(comparison.seconds), why
    return [first, *(_line(row, comparison.quantity) for row in comparison.rows)]


def text(
    comparison: Comparison,
    show: Callable[[str, object], str] = "{}={!r}".format,
    dimmed: Callable[[str], str] = str,
) -> str:
    """Aligned columns, and the reason beneath each line; show writes an argument that may narrow the interval."""
    rows = [
        ((name, value, ", ".join(filter(None, (kind, distance)))), seconds, why)
        for name, value, kind, distance, seconds, why in lines(comparison)
    ]
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _, _ in rows), strict=True)]
    shown = [title(comparison), ""]
    for cells, seconds, why in rows:
        padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        shown += [f"  {'  '.join(padded)}  {seconds:>9}", dimmed(f"    {why}")]
    wide = why_wide(comparison.truth, show)
    shown += [f"  wide: {wide}"] if wide is not None else []
    if any(row.late for row in comparison.rows):
        shown.append("  time ran out before every method could answer: give more seconds")
    shown += [f"  {assurance(comparison)}"] if assurance(comparison) else []
    return "\n".join(shown)


def html(comparison: Comparison, picture: bytes | None) -> str:
    """The picture, where there is one, above the table."""
    image = (
        "" if picture is None else f'<img src="data:image/png;base64,{b64encode(picture).decode()}" width="640"><br>'
    )
    return image + comparison.table.html() + assurance(comparison)


def title(comparison: Comparison) -> str:
    """The question, on one line."""
    return f"{heading(comparison)} of {shortened(comparison.title or comparison.expression, TITLE_MAX)}"


def heading(comparison: Comparison) -> str:
    """What is compared, such as epsilon at delta 1e-06."""
    return f"{comparison.quantity} at {ARGUMENTS[comparison.quantity][0]} {short(comparison.given)}"


def _line(row: Row, quantity: str) -> Line:
    if row.late:
        value = "-"
    elif row.silent:
        value = "inf" if quantity == "epsilon" else "1"
    elif row.kind is Kind.APPROXIMATION:
        value = f"{row.value:.{DIGITS}g}"
    else:
        value = rounded(row.value, DIGITS, up=True)  # a bound stays one when it is printed
    return row.method, value, row.kind.value, row.distance, timed(row.seconds), row.why


def assurance(comparison: Comparison) -> str:
    """How sure the certified interval is, where it rests on draws; else nothing."""
    return "" if comparison.truth.certificate is None else comparison.truth.certificate.assurance
