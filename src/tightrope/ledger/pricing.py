"""What a job costs, worked out before any transaction begins, and kept: the same job costs the same."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from time import monotonic
from typing import Any

from .. import InvalidParameter, Mechanism, UnsupportedMechanism, WorkExhausted, parse
from ..extend import work
from ..extend.mechanisms import Transformation
from .chain import canonical
from .filters import kind_of
from .filters.base import Design, Price, Wanted
from .forking import GATE

PRICE_SECONDS = work.Rating(20.0)  # of work: no load changes a price
TRANSFORMED_MAX = 6  # transformations of one another in a job: what follows is not all counted as work
PRICES_KEPT = 1000
JOB_LETTERS_MAX = 20_000
LATE = f"what it costs could not be worked out in {PRICE_SECONDS:g} seconds of work: a simpler job may do"
NESTED = f"a job has at most {TRANSFORMED_MAX} transformations of one another here: say it with fewer"


class PriceSeconds:
    """How long prices took, by the clock."""

    seconds = 0.0


_TOOK: ContextVar[PriceSeconds | None] = ContextVar("tightrope_price_seconds", default=None)


@contextmanager
def price_seconds() -> Iterator[PriceSeconds]:
    """Counts what prices take meanwhile, in this thread; what is kept takes nothing."""
    found = PriceSeconds()
    token = _TOOK.set(found)
    try:
        yield found
    finally:
        _TOOK.reset(token)


class Pricer(ABC):
    """Gives prices; those that were found are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Price] = OrderedDict()
        self.renew()
        GATE.renew(self)

    def renew(self) -> None:
        """In a process that was forked while another thread asked for a price, nobody holds the locks."""
        self._guard = threading.Lock()

    def price(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        """What one run of the job costs in a tree of budgets with these terms."""
        name = kept_name(kind, shared, expression, slack)
        with self._guard:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        began = monotonic()
        try:
            price = self._found(kind, shared, expression, slack)
        finally:
            if (took := _TOOK.get()) is not None:
                took.seconds += monotonic() - began
        with self._guard:
            self._kept[name] = price
            while len(self._kept) > PRICES_KEPT:
                self._kept.popitem(last=False)
        return price

    @abstractmethod
    def _found(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        """Works it out."""

    def design(self, kind: str, wanted: Wanted, inherited: Mapping[str, Any] | None) -> Design:
        """The budget that was asked for: a plan takes as much work as a price."""
        return kind_of(kind).design(wanted, inherited)

    def close(self) -> None:  # noqa: B027  # most have nothing to give back
        """Ends what was started."""


def kept_name(kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> str:
    """Under which a price is kept: all that it depends on."""
    return canonical([kind, shared, expression, slack])


class PriceHere(Pricer):
    """In this process, one job at a time."""

    def renew(self) -> None:
        super().renew()
        self._one = threading.Lock()

    def _found(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        with self._one, GATE.using():  # a fork waits: modules that are half imported would stay so in the child
            return priced(kind, shared, expression, slack)


def priced(kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
    """The price, within its work; UnsupportedMechanism where none can be proven with so much.

    Work units alone decide, so that it is the same on every machine, in this process or in another.
    """
    job = read_job(expression)
    if any(nested(part) > TRANSFORMED_MAX for part, _ in job.terms):
        raise UnsupportedMechanism(NESTED, mechanism=f"{expression:.200}")
    try:
        with work.allowance(PRICE_SECONDS):
            return kind_of(kind).price(shared, job, slack)
    except WorkExhausted:
        raise UnsupportedMechanism(LATE, mechanism=str(job)) from None


def nested(part: Mechanism) -> int:
    """How many transformations of one another make a part of a job."""
    if not isinstance(part, Transformation):
        return 0
    return 1 + max((nested(inside) for inside, _ in part.base.terms), default=0)


def read_job(expression: str) -> Mechanism:
    """The job of an expression, which names no file."""
    if len(expression) > JOB_LETTERS_MAX:
        raise InvalidParameter(f"a job has at most {JOB_LETTERS_MAX:,} letters, not {len(expression):,}")
    return parse(expression)


def price_document(price: Price) -> dict[str, Any]:
    """A price as JSON."""
    return asdict(price)
