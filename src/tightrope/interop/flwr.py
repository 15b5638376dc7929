"""Flower's accountant protocol, answered with certified ends: an accountant for its strategies.

One release of a central strategy is a Gaussian with the noise multiplier of the event, for clients as records:
    poisson               Gaussian(sigma).poisson(sample_size/population_size), a client is added or removed
    without-replacement   Gaussian(sigma).without_replacement(population, sample), a client is replaced
    no-amplification      Gaussian(sigma), a client is added or removed
Flower divides the noise by the number of sampled clients as it divides the sum, so sigma is in units of what one client
adds at most. Replacing a client moves a clipped sum by up to twice that: the noise multiplier counts once, the
sensitivity is 2.
Guarantee: get_epsilon and get_delta return the upper ends of `bound` and `delta_bound`, for all releases together.
Reference: flwr.serverapp.PrivacyAccountant (1.41.0), whose source this follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import Gaussian, InvalidParameter, compose
from ..extend.parameters import positive, whole
from ..extend.questions import SECONDS
from .missing import missing

try:
    from flwr.serverapp import (
        GaussianPrivacyEvent,
        NeighboringRelation,
        PrivacyConfig,
        PrivacySpent,
        SamplingMethod,
    )
except ImportError as error:
    raise missing("flwr", "flwr>=1.41") from error

if TYPE_CHECKING:
    from .. import Bound, Mechanism

BACKEND = "tightrope"
STATE_VERSION = 1


class FlowerAccountant:
    """Counts the releases of a Flower server, and bounds what they cost from both sides."""

    def __init__(self, config: PrivacyConfig, seconds: float = SECONDS) -> None:
        self._config, self._seconds = config, seconds
        self._released: list[tuple[GaussianPrivacyEvent, int]] = []

    @property
    def config(self) -> PrivacyConfig:
        """Who is counted, and how clients are sampled."""
        return self._config

    @property
    def num_releases(self) -> int:
        """How many releases were composed."""
        return sum(count for _, count in self._released)

    @property
    def run(self) -> Mechanism:
        """All releases so far as a mechanism of tightrope, for any other question."""
        return compose([self._mechanism(event) * count for event, count in self._released])

    def _mechanism(self, event: GaussianPrivacyEvent) -> Mechanism:
        if event.population_size != self._config.population_size:
            raise InvalidParameter(
                f"the event has population_size {event.population_size}, the configuration "
                f"{self._config.population_size}; they must agree"
            )
        method = self._config.sampling_method
        if method is SamplingMethod.POISSON:
            return Gaussian(sigma=event.noise_multiplier).poisson(rate=event.sample_size / event.population_size)
        if method is SamplingMethod.WITHOUT_REPLACEMENT:
            replaced = Gaussian(sigma=event.noise_multiplier, sensitivity=2.0)
            return replaced.without_replacement(records=event.population_size, batch=event.sample_size)
        return Gaussian(sigma=event.noise_multiplier)

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """One or more releases alike."""
        times = whole("count", count, least=1)
        self._mechanism(event)
        if self._released and self._released[-1][0] == event:
            times += self._released.pop()[1]
        self._released.append((event, times))

    def bound(self, delta: float | None = None) -> Bound:
        """Both ends of epsilon, at the delta of the configuration unless another is given."""
        return self.run.epsilon(delta=self._config.target_delta if delta is None else delta, seconds=self._seconds)

    def delta_bound(self, epsilon: float) -> Bound:
        """Both ends of delta."""
        return self.run.delta(epsilon=epsilon, seconds=self._seconds)

    def get_epsilon(self, delta: float) -> float:
        """The upper end: what can be promised."""
        return self.bound(delta).upper

    def get_delta(self, epsilon: float) -> float:
        """The upper end: what can be promised."""
        return self.delta_bound(epsilon).upper

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """What Flower logs and returns."""
        target = self._config.target_delta if delta is None else delta
        return PrivacySpent(
            epsilon=self.get_epsilon(target), delta=target, num_releases=self.num_releases, accounting_method=BACKEND
        )

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether more releases are not certain to stay within the limit; nothing is composed."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise InvalidParameter("max_epsilon must be given, here or in the configuration")
        after = FlowerAccountant(self._config, self._seconds)
        after._released = list(self._released)
        after.compose(event, count)
        return after.get_epsilon(self._config.target_delta) > positive("max_epsilon", limit)

    def state_dict(self) -> dict[str, object]:
        """All of it as numbers and words that JSON knows."""
        return {
            "schema_version": STATE_VERSION,
            "backend": BACKEND,
            "config": _written(self._config),
            "compositions": [{"event": vars(event).copy(), "count": count} for event, count in self._released],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """What state_dict gave; that of Flower's own accountant too, whose releases are the same."""
        if state.get("schema_version") != STATE_VERSION:
            raise InvalidParameter(f"schema_version must be {STATE_VERSION}, not {state.get('schema_version')!r:.40}")
        if state.get("config") != _written(self._config):
            raise InvalidParameter("the state has another configuration; make the accountant with that one")
        restored = FlowerAccountant(self._config, self._seconds)
        for each in state["compositions"]:
            restored.compose(GaussianPrivacyEvent(**each["event"]), each["count"])
        self._released = restored._released


def _written(config: PrivacyConfig) -> dict[str, object]:
    relation: NeighboringRelation = config.neighboring_relation
    return {
        "target_delta": config.target_delta,
        "population_size": config.population_size,
        "neighboring_relation": relation.value,
        "sampling_method": config.sampling_method.value,
        "max_epsilon": config.max_epsilon,
    }
