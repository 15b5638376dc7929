"""Bounds as the page shows them: doubles to draw by, and texts that were rounded outward to read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import Bound, ErrorBreakdown
from ..extend.documents import plain
from ..extend.result import Result, notes, why_wide
from ..extend.wording import rounded, short

BUDGET_DIGITS = 2


def ends(bound: Bound) -> dict[str, Any]:
    """Both ends: to draw by, and to read."""
    low, high = str(bound)[1:-1].split(", ")
    return {"low": plain(bound.lower), "high": plain(bound.upper), "lowText": low, "highText": high}


def point(x: float, bound: Bound) -> dict[str, Any]:
    """A point of a curve; what it stands at is exact."""
    return {"x": x, "xText": short(x), **ends(bound)}


def about(result: Result) -> dict[str, Any]:
    """An answer, how it came about, and what there is to know of it."""
    bound = result.bound
    certificate = bound.certificate
    assert certificate is not None
    return {
        **ends(bound),
        "engine": certificate.engine,
        "arithmetic": certificate.arithmetic,
        "direction": plain(certificate.direction),
        "relation": plain(certificate.relation),
        "reason": certificate.reason,
        "seconds": result.seconds,
        "ended": certificate.exhausted is not None,
        "wide": why_wide(bound, _spoken),
        "notes": [*notes(result.quantity, bound, result.direction), *filter(None, [certificate.assurance])],
        "budget": budget(certificate.budget),
    }


def wide(bounds: Iterable[Bound]) -> str | None:
    """Why some of these are wide, in a line; None where none is."""
    lines = {line for bound in bounds if (line := why_wide(bound, _spoken)) is not None}
    return min(lines) if lines else None


def budget(spent: ErrorBreakdown) -> list[dict[str, Any]]:
    """What each source of error took, above and below, the widest first; texts are rounded up."""
    rows = [(name, spent.upper.get(name, 0.0), spent.lower.get(name, 0.0)) for name in {**spent.upper, **spent.lower}]
    return [
        {
            "source": name.replace("_", " "),
            "above": above,
            "below": below,
            "aboveText": rounded(above, BUDGET_DIGITS, up=True),
            "belowText": rounded(below, BUDGET_DIGITS, up=True),
        }
        for name, above, below in sorted(rows, key=lambda row: -(row[1] + row[2]))
    ]


def _spoken(name: str, value: object) -> str:
    """An argument of a question that may narrow it, as the command line has it."""
    return f"--{name}" if value is True else f"--{name} {short(value) if isinstance(value, float) else value}"
