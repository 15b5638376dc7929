"""The reference, made from the package each time that the site is built: no page of it can be older than the code."""

from __future__ import annotations

from collections.abc import Mapping

from . import command_line, errors, extend, python, readings, schemas


def pages() -> Mapping[str, str]:
    """By their paths below docs/."""
    return {
        **python.pages(),
        "reference/extend.md": extend.page(),
        "reference/readings.md": readings.page(),
        "reference/command_line.md": command_line.page(),
        "reference/schemas.md": schemas.page(),
        "reference/errors.md": errors.page(),
    }
