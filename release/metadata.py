"""What the two files say of themselves, and what they hold: by the standards, by the index's list, against the tree."""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

from packaging.metadata import Metadata
from packaging.utils import parse_sdist_filename, parse_wheel_filename
from trove_classifiers import classifiers as known_classifiers
from trove_classifiers import deprecated_classifiers

from .checks import Check, Failed, asked
from .readme import for_index

PYTHONS = ("3.11", "3.12", "3.13")
LICENCE = "Apache-2.0"
LANGUAGE = "Programming Language :: Python :: "
VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
# Addresses that an index cannot follow, in the page that it would make of the text on standard input.
NOT_FOLLOWED = """
import re, sys
from readme_renderer.markdown import render
page = render(sys.stdin.read())
assert page, "it does not render"
found = re.findall('(?:href|src)="([^"]*)"', page)
print(*(each for each in found if not re.match("https?:|mailto:|#user-content-", each)))
"""


def inspect(tree: Path, source: Path, wheel: Path, committed: set[str]) -> Iterator[Check]:
    """All that can be told without installing them. tree: a copy of the commit, whose files are these."""
    said, also = _wheel_says(wheel), _source_says(source)
    asked(sys.executable, "-m", "twine", "--no-color", "check", "--strict", source, wheel, folder=tree)
    yield Check("twine check --strict", "both files pass")
    try:
        about = Metadata.from_email(said, validate=True)
    except ExceptionGroup as group:
        raise Failed("; ".join(map(str, group.exceptions))) from None
    yield Check("metadata by the standards", f"core metadata {about.metadata_version}")
    yield Check("both files say the same of themselves", wrong="" if said == also else "METADATA and PKG-INFO differ")
    yield _name_and_version(about, tree, source, wheel)
    yield _classifiers(about)
    yield _licence(about, source, wheel)
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    extras = set(about.provides_extra or ()) ^ set(project["optional-dependencies"])
    yield Check("extras", ", ".join(about.provides_extra or ()), f"not in both: {extras}" if extras else "")
    yield _description(about, tree)
    differ = unlike(wheel, tree / "src" / "tightrope")
    yield Check("the wheel holds all of the package, and nothing else", wrong=", ".join(differ[:5]))
    strange = sorted(_source_names(source) - committed - {"PKG-INFO"})
    yield Check("the source distribution holds files of the commit alone", wrong=", ".join(strange[:5]))


def unlike(wheel: Path, package: Path) -> list[str]:
    """Files of the package that the wheel lacks, has beside it, or has with other bytes."""
    with zipfile.ZipFile(wheel) as archive:
        inside = {each.filename: each.CRC for each in archive.infolist() if ".dist-info/" not in each.filename}
    tree = (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {path.relative_to(package.parent).as_posix(): crc32(path.read_bytes()) for path in tree}
    return sorted(name for name in inside.keys() | wanted.keys() if inside.get(name) != wanted.get(name))


def _name_and_version(about: Metadata, tree: Path, source: Path, wheel: Path) -> Check:
    (version,) = VERSION.findall((tree / "src" / "tightrope" / "version.py").read_text("utf-8"))
    named, tagged = parse_sdist_filename(source.name), parse_wheel_filename(wheel.name)
    agreed = named == tagged[:2] == (about.name, about.version) and str(about.version) == version
    wrong = [] if agreed else [f"{source.name}, {wheel.name} and version.py ({version}) disagree"]
    wrong += [] if {str(tag) for tag in tagged[3]} == {"py3-none-any"} else ["the wheel is not for every machine"]
    return Check("name and version", f"{about.name} {about.version}", "; ".join(wrong))


def _classifiers(about: Metadata) -> Check:
    given = about.classifiers or []
    wrong = [f"unknown: {each}" for each in given if each not in known_classifiers]
    wrong += [f"deprecated: {each}" for each in given if each in deprecated_classifiers]
    wrong += [f"the licence is said elsewhere: {each}" for each in given if each.startswith("License ::")]
    pythons = tuple(each.removeprefix(LANGUAGE) for each in given if re.fullmatch(rf"{LANGUAGE}3\.\d+", each))
    wrong += [] if pythons == PYTHONS else [f"the Pythons are {', '.join(PYTHONS)}, not {', '.join(pythons)}"]
    needs = about.requires_python
    latest = {each: f"{each}.99" for each in pythons}  # of its patches: the first ones may be left out
    wrong += [f"{each} is not {needs}" for each in pythons if needs is None or not needs.contains(latest[each])]
    return Check("classifiers", f"{len(given)} known ones, Python {', '.join(pythons)}", "; ".join(wrong))


def _licence(about: Metadata, source: Path, wheel: Path) -> Check:
    files = about.license_files or []
    with zipfile.ZipFile(wheel) as archive:
        held = {name.split("/licenses/", 1)[1] for name in archive.namelist() if ".dist-info/licenses/" in name}
    wrong = [] if about.license_expression == LICENCE else [f"it is {LICENCE}"]
    wrong += [] if held == set(files) else [f"the wheel holds {sorted(held)}"]
    wrong += [f"{each} is not in the source distribution" for each in files if each not in _source_names(source)]
    return Check("licence", f"{about.license_expression}, {len(files)} texts", "; ".join(wrong))


def _description(about: Metadata, tree: Path) -> Check:
    text = for_index((tree / "README.md").read_text("utf-8"))
    wrong = [] if (about.description or "").strip() == text.strip() else ["it is not README.md"]
    wrong += [] if about.description_content_type == "text/markdown" else ["it is not marked as Markdown"]
    found = asked(sys.executable, "-c", NOT_FOLLOWED, folder=tree, given=text).stdout.split()
    wrong += [f"an index cannot follow {each}" for each in found]
    return Check("README.md as an index shows it", "no relative link or picture", "; ".join(wrong))


def _wheel_says(wheel: Path) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return archive.read(name)


def _source_says(source: Path) -> bytes:
    with tarfile.open(source) as archive:
        (name,) = (each for each in archive.getnames() if each.count("/") == 1 and each.endswith("/PKG-INFO"))
        file = archive.extractfile(name)
        return b"" if file is None else file.read()


def _source_names(source: Path) -> set[str]:
    with tarfile.open(source) as archive:
        return {name.split("/", 1)[1] for name in archive.getnames()}
