"""Many at once: threads and processes get the answers that one gets, bit for bit."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

from tests.engines.lattice.asking import terms_of
from tests.search import cases
from tightrope.core.engines.lattice import engine as lattice

QUESTIONS = (
    ("Gaussian(sigma=1.0).poisson(rate=0.01) * 300", "remove", 1.0),
    ("Laplace(scale=2).poisson(rate=0.3) * 2", "add", 0.06),
    ("DiscreteGaussian(sigma=3) * 20", "remove", 2.0),
    ("Laplace(scale=3) * 4 + RandomizedResponse(p=0.6)", "remove", 0.5),
)


def answer(index: int) -> tuple[str, str]:
    """One question's interval in hexadecimal."""
    expression, direction, epsilon = QUESTIONS[index % len(QUESTIONS)]
    value = lattice.prepare(terms_of(expression, direction), epsilon=epsilon, accuracy=1e-3).delta(epsilon)
    return value.lower.hex(), value.upper.hex()


def test_fifty_threads_agree_with_one() -> None:
    asked = cases(50, 100)
    alone = [answer(index) for index in range(len(QUESTIONS))]
    with ThreadPoolExecutor(50) as pool:
        together = list(pool.map(answer, range(asked)))
    assert together == [alone[index % len(QUESTIONS)] for index in range(asked)]


def test_several_processes_agree_with_one() -> None:
    alone = [answer(index) for index in range(len(QUESTIONS))]
    with ProcessPoolExecutor(cases(2, 8), mp_context=multiprocessing.get_context("spawn")) as pool:
        together = list(pool.map(answer, range(16)))
    assert together == [alone[index % len(QUESTIONS)] for index in range(16)]
