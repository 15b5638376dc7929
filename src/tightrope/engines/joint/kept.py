"""Pairs around a pair that several questions share: how often it is used plays no part in them.

    with keeping(): ...     what is made in it is found again by those that need nothing finer
Any of them is valid for any question, so this changes widths only. What is kept belongs to the running thread or task,
as the allowance of work does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ...facets.resolution import Resolution
from ...pair import Pair

Ends = tuple[Pair, Pair]

_KEPT: ContextVar[dict[Pair, dict[Resolution, Ends]] | None] = ContextVar("tightrope_kept", default=None)


@contextmanager
def keeping() -> Iterator[None]:
    """Keeps what is made until the end; inside another, that one goes on."""
    token = _KEPT.set({} if (outer := _KEPT.get()) is None else outer)
    try:
        yield
    finally:
        _KEPT.reset(token)


def found_or_made(pair: Pair, fine: Resolution, make: Callable[[], Ends]) -> Ends:
    """The finest that is kept and no coarser than this, or what it makes."""
    kept = _KEPT.get()
    if kept is None:
        return make()
    known = kept.setdefault(pair, {})
    serve = [
        fineness
        for fineness in known
        if fineness.points >= fine.points and fineness.tail <= fine.tail and fineness.proof is fine.proof
    ]
    if not serve:
        known[fine] = make()
        return known[fine]
    return known[max(serve, key=lambda fineness: fineness.points)]
