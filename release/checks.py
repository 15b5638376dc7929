"""One line of the checklist, and how others are asked: programs, each with its words where it fails."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

LINES_SHOWN = 12  # of what a program that failed said last


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, what came out, and what is wrong with it; nothing where all is well."""

    what: str
    found: str = ""
    wrong: str = ""
    left_out: bool = False

    def __str__(self) -> str:
        told = "; ".join(each for each in (self.found, self.wrong) if each)
        begins = "FAILED" if self.wrong else "--" if self.left_out else "ok"
        return f"{begins:<6} {self.what}{': ' if told else ''}{told}"


class Failed(Exception):
    """A program did not do what it was asked for."""


def asked(
    *command: str | Path,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    umask: int = -1,
    given: str | None = None,
    codes: tuple[int, ...] = (0,),
) -> subprocess.CompletedProcess[str]:
    """A program that ran, with one of these exit codes; Failed with its last lines otherwise. given: what it reads."""
    ran = subprocess.run(
        command, cwd=folder, env=environment, umask=umask, input=given, capture_output=True, text=True, check=False
    )
    if ran.returncode not in codes:
        said = (ran.stdout + ran.stderr).strip().splitlines()[-LINES_SHOWN:]
        raise Failed(f"exit code {ran.returncode} of {' '.join(map(str, command))}\n" + "\n".join(said))
    return ran


def plain_environment(**more: str) -> dict[str, str]:
    """That of a user who set nothing for Python; what programs are found by, and by what they reach the network."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return kept | more


def tried(what: str, checks: Iterator[Check]) -> Iterator[Check]:
    """The same, with a failed one in place of what could not be done."""
    try:
        yield from checks
    except (Failed, OSError) as error:
        yield Check(what, wrong=str(error))
