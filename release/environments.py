"""Clean environments: one for each Python that the package is for, where this machine has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from .checks import asked, plain_environment

VERSION = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


def pythons(wanted: Iterable[str]) -> dict[str, Path]:
    """Where each version is, of those that are here: this one, then by name on PATH, then among pyenv's."""
    found: dict[str, Path] = {}
    for minor in wanted:
        place = next((each for each in _candidates(minor) if _is(each, minor)), None)
        if place is not None:
            found[minor] = place
    return found


def environment(python: Path, folder: Path) -> Path:
    """A new environment with pip and nothing else; its folder of commands."""
    asked(python, "-m", "venv", "--clear", folder, folder=folder.parent, environment=plain_environment())
    return folder / "bin"


def install(commands: Path, *what: str | Path) -> None:
    """By pip, from the index, as a user does it."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    folder, variables = commands.parent, plain_environment()
    asked(commands / "python", "-m", "pip", "install", *quiet, *what, folder=folder, environment=variables)
    asked(commands / "python", "-m", "pip", "check", folder=folder, environment=variables)


def _candidates(minor: str) -> Iterator[Path]:
    name = f"python{minor}"
    yield Path(getattr(sys, "_base_executable", sys.executable))
    for folder in os.get_exec_path():
        if (place := shutil.which(name, path=folder)) is not None:
            yield Path(place)
    root = Path(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"))  # not all have a home
    yield from sorted((root / "versions").glob(f"{minor}.*/bin/{name}"), reverse=True)


def _is(python: Path, minor: str) -> bool:
    """Whether it runs, is of this version and can make environments: a shim of pyenv may name one that is not here."""
    try:
        ran = subprocess.run(
            [python, "-c", VERSION], env=plain_environment(), capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ran.returncode == 0 and ran.stdout.strip() == minor
