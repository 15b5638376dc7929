"""What can be asked of a run: the rows of the package's own table of readings, and the two that all others rest on."""

from __future__ import annotations

import inspect

import tightrope as tr
from tightrope.core.metrics.ask import READINGS

from .words import documented, escaped, signature

FIRST = ("epsilon", "delta", "curve", "pdp", "loss_cdf", "loss_quantile", "loss_law", "tradeoff_curve", "risk")


def page() -> str:
    names = [*FIRST, *READINGS]
    lines = [
        "# What can be asked",
        "",
        "Every answer is a [Bound](answers.md#bound), or a table of them: two ends that contain the truth; of whom",
        "the lower end speaks, its [certificate](answers.md#certificate) says.",
        "What each says about an attacker, with examples and pictures: [readings of a guarantee](../readings.md).",
        "",
        "| reading | what it is |",
        "|---|---|",
    ]
    for name in names:
        first = (inspect.getdoc(getattr(tr.Mechanism, name)) or "").split("\n\n")[0]
        lines.append(f"| [{name}](#{name}) | {escaped(' '.join(first.split()))} |")
    parts = ["\n".join(lines) + "\n"]
    for name in names:
        method = getattr(tr.Mechanism, name)
        parts += [f"## {name}\n", signature(f"run.{name}", method, bound=True), documented(method) + "\n"]
    return "\n".join(parts)
