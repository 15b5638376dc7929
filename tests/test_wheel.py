"""What users install: the wheel holds all of the package, and runs where nothing but its own requirements is installed.

The clean environment is a venv that sees the requirements of the wheel, and what these require in turn, by links to
where they are installed for the suite; an extra that is imported by accident is missing there. Nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path
from zlib import crc32

from packaging.requirements import Requirement

import tightrope

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "tightrope"
EXTRAS = (
    "dask",
    "distributed",
    "matplotlib",
    "psycopg",
    "pyarrow",
    "pytest",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "weasyprint",
)
EVERY_MODULE = """
import importlib, pkgutil, tightrope
EXTRA = ("anyio", "psycopg", "sqlalchemy", "starlette", "uvicorn")
for module in pkgutil.walk_packages(tightrope.__path__, "tightrope."):
    if module.name.endswith(".__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        adapter = ".interop." in module.name and "pip install" in str(error)
        extra = any(each in module.name for each in (".explore.", ".ledger.", ".listening")) and error.name in EXTRA
        if not adapter and not extra:
            raise
print(tightrope.__version__)
"""


def test_the_wheel_holds_all_of_the_package_and_runs_in_a_clean_environment(tmp_path: Path) -> None:
    """Built by the longer way, from the source distribution."""
    with tarfile.open(built("sdist", ROOT, tmp_path)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # where Python has it already
        archive.extractall(tmp_path)
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    made = built("wheel", unpacked, tmp_path)
    holds_all(made)
    runs(installed(made, tmp_path / "clean"), tmp_path)


def holds_all(made: Path) -> None:
    with zipfile.ZipFile(made) as wheel:
        inside = {info.filename: info.CRC for info in wheel.infolist() if info.filename.startswith("tightrope/")}
    tree = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert inside == {str(path.relative_to(PACKAGE.parent)): crc32(path.read_bytes()) for path in tree}
    assert {"tightrope/py.typed", "tightrope/schema/result.json", "tightrope/schema/mechanism.json"} <= inside.keys()


def runs(bin_folder: Path, folder: Path) -> None:
    def run(*command: str) -> subprocess.CompletedProcess[str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        place = {"cwd": folder, "env": plain | {"COLUMNS": "120"}, "capture_output": True, "text": True}
        return subprocess.run([bin_folder / command[0], *command[1:]], check=False, **place)  # type: ignore[call-overload]

    absent = run("python", "-c", f"from importlib.util import find_spec; print([*map(find_spec, {EXTRAS})])")
    assert set(json.loads(absent.stdout.replace("None", "null"))) == {None}
    every = run("python", "-c", EVERY_MODULE)
    assert (every.returncode, every.stdout, every.stderr) == (0, f"{tightrope.__version__}\n", "")
    answer = run("tightrope", "epsilon", "Gaussian(sigma=1).poisson(rate=0.01) * 1000", "--delta", "1e-6")
    assert answer.stdout.startswith("epsilon in [2.12451517111, 2.12451517113] at delta 1e-06\n")
    document = json.loads(run("tightrope", "epsilon", "Laplace(scale=2) * 3", "--delta", "1e-6", "--json").stdout)
    assert document["lower"] < document["upper"]
    refused = run("tightrope", "explore", "--no-browser")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        "tightrope: the explorer needs starlette and uvicorn: pip install 'tightrope-dp[explore]'\n"
    )
    refused = run("tightrope", "curve", "Gaussian(sigma=1)", "--plot", "curve.png")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "tightrope: plots need matplotlib: pip install 'tightrope-dp[plot]'\n"


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
