"""`make dist`: both files, built twice and compared, inspected, installed on every Python that is here, and asked.

Prints a line for each check as it is made, then what was built; exit code 1 where a check failed. Uploads nothing.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from time import monotonic

from .build import OWN, TWO, Commit, build, digest
from .checks import Check, tried
from .environments import environment, install, pythons
from .installed import basics, selftest, with_extras
from .metadata import PYTHONS, inspect
from .typed import typed

ROOT = Path(__file__).resolve().parent.parent
MINUTES = 0.2  # of selftest, on each Python
EXTRAS = "explore,ledger,parquet,pdf,plot,sweep"
TOOLS = ("hatchling", "twine", "packaging", "trove-classifiers", "readme-renderer", "mypy")


def main() -> int:
    """All of it, in turn."""
    began, made = monotonic(), list[Check]()
    for check in checks(ROOT, ROOT / "build" / "release", ROOT / "dist"):
        print(check, flush=True)
        made.append(check)
    failed = sum(bool(check.wrong) for check in made)
    left_out = [check.what for check in made if check.left_out]
    print()
    for path in sorted((ROOT / "dist").glob(OWN)):
        data = path.read_bytes()
        print(f"dist/{path.name}  {len(data):,} bytes  sha256 {digest(data)}")
    print("by " + ", ".join(f"{name} {version(name)}" for name in TOOLS) + f", Python {sys.version.split()[0]}")
    told = f"; not tried: {', '.join(left_out)}" if left_out else ""
    print(f"{len(made) - len(left_out)} checks in {monotonic() - began:.0f} s, {failed or 'none'} failed{told}")
    return 1 if failed else 0


def checks(root: Path, work: Path, dist: Path) -> Iterator[Check]:
    """Each as it is made; what needs files that could not be built is not begun."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    commit = Commit.of(root)
    aside = commit.aside
    told = f"; not in it: {', '.join(aside[:3])}{f' and {len(aside) - 3} more' if len(aside) > 3 else ''}"
    yield Check("the commit that is built", commit.name + (told if aside else ""))
    yield from tried("built", build(commit, work, dist))
    if not any(dist.glob(OWN)):
        return
    (source,), (wheel,) = dist.glob(f"{OWN}.tar.gz"), dist.glob(f"{OWN}.whl")
    tree = work / TWO[0].folder / "tree"
    yield from tried("what the files say and hold", inspect(tree, source, wheel, commit.files()))
    here = pythons(PYTHONS)
    for minor in PYTHONS:
        if minor not in here:
            yield Check(f"Python {minor}", "NOT TRIED: it is not on this machine", left_out=True)
    yield Check("Pythons to try", ", ".join(here), "" if here else f"none of {', '.join(PYTHONS)} is here")
    for minor, python in here.items():
        yield from _on(minor, tried("tried", tried_on(python, work / minor, tree, wheel, last=minor == max(here))))


def tried_on(python: Path, folder: Path, tree: Path, wheel: Path, last: bool) -> Iterator[Check]:
    """The wheel in a clean environment; on the last Python with extras and types too."""
    folder.mkdir()
    commands = environment(python, folder / "venv")
    install(commands, wheel)
    yield Check("installed with what it requires, from the index")
    number = wheel.name.split("-")[1]
    yield from basics(commands, folder, tree / "tests" / "reference" / "vectors.json", number)
    yield from selftest(commands, folder, MINUTES)
    if last:
        install(commands, f"{wheel}[{EXTRAS}]")
        yield Check("installed with extras", EXTRAS)
        yield from with_extras(commands, folder)
        yield from typed(commands, folder, tree)


def _on(minor: str, found: Iterator[Check]) -> Iterator[Check]:
    for check in found:
        yield Check(f"Python {minor}, {check.what}", check.found, check.wrong)


if __name__ == "__main__":
    sys.exit(main())
