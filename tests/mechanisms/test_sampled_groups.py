"""Groups of records in samples of a Gaussian: reference values, engines against each other, identities."""

from __future__ import annotations

import pytest

from tightrope.core.mechanisms.gaussian import Gaussian
from tightrope.core.text.expressions import parse

GROUP = Gaussian(sigma=1.0).poisson(rate=0.1).group(size=2)


@pytest.mark.parametrize(
    ("direction", "epsilon", "delta"),
    [("remove", 1.0, 0.0038260518157870417258), ("add", 0.2, 0.000015100600690477958571)],
)
def test_reference_values(direction: str, epsilon: float, delta: float) -> None:
    for proof in (False, True):
        found = GROUP.delta(epsilon=epsilon, direction=direction, proof=proof)
        assert found.lower * (1 - 1e-14) <= delta <= found.upper * (1 + 1e-14)
        assert found.upper - found.lower <= 1e-12 * delta


@pytest.mark.parametrize("text", ["Gaussian(sigma=3).poisson(rate=0.5)"])
def test_engines_overlap(text: str) -> None:
    run = parse(text).group(size=3) * 40
    contour = run.delta(epsilon=3.0, engine="contour")
    lattice = run.delta(epsilon=3.0, engine="lattice")
    proven = run.delta(epsilon=3.0, engine="contour", proof=True)
    assert contour.lower <= lattice.upper
    assert lattice.lower <= contour.upper
    assert contour.lower <= proven.upper
    assert proven.lower <= contour.upper
    assert contour.upper - contour.lower <= 1e-9 * contour.upper


def test_batches() -> None:
    base = Gaussian(sigma=2.0).without_replacement(batch=20, records=100, neighbours="add_remove")
    grouped, one = base.group(size=3) * 30, base * 30
    found = grouped.delta(epsilon=2.0)
    assert found.upper > one.delta(epsilon=2.0).lower
    assert grouped.tight
    # Drawn without replacement the group's number of hits varies less than in a Poisson sample of the same rate.
    assert found.upper < (Gaussian(sigma=2.0).poisson(rate=0.2).group(size=3) * 30).delta(epsilon=2.0).lower
