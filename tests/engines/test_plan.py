"""The planner: curves from few preparations, and what it says of itself."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest

import tightrope as tr
from tightrope.core.engines.selection import Engine, Evaluator, Term


@pytest.mark.parametrize(
    ("mechanism", "engine", "proof"),
    [
        (tr.Gaussian(sigma=2.0).poisson(rate=0.1) * 500, "contour", False),
        (tr.Gaussian(sigma=2.0).poisson(rate=0.1) * 500, "contour", True),
        (tr.Gaussian(sigma=2.0).poisson(rate=0.1) * 100 + tr.Laplace(scale=5.0), "lattice", False),
    ],
    ids=repr,
)
def test_a_curve_needs_few_preparations(
    mechanism: tr.Mechanism, engine: str, proof: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[str] = Counter()

    prepare = Engine.prepare

    def counting(engine: Engine, terms: Sequence[Term], **question: float | None) -> Evaluator:
        made[engine.name] += 1
        return prepare(engine, terms, **question)

    monkeypatch.setattr(Engine, "prepare", counting)
    epsilons = [0.1 * index for index in range(31)]
    bounds = mechanism.delta(epsilons, accuracy=1e-3, engine=engine, proof=proof, direction="remove")
    assert made[engine] <= 6
    assert all(later.lower <= earlier.upper for earlier, later in itertools.pairwise(bounds))
    for epsilon, shared in list(zip(epsilons, bounds, strict=True))[::10]:
        own = mechanism.delta(epsilon, direction="remove")
        assert shared.width <= 1e-3 * shared.upper
        assert shared.lower <= own.upper
        assert own.lower <= shared.upper


def test_engines_by_name() -> None:
    run = tr.Gaussian(sigma=1.0).poisson(rate=0.1) * 20
    bounds = {name: run.epsilon(1e-3, engine=name) for name in ("auto", "contour", "lattice")}
    bounds["buckets"] = run.epsilon(1e-3, engine="buckets", accuracy=0.1)
    assert bounds["auto"].certificate is not None
    assert bounds["auto"].certificate.engine == "contour"
    for one, other in itertools.combinations(bounds.values(), 2):
        assert one.lower <= other.upper
        assert other.lower <= one.upper
    with pytest.raises(tr.UnsupportedMechanism):
        run.epsilon(1e-3, engine="closed_form")
    with pytest.raises(tr.InvalidParameter, match="engine must be one of"):
        run.epsilon(1e-3, engine="magic")
