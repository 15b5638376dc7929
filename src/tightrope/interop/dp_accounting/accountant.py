"""A PrivacyAccountant of dp-accounting that answers with certified bounds."""

from __future__ import annotations

from typing import Any

import dp_accounting as library
from dp_accounting import dp_event, privacy_accountant

from ...bound import Bound
from ...errors import InvalidParameter
from ...mechanisms.base import Mechanism
from ...question import Options, Question
from .reading import from_event, translated
from .setting import ADD_OR_REMOVE, UnsupportedEvent, setting


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
        engine: str = "auto",
        seconds: float = 10.0,
    ) -> None:
        setting(neighboring_relation)
        super().__init__(neighboring_relation)
        self._options: Options = {"accuracy": accuracy, "proof": proof, "engine": engine, "seconds": seconds}
        Question("epsilon", **self._options)
        self._known: Any = None  # the last event that has a translation
        self._total: Mechanism | None = None  # what the ledger says, until it says more

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        if do_compose:
            self._total = None
            return None
        if self._known is event or self._known == event:
            return None
        try:
            from_event(event, self.neighboring_relation)
        except UnsupportedEvent as error:
            return privacy_accountant.PrivacyAccountant.CompositionErrorDetails(error.event, error.why)
        self._known = event
        return None

    @property
    def mechanism(self) -> Mechanism:
        """All that was composed; with nothing yet, the mechanism that tells nothing."""
        if self._total is None:
            self._total = from_event(self.ledger, self.neighboring_relation)
        return self._total

    def get_epsilon(self, target_delta: float) -> float:
        """At or above the smallest epsilon at this delta; inf with a NonPrivateDpEvent."""
        return float("inf") if _bare(self.ledger) else self._asked(self.mechanism, delta=target_delta).upper

    def get_delta(self, target_epsilon: float) -> float:
        """At or above the smallest delta at this epsilon; 1 with a NonPrivateDpEvent."""
        return 1.0 if _bare(self.ledger) else self._asked(self.mechanism, epsilon=target_epsilon).upper

    def bound(self, *, delta: float | None = None, epsilon: float | None = None) -> Bound:
        """Both ends of epsilon at a delta, or of delta at an epsilon, for what the events say to the last bit."""
        if (delta is None) is (epsilon is None):
            raise InvalidParameter("bound takes either delta or epsilon")
        above = self._asked(self.mechanism, delta, epsilon)
        least = translated(self.ledger, setting(self.neighboring_relation, up=False))
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
