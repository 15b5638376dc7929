"""The public surface as a text, one line for each thing that somebody may rely on: tests/reference/api.txt.

`python -m release.api` writes it anew. A change of the interface is a change of that file, which people read before it
is released; docs/stability.md says what each kind of change needs.
"""

from __future__ import annotations

from pathlib import Path

from . import api_adapters, api_commands, api_formats, api_python

FILE = Path(__file__).resolve().parent.parent / "tests" / "reference" / "api.txt"
HEAD = """\
What is public, and pinned by tests/test_stability.py. Made by: python -m release.api
=... is a default that the docstring tells; what stands behind a lone * is given by name. docs/stability.md says what
is promised, and how each part of it may change."""


def surface() -> str:
    """All of it."""
    parts = (api_python, api_adapters, api_commands, api_formats)
    return "\n".join([HEAD, *(line for part in parts for line in part.told())]) + "\n"


if __name__ == "__main__":
    FILE.write_text(surface(), "utf-8")
