"""The same run with each loader: what each costs, which neighbours it speaks of, and by which theorem.

Rows with different neighbours answer different questions: replacing a record is not adding or removing one.
Guarantee: each bound is that of its own run; a loader that no theorem covers here says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack, cast

from ...tables import Column, Table, Tabled
from ..mechanisms.encoders import IDENTITY_WORD, encoder_of
from ..mechanisms.parameters import Matrix
from ..mechanisms.training import LOADERS, OWN_KEYWORDS, training
from ..values import compute_budget
from ..values.bound import Bound
from ..values.calls import checked, short
from ..values.errors import AccuracyNotReached, TightropeError
from ..values.question import SECONDS, Relation
from .unknown import OpenPlan, in_turn

if TYPE_CHECKING:
    from ...plotting.style import Axes, Figure


NEIGHBOURS = MappingProxyType({Relation.ADD_REMOVE: "add or remove", Relation.REPLACE: "replace", None: ""})

# Those that take long come last, and have what the others leave.
QUICK_FIRST = (
    *("poisson", "truncated", "in_order", "any_order", "groups", "fixed", "shuffled"),
    *("allocated", "bins", "with_replacement"),
)
LIKE_OTHERS = ("any_order", "groups")  # where each step has noise of its own: in_order, poisson

# What whoever has such a loader should know.
CAUTIONS = MappingProxyType(
    {
        "shuffled": "the Poisson number is no bound for it: no theorem that we know of amplifies a shuffled epoch, and "
        "there are runs where it loses more than Poisson batches do (Chua et al. 2024)"
    }
)


@dataclass(frozen=True, slots=True)
class SamplingRow:
    """A loader: what it is assumed to do, the run with it and its epsilon; or why there is none."""

    sampling: str
    assumed: str
    run: training | None
    bound: Bound | None
    refused: str = ""
    missed: bool = False  # whether it is wider than the accuracy asked for
    late: bool = False  # whether more time may narrow it
    seconds: float = field(default=0.0, compare=False)

    @property
    def relation(self) -> Relation | None:
        """Which datasets are neighbours under this way to sample; None where no run is."""
        return None if self.run is None else self.run.relation

    @property
    def neighbours(self) -> str:
        """The same in words; empty where no run is."""
        several = 1 if self.run is None else self.run.group_size
        return NEIGHBOURS[self.relation] + (f", up to {several}" if several > 1 else "")

    @property
    def theorem(self) -> str:
        """What the bound rests on."""
        return "" if self.run is None else self.run.sampling_theorem

    @property
    def width(self) -> float:
        """Of the bound; inf where there is none."""
        return math.inf if self.bound is None else self.bound.width


@dataclass(frozen=True, slots=True)
class Samplings(Tabled):
    """epsilon at one delta, a row per loader."""

    delta: float
    rows: tuple[SamplingRow, ...]

    def __iter__(self) -> Iterator[SamplingRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        from .plan_text import samplings

        return samplings(self)

    @property
    def table(self) -> Table:
        """A row each: sampling, the interval of epsilon or that it is refused, and the neighbours."""
        bounds = ["refused" if row.bound is None else str(row.bound) for row in self.rows]
        columns = (
            Column("sampling", [row.sampling for row in self.rows]),
            Column(f"epsilon at delta {short(self.delta)}", bounds),
            Column("neighbours", [row.neighbours for row in self.rows]),
        )
        return Table(columns)

    @property
    def data(self) -> Table:
        """A row each: sampling, lower, upper, relation, theorem, what is assumed, and why there is no bound."""
        from .plan_text import linked

        bounds = [row.bound for row in self.rows]
        columns = (
            Column("sampling", [row.sampling for row in self.rows]),
            Column("lower", [None if bound is None else bound.lower for bound in bounds]),
            Column("upper", [None if bound is None else bound.upper for bound in bounds]),
            Column("neighbours", [row.neighbours for row in self.rows]),
            Column("theorem", [linked(row.theorem) for row in self.rows]),
            Column("assumed", [row.assumed for row in self.rows]),
            Column("refused", [row.refused for row in self.rows]),
        )
        return Table(columns)

    @checked
    def plot(self, path: str | PathLike[str] | None = None, *, ax: Axes | None = None) -> Figure:
        """The interval of each loader, the neighbours beside it."""
        from .pictures import draw_samplings

        return draw_samplings(self, path, ax=ax)

    def _repr_png_(self) -> bytes | None:
        from ...plotting.style import png

        return png(self.plot)


class AskedRun(OpenPlan, total=False):
    """The keywords of a run, without its loader, and those of epsilon."""

    schedule: Matrix | None
    accuracy: float | None
    proof: bool


@checked
def by_sampling(
    delta: float,
    *,
    seconds: float = SECONDS,
    told: Callable[[str], object] = lambda step: None,
    **plan: Unpack[AskedRun],
) -> Samplings:
    """epsilon at delta of one training run with every loader there is.

    plan: keywords of tr.training without sampling; cap, bins and separation are used by the loaders that have them. Of
    noise that steps share the loaders that go with it. accuracy and proof are those of epsilon. seconds: for all rows
    together. told: called with a few words before each row.
    """
    given = cast(dict[str, Any], plan)
    manner: dict[str, Any] = {name: given.pop(name) for name in ("accuracy", "proof") if name in given}
    shared = not encoder_of(given.get("matrix", IDENTITY_WORD), given.get("toeplitz"), given.get("inverse")).independent
    names = tuple(
        name for name, loader in LOADERS.items() if (loader.correlated if shared else name not in LIKE_OTHERS)
    )

    def ask(index: int, share: float) -> SamplingRow:
        told(f"epsilon of sampling {names[index]}")
        return _row(names[index], given, delta, {**manner, "seconds": share})

    order = sorted(range(len(names)), key=lambda index: QUICK_FIRST.index(names[index]))
    return Samplings(delta, in_turn(len(names), seconds, ask, order))


def _row(name: str, given: dict[str, Any], delta: float, manner: dict[str, Any]) -> SamplingRow:
    """The answer for one loader, or why there is none."""
    loader, began = LOADERS[name], time.perf_counter()
    own = {key: value for key, value in given.items() if key not in OWN_KEYWORDS or key in loader.takes}
    run: training | None = None
    bound: Bound | None = None
    refused, missed = "", False
    with compute_budget.allowance(manner["seconds"]) as meter:
        try:
            run = training(**own, sampling=name)
            bound = run.epsilon(delta, **manner)
        except AccuracyNotReached as error:
            bound, missed = error.bound, True
        except TightropeError as error:
            refused = str(error)
    late = meter.exhausted is not None and (bound is None or missed or bound.wide is not None)
    return SamplingRow(name, loader.assumed, run, bound, refused, missed, late, time.perf_counter() - began)
