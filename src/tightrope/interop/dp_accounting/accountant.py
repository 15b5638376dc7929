"""A PrivacyAccountant of dp-accounting that answers with certified bounds."""

from __future__ import annotations

from typing import Any

import dp_accounting as library
from dp_accounting import dp_event, privacy_accountant

from ... import Bound, InvalidParameter, Mechanism, compose
from ...extend.engines import AUTO
from ...extend.mechanisms import repeat
from ...extend.questions import SECONDS, Options, Question
from .reading import translated
from .setting import ADD_OR_REMOVE, UnsupportedEvent, setting

Uses = dict[Mechanism, int]


class TightropeAccountant(library.PrivacyAccountant):  # type: ignore[misc]
    """get_epsilon and get_delta give the end that can be promised, `bound` both, `mechanism` all that was composed.

    accuracy, proof, engine and seconds are those of every question, as `Mechanism.epsilon` takes them.
    """

    def __init__(
        self,
        neighboring_relation: Any = ADD_OR_REMOVE,
        *,
        accuracy: float | None = None,
        proof: bool = False,
        engine: str = AUTO,
        seconds: float = SECONDS,
    ) -> None:
        setting(neighboring_relation)
        super().__init__(neighboring_relation)
        self._options: Options = {"accuracy": accuracy, "proof": proof, "engine": engine, "seconds": seconds}
        Question("epsilon", **self._options)
        self._uses: tuple[Uses, Uses] = {}, {}  # what dominates the events, and what they dominate
        self._bare = False
        self._made: dict[bool, Mechanism] = {}  # of the uses, until there are more

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        """Events are read when they are composed: a list that changes later changes the ledger, and no answer."""
        try:
            ends = [translated(event, setting(self.neighboring_relation, up)) for up in (True, False)]
        except UnsupportedEvent as error:
            return privacy_accountant.PrivacyAccountant.CompositionErrorDetails(error.event, error.why)
        if do_compose:
            for uses, end in zip(self._uses, ends, strict=True):
                for part, times in end.parts:
                    uses[part] = uses.get(part, 0) + times * count
            self._bare = self._bare or _bare(event)
            self._made = {}
        return None

    @property
    def mechanism(self) -> Mechanism:
        """All that was composed; with nothing yet, the mechanism that tells nothing."""
        return self._all(up=True)

    def _all(self, up: bool) -> Mechanism:
        if up not in self._made:
            self._made[up] = compose(repeat(part, count) for part, count in self._uses[0 if up else 1].items())
        return self._made[up]

    def get_epsilon(self, target_delta: float) -> float:
        """At or above the smallest epsilon at this delta; inf with a NonPrivateDpEvent."""
        return float("inf") if self._bare else self._asked(self.mechanism, delta=target_delta).upper

    def get_delta(self, target_epsilon: float) -> float:
        """At or above the smallest delta at this epsilon; 1 with a NonPrivateDpEvent."""
        return 1.0 if self._bare else self._asked(self.mechanism, epsilon=target_epsilon).upper

    def bound(self, *, delta: float | None = None, epsilon: float | None = None) -> Bound:
        """Both ends of epsilon at a delta, or of delta at an epsilon, for what the events say to the last bit."""
        if (delta is None) is (epsilon is None):
            raise InvalidParameter("bound takes either delta or epsilon")
        above = self._asked(self.mechanism, delta, epsilon)
        least = self._all(up=False)
        if least == self.mechanism:
            return above
        return Bound(self._asked(least, delta, epsilon).lower, above.upper, above.certificate)

    def _asked(self, mechanism: Mechanism, delta: float | None = None, epsilon: float | None = None) -> Bound:
        if epsilon is None:
            assert delta is not None
            return mechanism.epsilon(delta, **self._options)
        return mechanism.delta(epsilon, **self._options)


def _bare(event: Any) -> bool:
    """Whether something in it is not private by its name, however deep: then accountants of this kind say inf."""
    waiting = [event]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dp_event.NonPrivateDpEvent):
            return True
        inner = getattr(each, "event", None)
        waiting += [*getattr(each, "events", ()), *([] if inner is None else [inner])]
    return False
