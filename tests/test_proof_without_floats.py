"""A proof uses balls and nothing else: with numpy and scipy out of reach it still answers."""

from __future__ import annotations

import sys
from typing import NoReturn

import pytest
from flint import arb

import tightrope as tr

CASES = [
    tr.Gaussian(sigma=10.0) * 100,
    tr.Gaussian(sigma=2.0).poisson(rate=0.1),
    tr.Laplace(scale=2.0) * 5,
    tr.Laplace(scale=2.0).poisson(rate=0.1),
    tr.DiscreteGaussian(sigma=3.0),
    tr.DiscreteLaplace(scale=3.0, sensitivity=2) * 3,
    tr.RandomizedResponse(p=0.51) * 512,
    tr.PureDP(epsilon=0.001) * 10**6,
    tr.ApproximateDP(epsilon=0.1, delta=1e-8).poisson(rate=0.5) * 10,
    tr.Finite(p=(0.5, 0.25, 0.25, 0.0), q=(0.25, 0.5, 0.0, 0.25)) * 3,
    tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1),
    tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000,
    tr.Exponential(epsilon=0.5) * 10,
    tr.RandomizedResponse(p=0.75).without_replacement(batch=1, records=2) * 2,  # floors, chosen anew
    tr.ZCDP(rho=0.1) * 3,
    tr.RenyiCurve(orders=(2.0, 8.0), divergences=(0.1, 0.4), both_directions=False),
    pytest.param(
        tr.Density(log_p=lambda x: x - arb(1).expm1().log(), log_q=lambda x: 0, support=(0, 1)) * 20,
        id="Density",  # its functions have no text
    ),
    pytest.param(tr.CharacteristicFunction(lambda z: z * (z + 1) / 50, (-99, 98), decay="falling") * 20, id="moments"),
]


class Absent:
    """Stands for a module that must not be touched."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(f"a proof reached for float64: {name}")

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        raise AssertionError("a proof reached for float64")


@pytest.mark.parametrize("mechanism", CASES, ids=repr)
def test_proof_needs_no_numpy(mechanism: tr.Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = mechanism.epsilon(delta=0.3, proof=True), mechanism.delta(epsilon=0.5, proof=True)
    for name, module in list(sys.modules.items()):
        if name.startswith("tightrope"):
            for attribute, value in list(vars(module).items()):
                origin = getattr(value, "__module__", None) or getattr(value, "__name__", None) or ""
                if isinstance(origin, str) and origin.split(".")[0] in ("numpy", "scipy"):
                    monkeypatch.setattr(module, attribute, Absent())
    for name in [name for name in sys.modules if name.split(".")[0] in ("numpy", "scipy")]:
        monkeypatch.setitem(sys.modules, name, Absent())
    found = mechanism.epsilon(delta=0.3, proof=True), mechanism.delta(epsilon=0.5, proof=True)
    assert found == expected
    assert all(bound.certificate is not None and bound.certificate.arithmetic == "ball" for bound in found)
