"""Training loops that a ledger pays for: real optimizers of Opacus, and what is charged for what they did."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
opacus = pytest.importorskip("opacus")
pytest.importorskip("sqlalchemy")

import tightrope.ledger as tl  # noqa: E402
from tightrope.core.values.errors import InvalidParameter  # noqa: E402
from tightrope.interop.opacus import spending  # noqa: E402
from tightrope.ledger.ledger import Ledger  # noqa: E402

RECORDS, BATCH = 400, 20
RATE = BATCH / RECORDS


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Opacus warns of its random numbers and of its hooks; neither is ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with tl.init(f"sqlite:///{tmp_path}/budget.db") as made:
        made.create("models", epsilon=8.0, delta=1e-6, relation="add_remove", unit="one record")
        yield made
        made.verify()


class Loop:
    """A linear model on random records, made private."""

    def __init__(self, **options: Any) -> None:
        torch.manual_seed(1)
        self.engine = opacus.PrivacyEngine(accountant="tightrope")
        model = torch.nn.Linear(5, 2)
        data = torch.utils.data.TensorDataset(torch.randn(RECORDS, 5), torch.randint(0, 2, (RECORDS,)))
        self.model, self.optimizer, self.loader = self.engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(data, batch_size=BATCH),
            max_grad_norm=1.0,
            noise_multiplier=1.1,
            **options,
        )

    def train(self, most: int) -> None:
        for taken, (records, labels) in enumerate(self.loader):
            if taken == most:
                break
            self.optimizer.zero_grad()
            torch.nn.functional.cross_entropy(self.model(records), labels).backward()
            self.optimizer.step()

    @property
    def weights(self) -> list[float]:
        return [float(each) for parameter in self.model.parameters() for each in parameter.detach().flatten()]


def axes(ledger: Ledger, what: str) -> dict[str, int]:
    return {axis["name"]: axis[what] for axis in ledger.status("models")["axes"] if not axis["dead"]}


def test_an_early_stop_is_charged_the_steps_that_ran(ledger: Ledger) -> None:
    loop = Loop()
    with spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=100, key="early") as paid:
        loop.train(12)
    assert (paid.taken, paid.left) == (12, 88)
    cost = ledger.quote("models", f"Gaussian(sigma=1.1).poisson(rate={RATE}) * 12").units
    assert axes(ledger, "spent") == {name: cost[name] for name in axes(ledger, "spent")}
    assert loop.engine.accountant.history == [(1.1, RATE, 12)]


def test_a_step_too_many_leaves_the_model_as_it_was(ledger: Ledger) -> None:
    loop = Loop()
    with (
        pytest.raises(tl.BudgetExhausted, match="all 3 steps"),
        spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=3, key="few"),
    ):
        loop.train(3)
        before = loop.weights
        loop.train(1)
    assert loop.weights == before
    assert len(loop.engine.accountant) == 3
    assert any(axes(ledger, "held").values())


def test_less_noise_than_was_paid_for_is_refused(ledger: Ledger) -> None:
    loop = Loop()
    before = loop.weights
    with (
        pytest.raises(tl.BudgetExhausted, match=r"no step Gaussian\(sigma=0.5\)"),
        spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=3, key="quiet"),
    ):
        loop.optimizer.noise_multiplier = 0.5
        loop.train(1)
    assert loop.weights == before


def test_the_hook_of_the_accountant_comes_back(ledger: Ledger) -> None:
    loop = Loop()
    before = loop.optimizer.step_hook
    with spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=2, key="hook"):
        assert loop.optimizer.step_hook is not before
    assert loop.optimizer.step_hook is before


def test_what_does_not_fit_is_refused_before_the_loop_begins(ledger: Ledger) -> None:
    loop = Loop()
    with (
        pytest.raises(tl.BudgetExhausted),
        spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=10**4, key="much"),
    ):
        pytest.fail("a loop runs that is not paid for")


def test_steps_that_sum_batches(ledger: Ledger) -> None:
    loop = Loop(poisson_sampling=False)
    with spending(ledger, "models", loop.optimizer, sample_rate=RATE, steps=4, batches=2, key="sums") as paid:
        batches = iter(loop.loader)
        for _ in range(2):
            for _ in range(2):
                records, labels = next(batches)
                torch.nn.functional.cross_entropy(loop.model(records), labels).backward()
            loop.optimizer.step()
            loop.optimizer.zero_grad()
    assert paid.taken == 2


def test_budgets_about_replaced_records_are_refused(ledger: Ledger) -> None:
    ledger.create("others", epsilon=8.0, delta=1e-6, relation="replace", unit="one record")
    with (
        pytest.raises(tl.RelationMismatch),
        spending(ledger, "others", Loop().optimizer, sample_rate=1.0, steps=1, key="replace"),
    ):
        pytest.fail("a loop runs that is not paid for")


def test_numbers_are_checked(ledger: Ledger) -> None:
    with (
        pytest.raises(InvalidParameter),
        spending(ledger, "models", Loop().optimizer, sample_rate=2.0, steps=1, key="rate"),
    ):
        pytest.fail("a loop runs that is not paid for")
