"""tightrope sweep: one question for many configurations, which survives kill -9."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from functools import cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope.cli.app import run
from tightrope.extend import sweeping
from tightrope.sweep.executor import Here
from tightrope.sweep.job import Chunk, Job, Rows

ROOT = Path(__file__).resolve().parent.parent.parent
MAKE, ASK = "Laplace(scale={scale}) * {count}", "epsilon(delta={delta})"
TOML = f"""
make = "{MAKE}"
ask = "{ASK}"
[grid]
scale = {{from = 1, to = 3, points = 40}}
count = [1, 2, -1]
delta = [1e-6, 0]
"""


@pytest.fixture(autouse=True)
def in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dpsgd.toml").write_text(TOML, "utf-8")
    return tmp_path


KILLED = """
import os, signal, sys
from tightrope.cli.app import run
from tightrope.sweep.journal import Journal

def add(self, rows, add=Journal.add):
    add(self, rows)
    if self.count >= 20:
        os.kill(os.getpid(), signal.SIGKILL)

Journal.add = add
run(sys.argv[1:])
"""


@cache
def expected() -> str:
    """All rows, asked here, without their times."""
    grid = {"scale": {"from": 1, "to": 3, "points": 40}, "count": [1, 2, -1], "delta": [1e-6, 0]}
    lines = tr.sweep(MAKE, grid, ASK, workers=1).to_csv().splitlines()
    return "".join(line.rpartition(",")[0] + "\n" for line in lines)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9")
def test_a_sweep_that_is_killed_goes_on_where_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sweep", "dpsgd.toml", "--out", "out.csv", "--no-times", "--workers", "1"]
    journal = Path("out.csv.journal")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    found = subprocess.run([sys.executable, "-c", KILLED, *arguments], env=environment, check=False)
    assert found.returncode == -signal.SIGKILL
    kept = journal.read_bytes()
    *lines, torn = kept.split(b"\n")
    assert 20 <= len(lines) <= 241
    assert not torn
    # What is kept is not asked again: an engine that nobody has would be gone.
    marked = json.loads(lines[1])
    marked["answers"][0]["engine"] = "kept"
    journal.write_bytes(b"\n".join([lines[0], json.dumps(marked).encode(), *lines[2:], b'{"index": 17, "ans']))
    assert run(arguments) == 2
    assert run([*arguments, "--resume"]) == 0
    assert not journal.exists()
    whole, wanted = Path("out.csv").read_text("utf-8").splitlines(), expected().splitlines()
    differ = [(line, other) for line, other in zip(whole, wanted, strict=True) if line != other]
    assert len(differ) == 1
    assert ",kept," in differ[0][0]
    told = capsys.readouterr()
    assert told.out.startswith("240 rows, 80 failed")
    assert "--resume goes on with it" in told.err
    assert "80 failed, the first of them configuration 4: count must be" in told.err


class Interrupted(Here):
    """As if somebody pressed a key in the midst of it."""

    def run(self, job: Job, chunks: Iterator[Chunk]) -> Generator[Rows, None, None]:
        yield from islice(super().run(job, chunks), 7)
        raise KeyboardInterrupt


def test_an_interrupt_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sweeping, "LocalProcesses", lambda workers: Interrupted())
    assert run(["sweep", "dpsgd.toml", "--out", "out.csv"]) == 130
    assert capsys.readouterr().err == (
        "tightrope: 7 of 240 configurations are kept; the same command with --resume goes on\n"
    )
    monkeypatch.setattr(sweeping, "LocalProcesses", lambda workers: Here())
    assert run(["sweep", "dpsgd.toml", "--out", "out.csv", "--no-times", "--resume"]) == 0
    assert Path("out.csv").read_text("utf-8") == expected()


def test_formats_hold_the_same_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_a_folder: Path
) -> None:
    monkeypatch.setattr(sweeping, "LocalProcesses", lambda workers: Here())
    pyarrow = pytest.importorskip("pyarrow.parquet")
    (in_a_folder / "dpsgd.toml").write_text(
        'make = "Gaussian(sigma=?) * {count}"\nask = "calibrate(epsilon={epsilon}, delta=1e-6)"\n'
        "[[grid]]\nepsilon = 1\ncount = 3\nlabel = 'a, b'\n[[grid]]\nepsilon = 0.5\ncount = -1\nlabel = 'c'",
        "utf-8",
    )
    for end in ("csv", "jsonl", "parquet"):
        assert run(["sweep", "dpsgd.toml", "--out", f"out.{end}", "--workers", "1", "--no-times"]) == 0
    with open("out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]
    table = pyarrow.read_table("out.parquet").to_pylist()
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma) * 3, epsilon=1, delta=1e-6)
    assert lines[0]["value"] == table[0]["value"] == float(rows[0]["value"]) == found.value
    assert lines == table
    validator = Draft202012Validator(json.loads(files("tightrope").joinpath("schema/sweep.json").read_text("utf-8")))
    assert all(validator.is_valid(line) for line in lines)
    assert [row["label"] for row in rows] == ["a, b", "c"]
    assert list(lines[0]) == list(rows[0]) == list(table[0])
    assert "count" in lines[1]["error"]
    assert capsys.readouterr().out.splitlines()[0].startswith("2 rows, 1 failed")


def test_bad_input_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", "dpsgd.toml", "--out", "out.txt"]) == 2
    assert run(["sweep", "missing.toml", "--out", "out.csv"]) == 2
    Path("out.csv").write_text("", "utf-8")
    assert run(["sweep", "dpsgd.toml", "--out", "out.csv", "--resume"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    assert ".csv, .jsonl, .parquet" in told[0]
    assert "there is nothing to resume" in told[2]


def test_the_page_of_sweeps_has_a_file_that_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], in_a_folder: Path
) -> None:
    page = (ROOT / "docs" / "sweeps.md").read_text("utf-8")
    text = (ROOT / "docs" / "dpsgd.toml").read_text("utf-8")
    assert f"```toml\n{text}```" in page
    (in_a_folder / "dpsgd.toml").write_text(text.replace("draws = 20", "draws = 2"), "utf-8")
    command = next(line.split() for line in page.splitlines() if line.startswith("    tightrope sweep "))
    monkeypatch.setattr(sweeping, "LocalProcesses", lambda workers: Here())
    assert run(command[1:]) == 0
    assert capsys.readouterr().out.startswith("4 rows, ")
    assert sorted(os.listdir()) == ["dpsgd.toml", "results.csv"]
