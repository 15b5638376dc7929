"""The command line: text in, certified intervals out."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `tightrope` script."""
    from .app import run

    sys.exit(run(sys.argv[1:]))
