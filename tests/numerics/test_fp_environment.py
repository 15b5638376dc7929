"""Whatever the process did to float64 (modes, warnings, threads), answers contain the truth, or are refused."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tests.search import cases
from tightrope.core.engines import planner as plan
from tightrope.core.numerics import balls as ball
from tightrope.core.numerics import fp_environment
from tightrope.core.numerics.balls import lower_float, upper_float
from tightrope.core.values import compute_budget
from tightrope.core.values.question import Question


def run(code: str, *options: str) -> str:
    """The output of a program in a process of its own."""
    program = textwrap.dedent(code)
    done = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_conditions_hold_here() -> None:
    assert fp_environment.modes_hold()
    assert fp_environment.libraries_hold()
    assert fp_environment.erfcx_holds()


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sin", "cos", "arctan2", "hypot", "logaddexp"])
def test_a_function_that_is_a_little_off_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten units too many at every point, or a single one of half precision."""
    right = getattr(np, name)
    monkeypatch.setattr(np, name, lambda *x: right(*x) * (1.0 + 20.0 * 2.0**-53))
    fp_environment.libraries_hold.cache_clear()
    try:
        assert not fp_environment.libraries_hold()
    finally:
        monkeypatch.undo()
        fp_environment.libraries_hold.cache_clear()
    assert fp_environment.libraries_hold()


def test_balls_answer_where_a_library_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled = tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000
    discrete = tr.DiscreteGaussian(sigma=2.0) * 5
    expected = sampled.epsilon(delta=1e-6), discrete.delta(epsilon=1.0)
    monkeypatch.setattr(fp_environment, "libraries_hold", lambda: False)
    found = sampled.epsilon(delta=1e-6), discrete.delta(epsilon=1.0)
    for one, other in zip(expected, found, strict=True):
        assert one.lower <= other.upper
        assert other.lower <= one.upper
        assert other.certificate is not None
        assert other.certificate.arithmetic == "ball"
    with pytest.raises(tr.UnsupportedMechanism):
        sampled.epsilon(delta=1e-6, engine="buckets")


def test_a_change_between_two_questions_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    terms = ((tr.Laplace(scale=2.0).pair(tr.Direction.REMOVE), 3),)
    planner = plan.Planner(terms, Question("delta"), several=True)
    first = planner.answer(plan.Point("delta", 0.5), 1e-6)
    monkeypatch.setattr(fp_environment, "modes_hold", lambda: False)
    again = planner.answer(plan.Point("delta", 0.5), 1e-6)
    assert again.arithmetic == "ball"
    assert first.lower <= again.upper
    assert again.lower <= first.upper


def test_doubles_from_balls_without_gradual_underflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ball, "gradual_underflow", lambda: False)
    tiny = arb(2) ** -1040
    assert (lower_float(tiny), upper_float(tiny)) == (0.0, 2.0**-1022)
    assert (lower_float(-tiny), upper_float(-tiny)) == (-(2.0**-1022), 0.0)
    assert (lower_float(arb(0)), upper_float(arb(0))) == (0.0, 0.0)
    assert lower_float(arb(0.25)) == upper_float(arb(0.25)) == 0.25


def test_subnormal_numbers_are_refused_where_they_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fp_environment, "gradual_underflow", lambda: False)
    with pytest.raises(tr.UnsupportedMechanism):
        tr.Gaussian(sigma=1.0).epsilon(delta=1e-310)
    with pytest.raises(tr.UnsupportedMechanism):
        tr.Gaussian(sigma=1.0).poisson(rate=1e-310).delta(epsilon=0.5)
    tr.Gaussian(sigma=1.0).epsilon(delta=1e-300)


MODES = """
    import ctypes, ctypes.util, mmap, sys, platform

    def set_mode(control):  # mov [rsp-4], edi; ldmxcsr [rsp-4]; ret
        code = bytes([0x89, 0x7C, 0x24, 0xFC, 0x0F, 0xAE, 0x54, 0x24, 0xFC, 0xC3])
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(code)
        ctypes.CFUNCTYPE(None, ctypes.c_uint32)(ctypes.addressof(ctypes.c_char.from_buffer(page)))(control)
        return page

    import tightrope as tr

    questions = {
        "gaussian": (tr.Gaussian(sigma=2.0) * 10, 1.5),
        "sampled": (tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 300, 1.0),
        "laplace": (tr.Laplace(scale=3.0) * 4, 0.7),
        "response": (tr.RandomizedResponse(p=0.51) * 400, 0.3),
        "deep": (tr.Gaussian(sigma=1.0), 38.5),
    }
    asked = {name: run.delta(epsilon=epsilon) for name, (run, epsilon) in questions.items()}
    page = set_mode(CONTROL)
    failed = []
    for name, (run, epsilon) in questions.items():
        found = run.delta(epsilon=epsilon)
        if not (found.lower <= asked[name].upper and asked[name].lower <= found.upper):
            failed.append((name, found, asked[name]))
        if found.certificate.arithmetic != "ball":
            failed.append((name, found.certificate))
    page = set_mode(0x1F80)
    assert not failed, failed
    print("ok")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sets the modes by machine code")
@pytest.mark.parametrize(
    "control",
    [
        pytest.param(0x1F80 | 0x8040, id="flush both"),
        pytest.param(0x1F80 | 0x4000, id="up"),
        pytest.param(0x1F80 | 0x0040, id="flush operands"),
        pytest.param(0x1F80 | 0x8000, id="flush results"),
        pytest.param(0x1F80 | 0x2000, id="down"),
        pytest.param(0x1F80 | 0x6000, id="to zero"),
    ][: cases(2, 6)],
)
def test_modes_of_the_processor(control: int) -> None:
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("machine code for x86-64")
    assert run(MODES.replace("CONTROL", hex(control))) == "ok\n"


MIXED = {
    "closed form": lambda: (tr.Gaussian(sigma=2.0) * 10).epsilon(delta=1e-6),
    "response": lambda: (tr.RandomizedResponse(p=0.51) * 512).delta(epsilon=0.5),
    "contour": lambda: (tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000).epsilon(delta=1e-6),
    "contour in balls": lambda: (tr.Gaussian(sigma=2.0).poisson(rate=0.02) * 50).delta(epsilon=0.5, proof=True),
    "few hits": lambda: (tr.Gaussian(sigma=1.0).poisson(rate=1e-3) * 20).delta(epsilon=0.5),
    "lattice": lambda: (tr.Laplace(scale=2.0).poisson(rate=0.3) * 5).delta(epsilon=0.5, engine="lattice"),
    "discrete": lambda: (tr.DiscreteGaussian(sigma=2.0) * 10).epsilon(delta=1e-6),
    "lattice in integers": lambda: (tr.RandomizedResponse(p=0.6) * 5).delta(epsilon=1.0, proof=True, engine="lattice"),
    "buckets": lambda: (tr.Laplace(scale=2.0) * 4).delta(epsilon=1.0, accuracy=0.9, engine="buckets"),
    "buckets of a finite law": lambda: (tr.Finite(p=(0.5, 0.4, 0.1), q=(0.4, 0.5, 0.1)) * 16).delta(
        epsilon=0.3, engine="buckets"
    ),
    "truncated": lambda: (tr.TruncatedLaplace(scale=2.0, bounds=(-20.0, 20.0)) * 4).delta(epsilon=1.0),
    "density": lambda: (own() * 10).delta(epsilon=1.0),
    "exponential": lambda: (tr.Exponential(epsilon=0.3) * 20).epsilon(delta=1e-5),
    "data": lambda: (tr.Histograms(a=(900, 80, 20), b=(880, 95, 25), confidence=0.95) * 3).delta(epsilon=0.5),
    "compared": lambda: [row.value for row in tr.compare(tr.Laplace(scale=9.0) * 10, delta=1e-6).rows],
    "renyi": lambda: (tr.Laplace(scale=2.0).poisson(rate=0.1) * 4).renyi(3.0),
    "far out": lambda: (tr.Gaussian(sigma=0.05) + tr.Laplace(scale=0.01)).delta(epsilon=100.0),
    "spread": lambda: (tr.ApproximateDP(epsilon=0.1, delta=1e-7) * 5 + tr.Gaussian(sigma=3.0)).epsilon(delta=1e-5),
}

_OWN: list[tr.Density] = []


def own() -> tr.Density:
    """One density for all threads: its caches are shared."""
    if not _OWN:
        _OWN.append(tr.Density(log_p=lambda x: x - arb(1).expm1().log(), log_q=lambda x: 0, support=(0, 1)))
    return _OWN[0]


def asked(name: str) -> object:
    """The answer, with so much time that eight threads on one slow core end by themselves."""
    with compute_budget.allowance(600.0):
        return MIXED[name]()


@cache
def alone(name: str) -> object:
    """The answer that one thread gets, for all who compare with it."""
    return asked(name)


def test_eight_threads_agree_with_one() -> None:
    own()
    serial = {name: alone(name) for name in MIXED}
    most = cases(3, 6)  # of a thread: nearly each is asked by two or more
    rows = [[*MIXED, *MIXED][2 * start :][:most] for start in range(8)]

    def all_of(names: list[str]) -> dict[str, object]:
        return {name: asked(name) for name in names}

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(all_of, rows):
            assert found == {name: serial[name] for name in found}


def test_a_cache_that_another_thread_empties() -> None:
    """The laws of a density are kept; a full cache is emptied while others read from it."""
    from tightrope.core.losses.density.density_cgf import LAWS_KEPT

    cgf = own().pair(tr.Direction.REMOVE).cgf()
    assert cgf is not None

    def many(start: int) -> list[float]:
        return [cgf.log_mgf_above(0.5 + ((start + index) % (LAWS_KEPT + 3)) / 8.0) for index in range(60)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(many, range(8)))
    assert found[0] == many(0)


@pytest.mark.parametrize("name", MIXED)
def test_numpy_that_raises_changes_nothing(name: str) -> None:
    expected = alone(name)
    with np.errstate(all="raise"):
        assert asked(name) == expected


def test_no_warning_leaves_a_process_where_they_are_errors() -> None:
    code = """
        import numpy as np
        np.seterr(all="raise")
        from tests.numerics.test_fp_environment import MIXED
        from tests.search import FULL
        for name, ask in list(MIXED.items())[:: 1 if FULL else 3]:
            try:
                ask()
            except Exception as error:
                raise AssertionError(name) from error
        print("ok")
    """
    assert run(code, "-W", "error") == "ok\n"
