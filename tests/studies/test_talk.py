"""Parts of the second source's studies against truths that share no code with them."""

from __future__ import annotations

from statistics import NormalDist

import pytest

from studies.characteristic_function import experiment_3
from studies.characteristic_function.fourier import sampled_gaussian_delta

NORMAL = NormalDist()


def test_a_fourier_accountant_of_one_whole_use_is_the_normal_formula() -> None:
    """At rate 1 and one use: Phi(1/2 - e) - e^e Phi(-1/2 - e) for sigma 1."""
    truth = NORMAL.cdf(0.5 - 0.25) - 2.718281828459045**0.25 * NORMAL.cdf(-0.5 - 0.25)
    assert sampled_gaussian_delta(1.0, 1.0, 1, 0.25, 2**16, 20.0) == pytest.approx(truth, rel=1e-6)


def test_its_error_falls_with_the_square_of_the_grid() -> None:
    truth = experiment_3.removed()
    coarse, fine = (experiment_3.error(points, truth) for points in (2**16, 2**18))
    assert fine == pytest.approx(coarse / 16.0, rel=0.05)
