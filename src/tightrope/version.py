"""The version, and how one installs it: documents tell them, and they may import nothing that is above them."""

from __future__ import annotations

__version__ = "0.1.0"

# What pip is given, and where that works. When an index has the package, these are "tightrope-dp" and "", and
# `python -m release.install` writes the same on the pages (docs/release.md).
FROM, WHERE = ".", " in Tightrope's clone"


def install_command(extra: str = "", *, upgrade: bool = False) -> str:
    """What somebody types who lacks the libraries of an extra: pip install '.[plot]' in Tightrope's clone."""
    given = f"'{FROM}[{extra}]'" if extra else FROM
    return f"pip install {'--upgrade ' if upgrade else ''}{given}{WHERE}"
