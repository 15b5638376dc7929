"""Opacus's accountant interface, answered with certified ends: `PrivacyEngine(accountant="tightrope")`.

Importing this module registers the accountant with Opacus under that name. An entry (noise_multiplier, sample_rate,
steps) of its history stands for Gaussian(sigma=noise_multiplier).poisson(rate=sample_rate) * steps, which is what
Opacus runs with poisson_sampling=True: each record joins each batch by a coin of its own, and neighbours differ by one
record that is added or removed. A step that sums several batches has their number as a fourth entry: a record may be
in more than one of them, so it is a mixture over binomially many hits, and not a sample at a higher rate.
Guarantee: get_epsilon returns the upper end of `bound`, which contains the epsilon of exactly this history.
Reference: opacus.accountants.accountant.IAccountant (1.6.0), whose source this follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import ApproximateDP, Gaussian, InvalidParameter, Relation, compose
from ..extend.parameters import nonnegative, probability, whole
from ..extend.questions import SECONDS
from .missing import missing
from .spending import StepSpending, counted, relation_of

try:
    from opacus.accountants import IAccountant, register_accountant
except ImportError as error:
    raise missing("opacus", "opacus>=1.5") from error

if TYPE_CHECKING:
    from .. import Bound, Mechanism
    from ..ledger import Ledger

NAME = "tightrope"


class Steps(NamedTuple):
    """So many steps alike, each a noisy sum over so many Poisson batches."""

    noise_multiplier: float
    sample_rate: float
    steps: int
    batches: int

    @staticmethod
    def read(entry: Iterable[Any]) -> Steps:
        """From an entry of a history: three numbers, or four where batches were accumulated."""
        found = tuple(entry)
        if len(found) not in (3, 4):
            raise InvalidParameter(
                f"an entry of history is (noise_multiplier, sample_rate, steps) or these and batches, not {entry!r:.60}"
            )
        noise, rate, steps, batches = (*found, 1)[:4]
        return Steps(
            nonnegative("noise_multiplier", float(noise)),
            probability("sample_rate", float(rate)),
            whole("steps", steps, least=1),
            whole("batches", batches, least=1),
        )

    @property
    def entry(self) -> tuple[float | int, ...]:
        """As Opacus writes it."""
        return tuple(self) if self.batches > 1 else tuple(self)[:3]

    @property
    def mechanism(self) -> Mechanism:
        """One of the steps; without noise a batch shows who is in it."""
        noisy = self.noise_multiplier > 0.0
        base = Gaussian(sigma=self.noise_multiplier) if noisy else ApproximateDP(epsilon=0.0, delta=1.0)
        sampled = base.poisson(rate=self.sample_rate)
        return sampled if self.batches == 1 else sampled.group(size=self.batches)


class OpacusAccountant(IAccountant):  # type: ignore[misc]  # Opacus has no types here
    """Counts steps as Opacus does, and bounds their epsilon from both sides."""

    history: list[tuple[float | int, ...]]

    def __init__(self) -> None:
        super().__init__()

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """One noisy step on one Poisson batch."""
        self._add(Steps.read((noise_multiplier, sample_rate, 1)))

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus's optimizers call after each step; the batches that a step sums are counted, not their rates."""

        def hook(optimizer: Any) -> None:
            self._add(Steps.read((optimizer.noise_multiplier, sample_rate, 1, optimizer.accumulated_iterations)))

        return hook

    def _add(self, new: Steps) -> None:
        if self.history:
            last = Steps.read(self.history[-1])
            if last._replace(steps=1) == new:
                self.history[-1] = last._replace(steps=last.steps + 1).entry
                return
        self.history.append(new.entry)

    @property
    def run(self) -> Mechanism:
        """All steps so far as a mechanism of tightrope, for any other question."""
        return compose([steps.mechanism * steps.steps for steps in map(Steps.read, self.history)])

    def bound(self, delta: float, *, seconds: float = SECONDS, accuracy: float | None = None) -> Bound:
        """Both ends of the epsilon spent so far, with their certificate."""
        return self.run.epsilon(delta=delta, seconds=seconds, accuracy=accuracy)

    def get_epsilon(self, delta: float, *, seconds: float = SECONDS, **others: object) -> float:
        """The upper end: what can be promised. Settings of Opacus's other accountants are ignored."""
        return self.bound(delta, seconds=seconds).upper

    def __len__(self) -> int:
        """How many steps were taken."""
        return sum(Steps.read(entry).steps for entry in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name that Opacus knows it by."""
        return NAME

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """What state_dict gave, checked; a history of another accountant is taken over by assigning it."""
        known = [Steps.read(entry).entry for entry in (state_dict or {}).get("history", ())]
        super().load_state_dict(state_dict)
        self.history = known


@contextmanager
def spending(
    ledger: Ledger, budget: str, optimizer: Any, *, sample_rate: float, steps: int, key: str, **options: Any
) -> Iterator[StepSpending]:
    """Pays for a training loop: reserves its steps, counts each before the model moves, commits those that were taken.

    optimizer: what make_private gave, with the noise that it has now. sample_rate: 1/len(data_loader). steps: the most
    that may be taken. options: batches, where a step sums several; ttl, slack and note, as `Ledger.spend` has them.
    A step beyond these, or with other noise, raises BudgetExhausted and leaves the model as it was. A hook that the
    optimizer had before, such as an accountant's, is called after ours.
    """
    relation_of(ledger, budget, Relation.ADD_REMOVE.value)
    reserved = Steps.read((optimizer.noise_multiplier, sample_rate, steps, options.pop("batches", 1)))
    before = optimizer.step_hook
    with counted(ledger, budget, reserved.mechanism * reserved.steps, key, **options) as step_spending:

        def hook(stepping: Any) -> None:
            now = (stepping.noise_multiplier, sample_rate, 1, stepping.accumulated_iterations)
            step_spending.step(Steps.read(now).mechanism)
            if before is not None:
                before(stepping)

        optimizer.attach_step_hook(hook)
        try:
            yield step_spending
        finally:
            optimizer.attach_step_hook(before)


register_accountant(NAME, OpacusAccountant, force=True)
