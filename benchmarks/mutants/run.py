"""One mutant, one process, forked with the libraries loaded but not the package: the tests of its line until one fails.

The source on disk is never changed: the process imports the mutated text in its place.
"""

from __future__ import annotations

import importlib.machinery
import os
import resource
import signal
import time
import traceback
import types
from functools import cache
from itertools import accumulate
from pathlib import Path

import pytest

from benchmarks.mutants.reach import ROOT, costs, tests_of
from benchmarks.mutants.sample import Mutant

OWN_SECONDS, OTHER_SECONDS = 3.0, 2.0  # CPU of the tests that a mutant is given: of its own room, of others
TESTS_MAX = 40  # of each kind: every file of tests is imported, which takes its time too
PATIENCE = 4.0  # times what they take without the fault
START_SECONDS = 20.0
MEMORY = 3 << 30
LOADED = ("numpy", "scipy.special", "scipy.fft", "flint", "mpmath", "hypothesis", "click")
SURVIVED, KILLED, TIMEOUT, UNREACHED = "survived", "killed", "timeout", "unreached"
OWN_FAILURE = 99


def load() -> None:
    """What every process needs, once."""
    for name in LOADED:
        importlib.import_module(name)


def chosen(mutant: Mutant, share: float = 1.0) -> list[str]:
    """Tests that run the line: of the mirror first, then others, the cheapest first, as many as the seconds pay."""
    lines = tests_of(mutant.file)
    tests = lines.get(mutant.line, [])
    if not tests:  # what runs at import, and second lines of a statement
        before = [line for line in lines if line < mutant.line and lines[line]]
        tests = lines[max(before)] if before else [test for found in lines.values() for test in found]
    room = f"tests/{Path(mutant.path.removeprefix('core/')).parent}/"  # tests of core/engines are in tests/engines
    if not tests:  # a file of constants
        tests = [test for test in costs() if test.startswith(room)]
    ordered = sorted(set(tests), key=lambda test: (costs()[test], test))
    found: list[str] = []
    for own, seconds in ((True, OWN_SECONDS), (False, OTHER_SECONDS)):
        part = [test for test in ordered if test.startswith(room) == own]
        spent = accumulate(costs()[test] for test in part)
        found += [test for test, total in zip(part, spent, strict=True) if total <= seconds * share][
            : int(TESTS_MAX * share)
        ]
    return found or ordered[:1]


class FirstFailure:
    """Runs the chosen tests in their order, and sends the name of the one that fails."""

    def __init__(self, tests: list[str], pipe: int) -> None:
        self.pipe = pipe
        self.order = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """A case that the fault renamed is looked for among all cases of its function."""
        found = {item.nodeid for item in items}
        renamed = {_function(test) for test in self.order if test not in found}
        kept = [item for item in items if item.nodeid in self.order or _function(item.nodeid) in renamed]
        items[:] = sorted(kept, key=lambda item: self.order.get(item.nodeid, len(self.order)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.pipe, report.nodeid.encode() + b"\n")


def _function(test: str) -> str:
    return test.partition("[")[0]


def mutated(path: Path, code: str) -> None:
    """From here on this file is imported with other text."""
    plain = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> types.CodeType | None:
        if self.path == str(path):
            return compile(code, str(path), "exec", dont_inherit=True)
        return plain(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment,method-assign]


def outcome(mutant: Mutant, share: float = 1.0) -> dict[str, object]:
    """Killed (by which test), survived, or timed out; unreached where no test runs its file."""
    code = mutant.code()
    assert code is not None
    before, after = mutant.change()
    start = time.monotonic()
    status, by, tests = UNREACHED, "", chosen(mutant, share)
    while tests:
        status, by = attempt(mutant.file, code, tests)
        if status != KILLED or passes(mutant.file, by or tests[0]):
            break
        tests = [test for test in tests if test != (by or tests[0])]
    found = {"line": mutant.line, "before": before, "after": after, "tests": len(tests), "status": status, "by": by}
    return found | {"seconds": round(time.monotonic() - start, 1)}


@cache
def passes(file: Path, test: str) -> bool:
    """Whether a test passes in such a process without any fault: else it says nothing about a mutant."""
    return attempt(file, file.read_text(), [test])[0] == SURVIVED


def attempt(file: Path, code: str, tests: list[str]) -> tuple[str, str]:
    """The tests, with this text in place of the file's: what came of it, and the test that failed."""
    limit = START_SECONDS + PATIENCE * sum(costs().get(test, 1.0) for test in tests)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _child(file, code, tests, writer, limit)
    os.close(writer)
    status = _wait(child, time.monotonic() + 3.0 * limit)
    with os.fdopen(reader) as pipe:
        by = pipe.readline().strip()
    if status == OWN_FAILURE:
        raise RuntimeError(f"pytest did not start on {file}: see above")
    return {0: SURVIVED, None: TIMEOUT}.get(status, KILLED), by


def _child(file: Path, code: str, tests: list[str], writer: int, limit: float) -> None:
    status = OWN_FAILURE
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(silent, stream)
        os.chdir(ROOT)
        mutated(file, code)
        options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--hypothesis-seed=0"]
        functions = list(dict.fromkeys(map(_function, tests)))
        quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what is loaded before the fork
        status = int(pytest.main([*options, *quiet, *functions], plugins=[FirstFailure(tests, writer)]))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _wait(child: int, deadline: float) -> int | None:
    """The status with which it ended; None where it took too long."""
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)
            return None if late else (os.waitstatus_to_exitcode(status))
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.02)
