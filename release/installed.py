"""The package as a user has it: asked in an environment that holds the wheel and what it requires, and nothing else.

`commands` is the folder of that environment's commands; the tests ask the same in an environment without an index.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from .checks import Check, asked, plain_environment

EXTRAS = (
    *("dask", "distributed", "matplotlib", "psycopg", "pyarrow", "pytest", "sqlalchemy", "starlette", "uvicorn"),
    "typst",
)
EVERY_MODULE = """
import importlib, pkgutil, tightrope
EXTRA = ("anyio", "h11", "matplotlib", "psycopg", "sqlalchemy", "starlette", "uvicorn")
ROOMS = (".explore.", ".extend.", ".ledger.", ".listening", ".plotting.")
for module in pkgutil.walk_packages(tightrope.__path__, "tightrope."):
    if module.name.endswith(".__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        adapter = ".interop." in module.name and "pip install" in str(error)
        extra = any(room in module.name for room in ROOMS) and error.name and error.name.split(".")[0] in EXTRA
        if not adapter and not extra:
            raise
print(tightrope.__version__)
"""
ANSWERS = """
import json, sys
import tightrope as tr
for vector in json.load(sys.stdin)["vectors"]:
    bound = tr.parse(vector["expression"]).epsilon(float(vector["delta"]))
    print(json.dumps([vector["expression"], bound.lower.hex(), bound.upper.hex()]))
"""
SLACK = Fraction(1, 10**14)  # the reference values speak of decimals, answers of the doubles nearest to them
NARROW = Fraction(1, 10**6)  # of the upper end: what is aimed at where nobody asks for more
INSTALL = "import sys; from tightrope.version import install_command; print(install_command(sys.argv[1]))"
# Commands that need an extra, its name, and the one line that says how it is installed.
REFUSED = {
    ("explore", "--no-browser"): ("explore", "the explorer needs starlette and uvicorn: {}"),
    ("ledger", "init", "--ledger", "budget.db"): (
        "ledger",
        "a ledger needs SQLAlchemy (and psycopg for PostgreSQL): {}",
    ),
    ("curve", "Gaussian(sigma=1)", "--plot", "curve.png"): ("plot", "plots need matplotlib: {}"),
    ("report", "Gaussian(sigma=1)", "--delta", "1e-6", "--pdf", "report.pdf"): (
        "pdf",
        "PDF needs typst: {}, or write --html and print it",
    ),
}


def basics(commands: Path, folder: Path, vectors: Path, version: str) -> Iterator[Check]:
    """Modules, answers and refusals; vectors: values that were computed without the package."""
    environment = plain_environment(COLUMNS="120")

    def run(command: str, *words: str, codes: tuple[int, ...] = (0,), given: str | None = None) -> tuple[str, str]:
        ran = asked(commands / command, *words, folder=folder, environment=environment, given=given, codes=codes)
        return ran.stdout, ran.stderr

    absent, _ = run(
        "python", "-c", f"from importlib.util import find_spec; print([x for x in {EXTRAS} if find_spec(x)])"
    )
    yield Check("no extra is there", wrong="" if absent == "[]\n" else f"found {absent.strip()}")
    every = run("python", "-W", "error", "-c", EVERY_MODULE)
    yield Check("every module is imported", version, "" if every == (f"{version}\n", "") else f"it says {every}")
    told, _ = run("tightrope", "--version")
    yield Check("tightrope --version", told.strip(), "" if told.split()[-1] == version else f"not {version}")
    reference = vectors.read_text("utf-8")
    found, _ = run("python", "-W", "error", "-c", ANSWERS, given=reference)
    yield _answers(reference, found)
    words = ("epsilon", "Gaussian(sigma=1).poisson(rate=0.01) * 1000", "--delta", "1e-6")
    answer, _ = run("tightrope", *words)
    begins = "epsilon in [2.12451517111, 2.12451517113] at delta 1e-06 (add/remove)\n"
    yield Check("an answer on the command line", wrong="" if answer.startswith(begins) else f"it says {answer}")
    document = json.loads(run("tightrope", *words, "--json")[0])
    inside = document["lower"] < 2.124515171120121 < document["upper"]
    yield Check("the same as JSON", f"schema {document['schema']}", "" if inside else f"it says {document}")
    for refused, (extra, line) in REFUSED.items():
        install, _ = run("python", "-c", INSTALL, extra)
        said = run("tightrope", *refused, codes=(2,))
        wrong = "" if said == ("", f"tightrope: {line.format(install.strip())}\n") else f"it says {said}"
        yield Check(f"tightrope {refused[0]} names its extra", wrong=wrong)


def selftest(commands: Path, folder: Path, minutes: float) -> Iterator[Check]:
    """`tightrope selftest` on this machine, which judges itself."""
    words = ("selftest", "--minutes", str(minutes), "--json")
    ran = asked(commands / "tightrope", *words, folder=folder, environment=plain_environment(), codes=(0, 1))
    document = json.loads(ran.stdout)
    agreed = sum(judge["agrees"] for judge in document["judges"].values())
    machine = document["machine"]
    told = f"{document['cases']} cases, {agreed} judgements, numpy {machine['numpy']}, scipy {machine['scipy']}"
    wrong = f"{document['failures']}" if ran.returncode or document["failures"] or agreed == 0 else ""
    yield Check("tightrope selftest", told, wrong)


def with_extras(commands: Path, folder: Path) -> Iterator[Check]:
    """What the extras are for, once each."""
    (folder / "sweep.toml").write_text(
        'make = "Laplace(scale={scale})"\nask = "epsilon(delta=1e-6)"\n[grid]\nscale = [5, 10]\n', "utf-8"
    )
    ledger = ("--ledger", "budget.db")
    promise = ("--epsilon", "1", "--delta", "1e-6", "--relation", "add_remove", "--unit", "one person")
    scheduler = "from distributed import Client; import tightrope.sweep.cluster"
    for extra, command, *words in (
        ("plot", "tightrope", "curve", "Gaussian(sigma=1)", "--plot", "curve.png"),
        ("parquet", "tightrope", "sweep", "sweep.toml", "--out", "sweep.parquet", "--workers", "1"),
        ("sweep", "python", "-c", scheduler),
        ("explore", "python", "-c", "import uvicorn, tightrope.explore.server"),
        ("ledger", "tightrope", "ledger", "init", *ledger),
        ("ledger", "tightrope", "ledger", "create", "census", *promise, *ledger),
        ("ledger", "tightrope", "ledger", "verify", *ledger),
    ):
        asked(commands / command, *words, folder=folder, environment=plain_environment())
        yield Check(f"extra {extra}: {' '.join((command, *words[:2]))}")


def _answers(reference: str, found: str) -> Check:
    vectors = json.loads(reference)["vectors"]
    wrong = []
    for vector, line in zip(vectors, found.splitlines(), strict=True):
        expression, *ends = json.loads(line)
        truth = Fraction(vector["epsilon"])
        lower, upper = (Fraction(float.fromhex(end)) for end in ends)
        if not lower <= truth * (1 + SLACK) or not truth * (1 - SLACK) <= upper or upper - lower > NARROW * upper:
            wrong.append(f"{expression} at {vector['delta']}: [{float(lower)!r}, {float(upper)!r}]")
    return Check("answers hold values computed without the package", f"{len(vectors)} of them", "; ".join(wrong))
