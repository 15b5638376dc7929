"""On the paper's studies the default engine's interval lies inside that of privacy buckets, up to its accuracy of 1e-6.

Buckets are exact to 1e-8 where the losses lie on their grid; elsewhere the default is narrower by orders of magnitude.
"""

from __future__ import annotations

import math

import pytest

import tightrope as tr

AIM = 1e-6
VUVUZELA = {"bounds": (0.0, math.inf), "mode": "clamp", "integer": True, "sensitivity": 2}
STUDIES = [
    (tr.TruncatedLaplace(scale=200.0, bounds=(-2500.0, 2500.0)) * 512, 1e-4),
    (tr.TruncatedGaussian(sigma=200.0 * math.sqrt(2.0), bounds=(-2500.0, 2500.0)) * 512, 1e-4),
    (tr.RandomizedResponse(p=0.51, neighbours="add_remove") * 512, 1e-4),
    (tr.Gaussian(sigma=4.0).poisson(rate=0.01) * 256, 1e-5),
    (tr.TruncatedGaussian(sigma=833.0, mean=4100.0, **VUVUZELA) * 1024, 1e-4),
    (tr.TruncatedLaplace(scale=770.0, mean=13000.0, **VUVUZELA) * 1024, 1e-4),
]


@pytest.mark.parametrize(("run", "delta"), STUDIES, ids=lambda value: repr(value)[:60])
def test_default_lies_inside_buckets(run: tr.Mechanism, delta: float) -> None:
    for direction in ("remove", "add"):
        narrow = run.epsilon(delta, direction=direction)
        wide = run.epsilon(delta, direction=direction, engine="buckets", accuracy=0.05)
        assert wide.lower * (1.0 - AIM) <= narrow.lower
        assert narrow.upper <= wide.upper * (1.0 + AIM)
        assert narrow.lower <= wide.upper
        assert wide.lower <= narrow.upper
