"""The worked examples of CONTRIBUTING.md are followed in a copy of the tree, and the suite's checks run there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(python|diff) (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FOLDERS = ("src", "tests", "benchmarks", "studies", "handbook", "release")
COPIED = (*FOLDERS, "pyproject.toml", "Makefile", "CONTRIBUTING.md", "README.md")
CHECKS = {
    "a mechanism and a transformation": (
        "tests/conformance",
        "tests/mechanisms/test_hadamard_response.py",
        "-k",
        "(Hadamard and not relayed) or (relayed and PureDP and not 800 and (test_single_use or test_names))",
    ),
    "the rows, an engine and a conversion": (
        "tests/test_catalogue.py",
        "tests/conformance/test_table.py",
        "tests/test_serial.py",
        "tests/test_mirror.py",
        "tests/test_stability.py::test_the_public_surface_is_what_is_written_down",
        "tests/engines/basic",
        "tests/conversions/test_worst_case.py",
    ),
}


def rows_added(text: str, body: str) -> str:
    """The text with the rows of a block: '+' after what stands before, '-' in the place of what is there."""
    kept = "".join(line[1:] for line in body.splitlines(keepends=True) if line[0] in " -")
    made = "".join(line[1:] for line in body.splitlines(keepends=True) if line[0] in " +")
    assert text.count(kept) == 1, f"not there, or not once: {kept!r}"
    return text.replace(kept, made)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tightrope")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)  # with what is compiled already
        else:
            shutil.copy(source, folder / name)
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert len(blocks) > 15
    for language, name, body in blocks:
        path = folder / name
        if language == "diff":
            path.write_text(rows_added(path.read_text("utf-8"), body), "utf-8")
        else:
            assert not path.exists(), f"{name} is there already"
            path.parent.mkdir(exist_ok=True)
            path.write_text(body, "utf-8")
    run(folder, "-m", "benchmarks.schema")
    run(folder, "-m", "release.api")
    return folder


def run(folder: Path, *arguments: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


@pytest.mark.parametrize("what", CHECKS)
def test_the_suite_accepts(copy: Path, what: str) -> None:
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHECKS[what])


def test_the_linters_accept(copy: Path) -> None:
    run(copy, "-m", "ruff", "check", "src", "tests")
    run(copy, "-m", "ruff", "format", "--check", "src", "tests")
    run(copy, "-c", "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports(no_cache=True))")
