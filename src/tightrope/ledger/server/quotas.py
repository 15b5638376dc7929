"""What one token may take of a server, so that the others have the rest: shares of its threads, and amounts a minute.

A request that needs a price waits for its share without a thread, and no request that needs none waits for it.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from weakref import WeakValueDictionary

from anyio import CapacityLimiter

from .problems import HttpProblem

READING, WRITING, PRICING = "reading", "writing", "pricing"
THREADS: Mapping[str, int] = {READING: 16, WRITING: 8, PRICING: 32}  # of all together
SHARES: Mapping[str, int] = {READING: 8, WRITING: 4, PRICING: 2}  # of one token
TOKENS_KNOWN = 10_000
MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Quotas:
    """What one token may have in a minute; all of it at once, too."""

    requests: float = 6000.0
    price_seconds: float = 120.0
    refusals: float = 120.0  # which are recorded


class TokenShares:
    """Threads, by what a request is and whose it is: each waits behind those of its own token alone."""

    def __init__(self) -> None:
        self._all = {kind: CapacityLimiter(count) for kind, count in THREADS.items()}
        self._mine: WeakValueDictionary[tuple[str, str], CapacityLimiter] = WeakValueDictionary()

    @asynccontextmanager
    async def thread(self, kind: str, whose: str) -> AsyncIterator[CapacityLimiter]:
        """A limiter with which the request may run in a thread now."""
        mine = self._mine.get((kind, whose))
        if mine is None:
            mine = self._mine[kind, whose] = CapacityLimiter(SHARES[kind])
        async with mine:
            yield self._all[kind]


class Usage:
    """What each token took of late: amounts that fall by the quota's rate, and may exceed it by what was under way."""

    def __init__(self, quotas: Quotas, clock: Callable[[], float] = monotonic) -> None:
        self._quotas, self._clock = quotas, clock
        self._guard = threading.Lock()
        self._used: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()  # how much, and when

    def _now(self, whose: str, name: str) -> tuple[float, float]:
        used, when = self._used.get((whose, name), (0.0, self._clock()))
        now = self._clock()
        return max(used - (now - when) * getattr(self._quotas, name) / MINUTE, 0.0), now

    def check(self, whose: str, name: str) -> None:
        """Refuses a token that has had its minute's share, until some of it is free again."""
        with self._guard:
            used, _ = self._now(whose, name)
        quota = getattr(self._quotas, name)
        if used >= quota:
            wait = max(math.ceil((used - quota) * MINUTE / quota), 1)
            raise HttpProblem(
                429,
                "too-many-requests",
                f"this token has had its {quota:g} {name.replace('_', ' ')} of a minute: ask again in {wait} s",
                "Unavailable",
                {"retry-after": str(wait)},
            )

    def take(self, whose: str, name: str, amount: float) -> None:
        """Counts what was taken."""
        with self._guard:
            used, now = self._now(whose, name)
            self._used[whose, name] = used + amount, now
            self._used.move_to_end((whose, name))
            while len(self._used) > TOKENS_KNOWN:
                self._used.popitem(last=False)
