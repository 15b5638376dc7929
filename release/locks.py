"""Exact versions for the environments of the Makefile, by pip's resolver: python -m release.locks NAME PIP-ARGUMENTS.

`make lock` calls it once for each environment and writes locks/NAME.txt: names and versions, and no address, so that
the file serves with every index. The environments install with `pip install --constraint locks/NAME.txt`; users are
given the ranges of pyproject.toml. `python -m release.locks --lowest` prints the lower ends of these ranges as
constraints, for `make test-lowest`.

The lock is resolved by the Python that runs this: take the oldest that is supported, as newer ones have its versions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN = "tightrope-dp"
TOOLS = "dev"  # the extra that no user installs: the lower ends of its ranges are not promised
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?>=(?P<version>[\w.]+)")


def resolve(arguments: list[str]) -> dict[str, str]:
    """What pip would install for these arguments into an empty environment: name and version."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    report = json.loads(subprocess.run([*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    packages = (row["metadata"] for row in report["install"])
    # A local version (torch's +cpu) names one build of a release; the release is what an index has.
    found = {normal(package["name"]): package["version"].split("+")[0] for package in packages}
    found.pop(OWN, None)
    return dict(sorted(found.items()))


def normal(name: str) -> str:
    """The name as an index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lowest() -> dict[str, str]:
    """The lower end of each range that a user's installation may have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (rows for name, rows in project["optional-dependencies"].items() if name != TOOLS)
    rows = [*project["dependencies"], *(row for extra in extras for row in extra)]
    matches = [REQUIREMENT.match(row) for row in rows]
    if None in matches:
        sys.exit(f"pyproject.toml: {rows[matches.index(None)]!r} has no lower end; write name>=version")
    return {match["name"]: match["version"] for match in matches if match is not None}


def text(versions: dict[str, str]) -> str:
    """One line for each package."""
    return "".join(f"{name}=={version}\n" for name, version in versions.items())


def main() -> None:
    """Writes one lock, or prints the lowest versions."""
    name, *arguments = sys.argv[1:] or sys.exit("python -m release.locks NAME PIP-ARGUMENTS, or --lowest")
    if name == "--lowest":
        print(text(lowest()), end="")
        return
    path = ROOT / "locks" / f"{name}.txt"
    path.parent.mkdir(exist_ok=True)
    head = f"# What make installs for '{name}', exactly; written by: make lock\n"
    path.write_text(head + text(resolve(arguments)), "utf-8")
    print(f"{path.relative_to(ROOT)}: {len(path.read_text('utf-8').splitlines()) - 1} packages")


if __name__ == "__main__":
    main()
