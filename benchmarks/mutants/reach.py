"""Which test reaches which line, and what each test takes: one run of the suite with coverage contexts.

A mutant is given only to tests that run its line. Tests that start processes of their own are not seen there.
Usage: python -m benchmarks.mutants.reach [TESTS ...] (default: the rooms that compute). Writes build/mutants/reach.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "mutants"
LINES = FOLDER / "reach.sqlite"
COSTS = FOLDER / "reach.json"
TESTS = ("numerics", "losses", "engines", "mechanisms", "properties", "conformance", "checker")


class Recorder:
    """Names each test to the coverage before it runs, and keeps its CPU seconds."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.costs: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.failed.add(report.nodeid)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.measured.switch_context(item.nodeid)
        start = time.process_time()
        yield
        self.costs[item.nodeid] = time.process_time() - start
        self.measured.switch_context("")


def record(tests: list[str]) -> int:
    """Runs the tests and adds what they reach to what is known."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    measured = coverage.Coverage(
        data_file=str(LINES), include=[str(ROOT / "src" / "tightrope" / "*")], config_file=False
    )
    measured.set_option("run:relative_files", True)
    if LINES.exists():
        measured.load()
    recorder = Recorder(measured)
    measured.start()
    status = pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[recorder])
    measured.stop()
    measured.save()
    known = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    passed = {test: cost for test, cost in recorder.costs.items() if test not in recorder.failed}
    COSTS.write_text(json.dumps(known | passed, indent=0))
    return int(status)


@cache
def costs() -> dict[str, float]:
    """CPU seconds of each test."""
    found: dict[str, float] = json.loads(COSTS.read_text())
    return found


@cache
def tests_of(path: Path) -> dict[int, list[str]]:
    """The tests that run each line of a file of the package."""
    data = coverage.CoverageData(str(LINES))
    data.read()
    found: dict[int, list[str]] = data.contexts_by_lineno(str(path.relative_to(ROOT)))
    return {line: [test for test in tests if test in costs()] for line, tests in found.items()}


if __name__ == "__main__":
    chosen = sys.argv[1:] or [f"tests/{room}" for room in TESTS if (ROOT / "tests" / room).is_dir()]
    sys.exit(record(chosen))
