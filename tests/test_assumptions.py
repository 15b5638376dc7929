"""What a number rests on, in the words of its parts and of the command line."""

from __future__ import annotations

import tightrope as tr
from tightrope.core.text.assumptions import assumptions, described
from tightrope.core.values.question import Direction


def told(
    mechanism: tr.Mechanism, quantity: str = "epsilon", only: Direction | None = None, **given: float
) -> list[str]:
    return assumptions(repr(mechanism), quantity, getattr(mechanism, quantity)(**given, direction=only), only)


def test_neighbours_and_every_kind_of_part_once() -> None:
    run = tr.Gaussian(sigma=1).poisson(rate=0.5) * 3 + tr.Gaussian(sigma=2).poisson(rate=0.5) + tr.Laplace(scale=9)
    found = described(repr(run))
    assert [line.split(":")[0] for line in found] == ["Gaussian", "poisson", "Laplace"]
    assert found[0].startswith("Gaussian: Adds noise of standard deviation sigma")
    assert tr.Laplace.relations in found[2]
    assert told(run, delta=1e-5)[0] == "neighbours: one record is added or removed"


def test_names_and_files_are_no_parts() -> None:
    assert [line[:9] for line in described(repr(tr.Gaussian(sigma=1, name="Laplace(scale=1)")))] == ["Gaussian:"]
    assert described("") == []


def test_training_tells_its_loader() -> None:
    plain = tr.training(records=1000, batch=10, epochs=1, sigma=1.0)
    assert described(repr(plain))[-1].endswith("each record by itself with probability batch/records")
    shuffled = tr.training(records=1000, batch=10, epochs=1, sigma=1.0, sampling="shuffled")
    assert "new random order" in described(repr(shuffled))[-1]


def test_one_direction_draws_claims_and_what_the_ends_speak_of() -> None:
    one = told(tr.Gaussian(sigma=1), only=Direction.ADD, delta=0.1)
    assert one[-1] == "direction add only; the other one may cost more"
    drawn = told(tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95), delta=0.1)
    assert drawn[-1] == "holds with 95 % confidence"
    loose = told(tr.Exponential(epsilon=1.0), delta=0.1)
    assert any(line.startswith("the lower end is ") for line in loose)
    assert any(
        line.startswith("the loss is that of the dominating pair")
        for line in told(tr.Exponential(epsilon=1.0), "pdp", epsilon=0.1)
    )
