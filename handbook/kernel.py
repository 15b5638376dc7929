"""What runs beside the blocks of a page while the site is built: commands are typed, and what is printed is compared.

Imported by the first, hidden cell of each page (stage.py). Whatever goes wrong is written into a file (FAULTS) with its
place, for whoever builds the site: __main__.py shows it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from textwrap import indent
from traceback import format_exception_only
from typing import TYPE_CHECKING, Any

from handbook.blocks import Command, commands
from handbook.stage import FAULTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = "100"  # of tables in a console


class Changed(AssertionError):
    """A block printed something else than its page says."""

    def __init__(self, written: Sequence[str], came: Sequence[str]) -> None:
        parts = ("the page says", *(f"    {line}" for line in written or ["(nothing)"]))
        super().__init__("\n".join([*parts, "what came is", *(f"    {line}" for line in came or ["(nothing)"])]))


class Failed(RuntimeError):
    """A command did not end well."""


class Running:
    """The page that this kernel runs: its name, the lines of its blocks, and what was printed since the last one."""

    def __init__(self, page: str, lines: Sequence[int]) -> None:
        """Figures are shown as SVG, and what is printed is heard from now on."""
        from IPython.core.getipython import get_ipython  # here, for the tests have no kernel and use the rest

        self.page, self.lines, self.heard = page, list(lines), list[str]()
        shell = get_ipython()
        assert shell is not None
        formatter = shell.display_formatter.formatters["image/svg+xml"]
        formatter.for_type_by_name("matplotlib.figure", "Figure", drawn)  # by name: most pages never import matplotlib
        shell.events.register("pre_run_cell", self.listen)
        shell.events.register("post_run_cell", self.tell)

    def listen(self, _: object) -> None:
        """At the beginning of each cell, for IPython puts its own methods back after it."""
        for stream in (sys.stdout, sys.stderr):
            shown = stream.write
            if getattr(shown, "hears", False):
                continue

            def write(text: str, shown: Any = shown) -> int:
                self.heard.append(text)
                return int(shown(text))

            write.hears = True  # type: ignore[attr-defined]
            stream.write = write  # type: ignore[method-assign]

    def tell(self, result: Any) -> None:
        """After each cell: an exception, of whatever kind, is a fault of the block that is next in turn."""
        error = result.error_before_exec or result.error_in_exec
        if error is not None and FAULTS in os.environ:
            plain = isinstance(error, Changed | Failed)
            words = str(error) if plain else "".join(format_exception_only(error)).strip()
            with open(os.environ[FAULTS], "a", encoding="utf-8") as file:
                file.write(f"{self.page}, the block at line {self.lines[0]}:\n{indent(words, '    ')}\n")

    def said(self, *written: str) -> None:
        """Ends a block of Python; raises unless exactly these lines were printed by it."""
        came = "".join(self.heard).splitlines()
        self.heard.clear()
        if came != list(written):
            raise Changed(written, came)
        self.lines.pop(0)

    def console(self, body: str) -> None:
        """Types the commands of a block, and shows them with all that they answered."""
        from IPython.display import Markdown, display

        typed = "".join(f"$ {command.line}\n{answer(command)}" for command in commands(body))
        fence = "`" * (2 + max((len(run) for run in re.findall(r"`+", typed)), default=1))
        display(Markdown(f"{fence}console\n{typed}{fence}"))
        self.lines.pop(0)


def drawn(figure: Figure) -> str:
    """As SVG, the same bytes each time."""
    from matplotlib import rc_context

    file = StringIO()
    with rc_context({"svg.hashsalt": "tightrope"}):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    return file.getvalue()


def answer(command: Command) -> str:
    """What a command prints, both streams; raises where it fails or says something else than its page."""
    if command.settings is not None:
        os.environ.update(command.settings)
        return ""
    program, *arguments = command.words
    found = Path(sys.executable).parent / program
    environment = {**os.environ, "COLUMNS": COLUMNS}
    done = subprocess.run([found, *arguments], env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"$ {command.line}\nexit code {done.returncode}\n{done.stderr}".strip())
    begins = done.stdout.splitlines()[: len(command.begins)]
    if begins != list(command.begins):
        raise Changed(command.begins, begins)
    return done.stdout + done.stderr
