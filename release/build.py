"""What users install, from the committed tree: built in two surroundings that share nothing but the commit.

Claim: whoever has the commit and the builder of release/requirements.txt makes the same bytes. Times come from the
commit (SOURCE_DATE_EPOCH); order, modes and owners are the builder's own. zlib, which compresses, is this machine's.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from .checks import Check, asked, plain_environment

OWN = "tightrope_dp-*"  # how the names of our files begin


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a build runs: nothing of it may be seen in what is built."""

    folder: str
    umask: int
    changed: int | None  # when every file was changed last, in seconds; None: now
    variables: dict[str, str] = field(default_factory=dict)


# Where the environment's own path has umlauts, Python before 3.13 does not start in the locale C.
OTHER = "C" if sys.prefix.isascii() else "C.UTF-8"
TWO = (
    Surroundings("one", 0o022, None, {"TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}),
    Surroundings("another/place", 0o077, 1_000_000_000, {"TZ": "XYZ-13", "LC_ALL": OTHER, "PYTHONHASHSEED": "77"}),
)


@dataclass(frozen=True, slots=True)
class Commit:
    """What is built."""

    root: Path
    name: str
    epoch: str  # seconds, of its date

    @staticmethod
    def of(root: Path) -> Commit:
        """The last one."""
        name, epoch = asked("git", "log", "-1", "--format=%H %ct", folder=root).stdout.split()
        return Commit(root, name, epoch)

    @property
    def aside(self) -> list[str]:
        """What differs in the working tree from it, and so is not built."""
        told = asked("git", "status", "--porcelain", "--untracked-files=normal", folder=self.root).stdout
        return [line[3:] for line in told.splitlines()]

    def files(self) -> set[str]:
        """All names in it."""
        return set(asked("git", "ls-tree", "-r", "--name-only", "-z", self.name, folder=self.root).stdout.split("\0"))

    def copied(self, within: Path, place: Surroundings) -> Path:
        """A fresh copy, as a clone has it there."""
        tree = within / place.folder / "tree"
        tree.parent.mkdir(parents=True)
        asked("git", "clone", "--quiet", str(self.root), str(tree), folder=within, umask=place.umask)
        asked("git", "checkout", "--quiet", "--detach", self.name, folder=tree, umask=place.umask)
        if place.changed is not None:
            for path in tree.rglob("*"):
                os.utime(path, (place.changed, place.changed))
        return tree


def build(commit: Commit, within: Path, dist: Path) -> Iterator[Check]:
    """Both files, twice, and the wheel once more from the source distribution; into dist where they agree."""
    for old in dist.glob(OWN):
        old.unlink()
    made = [_built(commit.copied(within, place), commit, place) for place in TWO]
    differ = []
    for first, second in zip(*made, strict=True):
        differ.append(_different(first, second))
        yield Check(f"{first.name} built twice", "" if differ[-1] else "the same bytes", differ[-1])
    source, wheel = sorted(made[0], key=lambda path: path.suffix == ".whl")
    unpacked = within / "unpacked"
    with tarfile.open(source) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # where Python has it: 3.11.4 and newer
        archive.extractall(unpacked)
    (tree,) = unpacked.iterdir()
    (again,) = _built(tree, commit, TWO[0], "--target", "wheel")
    differ.append(_different(wheel, again))
    told = "" if differ[-1] else "the same bytes"
    yield Check("the wheel built from the source distribution", told, differ[-1])
    if any(differ):
        return
    dist.mkdir(exist_ok=True)
    for path in (source, wheel):
        shutil.copy(path, dist)


def _built(tree: Path, commit: Commit, place: Surroundings, *target: str) -> list[Path]:
    out = tree.parent / "out"
    variables = plain_environment(SOURCE_DATE_EPOCH=commit.epoch, **place.variables)
    command = (sys.executable, "-m", "hatchling", "build", *target, "--directory", str(out))
    asked(*command, folder=tree, environment=variables, umask=place.umask)
    return sorted(out.glob(OWN))


def _different(first: Path, second: Path) -> str:
    """What differs in two archives; nothing where no byte does."""
    if first.read_bytes() == second.read_bytes():
        return ""
    inside, other = _members(first), _members(second)
    names = sorted(name for name in inside.keys() | other.keys() if inside.get(name) != other.get(name))
    return f"{second.name} has other bytes: {', '.join(names[:5]) or 'the archive around its files'}"


def _members(path: Path) -> dict[str, object]:
    """Each file inside, with what could differ."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {each.filename: (each.date_time, each.external_attr, each.CRC) for each in wheel.infolist()}
    with tarfile.open(path) as source:
        return {
            each.name: (each.mtime, each.mode, each.uid, each.uname, digest(file.read()))
            for each in source
            if (file := source.extractfile(each)) is not None
        }


def digest(data: bytes) -> str:
    """By which a file is told from all others."""
    return sha256(data).hexdigest()
