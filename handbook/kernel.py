"""What runs beside the blocks of a page while the site is built: commands are typed, and what is printed is compared.

Imported by the first, hidden cell of each page (stage.py), by whichever Python runs the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from IPython.core.getipython import get_ipython
from IPython.display import Markdown, display

from handbook.blocks import Command, commands

COLUMNS = "100"  # of tables in a console


class Changed(AssertionError):
    """A block printed something else than its page says."""

    def __init__(self, written: list[str], came: list[str]) -> None:
        super().__init__("\n    ".join(["the page says", *written]) + "\n    ".join(["\nand what came is", *came]))


HEARD: list[str] = []  # of one page: a kernel runs one


def begin() -> None:
    """Called once: pictures are drawn as SVG, and what is printed is heard from now on."""
    shell = get_ipython()
    assert shell is not None
    shell.run_line_magic("matplotlib", "inline")
    shell.run_line_magic("config", "InlineBackend.figure_formats = ['svg']")
    shell.run_line_magic("config", "InlineBackend.rc = {}")
    shell.events.register("pre_run_cell", listen)


def listen(_: object) -> None:
    """At the beginning of each cell, for IPython puts its own method back after it."""
    shown = sys.stdout.write
    if getattr(shown, "hears", False):
        return

    def write(text: str) -> int:
        HEARD.append(text)
        return shown(text)

    write.hears = True  # type: ignore[attr-defined]
    sys.stdout.write = write  # type: ignore[method-assign]


def said(*written: str) -> None:
    """Raises unless exactly these lines were printed since the last call."""
    came = "".join(HEARD).splitlines()
    HEARD.clear()
    if came != list(written):
        raise Changed(list(written), came)


def console(body: str) -> None:
    """Types the commands of a block, and shows them with all that they answered."""
    typed = "".join(f"$ {command.line}\n{answer(command)}" for command in commands(body))
    fence = "`" * (2 + max((len(run) for run in re.findall(r"`+", typed)), default=1))
    display(Markdown(f"{fence}console\n{typed}{fence}"))


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
        raise RuntimeError(f"{command.line}: exit code {done.returncode}\n{done.stderr}")
    begins = done.stdout.splitlines()[: len(command.begins)]
    if begins != list(command.begins):
        raise Changed(list(command.begins), begins)
    return done.stdout + done.stderr
