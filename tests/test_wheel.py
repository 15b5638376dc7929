"""What users install: the wheel holds all of the package, and runs where nothing but its own requirements is installed.

The clean environment is a venv that sees the requirements of the wheel, and what these require in turn, by links to
where they are installed for the suite; an extra that is imported by accident is missing there. Nothing is downloaded:
`make dist` asks the same on every Python, with what pip finds on the index.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

import tightrope
from release import metadata
from release.build import OWN, Commit, build
from release.checks import Check, asked, tried
from release.environments import pythons
from release.installed import _answers, basics
from release.metadata import PYTHONS, unlike
from release.readme import CLOSING, for_index
from release.typed import is_own, typed_by_hand

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tightrope"


def test_the_wheel_holds_all_of_the_package_and_runs_in_a_clean_environment(tmp_path: Path) -> None:
    """Built by the longer way, from the source distribution."""
    with tarfile.open(built("sdist", ROOT, tmp_path)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # where Python has it already
        archive.extractall(tmp_path)
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    made = built("wheel", unpacked, tmp_path)
    assert unlike(made, PACKAGE) == []
    with zipfile.ZipFile(made) as wheel:
        named = {"tightrope/py.typed", "tightrope/schema/result.json", "tightrope/schema/mechanism.json"}
        assert named <= set(wheel.namelist())
    commands = installed(made, tmp_path / "clean")
    vectors = ROOT / "tests" / "reference" / "vectors.json"
    assert wrong(basics(commands, tmp_path, vectors, tightrope.__version__)) == []


def built(target: str, source: Path, folder: Path) -> Path:
    """The wheel or the source distribution, by the builder that pyproject.toml names, as it is installed."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    subprocess.run(command, cwd=source, check=True, stdout=subprocess.DEVNULL)
    (found,) = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return found


def installed(wheel: Path, folder: Path) -> Path:
    """Where the commands are, of a new environment with the wheel and what it requires."""
    venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-compile"]
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", *quiet, str(wheel)]
    subprocess.run(pip, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (own,) = site.glob("tightrope_dp-*.dist-info")
    names, waiting = set[str](), required(PathDistribution(own).requires)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            found = distribution(name)
            waiting += required(found.requires)
            tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
            for top in tops:
                (site / top).symlink_to(Path(str(found.locate_file(top))).resolve())
    return folder / "bin"


def required(lines: list[str] | None) -> list[str]:
    """Without what only extras need."""
    found = map(Requirement, lines or ())
    return [each.name for each in found if each.marker is None or each.marker.evaluate({"extra": ""})]


def test_what_was_not_tried_is_not_told_as_well() -> None:
    told = [str(each) for each in (Check("a", "b"), Check("a", "b", "c"), Check("a", "b", left_out=True))]
    assert told == ["ok     a: b", "FAILED a: b; c", "--     a: b"]


def wrong(checks: Iterable[Check]) -> list[Check]:
    return [check for check in checks if check.wrong]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('See [training](docs/training.md#noise "title").', "See training (docs/training.md#noise)."),
        ("See [docs/training.md](docs/training.md).", "See docs/training.md."),
        ("See [two\nlines](docs/a.md).", "See two\nlines (docs/a.md)."),
        ("See [below](#below).", "See below."),
        ("See [it](https://example.org/a) and [m](mailto:a@example.org).", None),
        ("One.\n\n![A picture](docs/a.png)\n\nTwo.", "One.\n\nTwo."),
        ("[![A picture](docs/a.png)](docs/a.md)", ""),
        ("![A picture](https://example.org/a.png)", None),
        ("An interval [0.1, 0.2] (wide).", None),
        ("```python\na[0](b.md)\n```\n[a](b.md)", "```python\na[0](b.md)\n```\na (b.md)"),
        ("~~~\n[a](b.md)\n~~~\n[c](d.md)\n```\n[e](f.md)\n```", "~~~\n[a](b.md)\n~~~\nc (d.md)\n```\n[e](f.md)\n```"),
    ],
)
def test_on_an_index_nothing_points_to_files_that_are_not_there(text: str, shown: str | None) -> None:
    assert for_index(text) == f"{text if shown is None else shown}\n\n{CLOSING}"


def toy(folder: Path, said: str) -> Commit:
    """A committed project, small enough to be built in a moment, that says this of itself."""
    package = folder / "src" / "tightrope"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", "utf-8")
    (folder / "pyproject.toml").write_text(
        """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "tightrope-dp"
version = "0.1.0"
requires-python = ">=3.11"
dynamic = ["description"]
[tool.hatch.build.targets.wheel]
packages = ["src/tightrope"]
[tool.hatch.metadata.hooks.custom]
path = "said.py"
""",
        "utf-8",
    )
    (folder / "said.py").write_text(
        "import os, time\n"
        "from hatchling.metadata.plugin.interface import MetadataHookInterface\n"
        "class Said(MetadataHookInterface):\n"
        f"    def update(self, metadata): metadata['description'] = {said}\n",
        "utf-8",
    )
    me = ("-c", "user.name=Toy", "-c", "user.email=toy@example.org")
    for words in (("init", "--quiet"), ("add", "."), (*me, "commit", "--quiet", "-m", "A toy")):
        asked("git", *words, folder=folder)
    return Commit.of(folder)


def test_what_is_built_twice_and_is_the_same_goes_to_dist(tmp_path: Path) -> None:
    commit = toy(tmp_path / "toy", "'the same'")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "tightrope_dp-0.0.9.tar.gz").write_text("old", "utf-8")
    (tmp_path / "toy" / "more.txt").write_text("not committed", "utf-8")
    checks = list(build(commit, tmp_path, tmp_path / "dist"))
    assert (len(checks), wrong(checks)) == (3, [])
    names = sorted(path.name for path in (tmp_path / "dist").glob(OWN))
    assert names == ["tightrope_dp-0.1.0-py3-none-any.whl", "tightrope_dp-0.1.0.tar.gz"]
    assert commit.aside == ["more.txt"]
    assert commit.files() >= {"pyproject.toml", "said.py"}


@pytest.mark.parametrize(
    "said", ["os.getcwd()", "repr(time.tzname)", "oct(os.stat(__file__).st_mode)", "str(hash('a'))"]
)
def test_what_shows_where_it_was_built_is_noticed(tmp_path: Path, said: str) -> None:
    found = wrong(build(toy(tmp_path / "toy", said), tmp_path, tmp_path / "dist"))
    assert found[0].what == "tightrope_dp-0.1.0-py3-none-any.whl built twice"
    assert "METADATA" in found[0].wrong
    assert "PKG-INFO" in found[1].wrong
    assert not (tmp_path / "dist").exists()


def test_what_cannot_be_built_is_a_failed_check(tmp_path: Path) -> None:
    (check,) = tried("built", build(toy(tmp_path / "toy", "1 / 0"), tmp_path, tmp_path / "dist"))
    assert str(check).startswith("FAILED built: exit code 1 of ")
    assert "ZeroDivisionError" in check.wrong


@pytest.mark.parametrize(
    ("classifiers", "complaint"),
    [
        ([], ""),
        (["Programming Language :: Python :: 3.14"], "the Pythons are"),
        (["Topic :: Differential Privacy"], "unknown: Topic"),
        (["License :: OSI Approved :: Apache Software License"], "the licence is said elsewhere"),
        (["Natural Language :: Ukranian"], "deprecated: Natural"),
    ],
)
def test_classifiers_are_those_of_the_index(classifiers: list[str], complaint: str) -> None:
    given = [f"Programming Language :: Python :: {minor}" for minor in PYTHONS] + classifiers
    lines = ["Metadata-Version: 2.4", "Name: a", "Version: 1", "Requires-Python: >=3.11.2"]
    about = Metadata.from_email("\n".join([*lines, *(f"Classifier: {each}" for each in given), ""]), validate=False)
    found = metadata._classifiers(about).wrong
    assert complaint in found
    assert bool(found) == bool(complaint)


def test_this_python_is_found_and_one_that_is_nowhere_is_not() -> None:
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert list(pythons([minor, "3.99"])) == [minor]


def test_what_a_page_types_is_its_python_without_other_libraries() -> None:
    page = "```python\na = 1\n```\n```python needs torch\nb\n```\n```console\n$ c\n```\n```python\nd = a\n```\n"
    assert typed_by_hand(page) == "a = 1\n\nd = a\n"


@pytest.mark.parametrize(
    ("complaint", "own"),
    [
        ("a.py:1: error: Function is missing a type annotation  [no-untyped-def]", True),
        ('a.py:4: error: Call to untyped function "noise" in typed context  [no-untyped-call]', True),
        ('a.py:4: error: Call to untyped function "epsilon" in typed context  [no-untyped-call]', False),
        ('a.py:4: error: Argument 1 to "noise" has incompatible type "str"; expected "float"  [arg-type]', False),
        ("Found 1 error in 1 file (checked 1 source file)", False),
    ],
)
def test_only_functions_of_the_page_may_be_without_annotations(complaint: str, own: bool) -> None:
    assert is_own(complaint, "import tightrope as tr\ndef noise(shift):\n    return shift\n") is own


@pytest.mark.parametrize(
    ("lower", "upper", "right"),
    [(0.9999999, 1.0000001, True), (1.1, 1.2, False), (0.8, 0.9, False), (0.5, 1.5, False)],
)
def test_an_answer_that_misses_the_value_or_is_wide_is_noticed(lower: float, upper: float, right: bool) -> None:
    reference = '{"vectors": [{"expression": "run", "delta": "1e-6", "epsilon": "1.000"}]}'
    found = json.dumps(["run", lower.hex(), upper.hex()])
    assert bool(_answers(reference, found).wrong) is not right
