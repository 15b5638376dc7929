"""A mechanism as an event, where there is one that means the same under the given neighbouring relation.

Guarantee: `from_event` of the event has the pairs of the mechanism. A parameter that would have to be rounded is
refused; names are left out, since they change no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dp_accounting import dp_event as library

from ... import (
    ZCDP,
    ApproximateDP,
    DiscreteLaplace,
    Gaussian,
    GaussianMixture,
    InvalidParameter,
    Laplace,
    Mechanism,
    PureDP,
    RandomizedResponse,
    Relation,
    RenyiCurve,
    TreeAggregation,
)
from ...extend.mechanisms import (
    IDENTITY,
    BestOf,
    Composition,
    Poisson,
    TruncatedPoisson,
    WithoutReplacement,
    WithReplacement,
)
from .reading import translated
from .setting import ADD_OR_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, Setting, UnsupportedEvent, setting


def to_event(mechanism: Mechanism, neighboring_relation: Any = ADD_OR_REMOVE) -> Any:
    """The dp_accounting event with the pairs of this mechanism, where neighbours are those of the relation."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidParameter(f"mechanism must be a mechanism of Tightrope, not {mechanism!r:.60}")
    within = setting(neighboring_relation)
    event = written(mechanism.nameless, within)
    translated(event, within)  # what cannot be read back is refused by whoever reads
    return event


def written(mechanism: Mechanism, within: Setting) -> Any:
    """The event of one mechanism, or UnsupportedEvent with the part of it that has none."""
    write = WRITTEN.get(type(mechanism))
    if write is None:
        raise UnsupportedEvent(mechanism, "no event of dp-accounting describes it")
    return write(mechanism, within)


def _composition(run: Any, within: Setting) -> Any:
    uses = [(written(part, within), count) for part, count in run.parts]
    events = [event if count == 1 else library.SelfComposedDpEvent(event, count) for event, count in uses]
    return events[0] if len(events) == 1 else library.ComposedDpEvent(events)


def _pure(mechanism: Any, within: Setting) -> Any:
    if mechanism == IDENTITY:
        return library.NoOpDpEvent()
    raise UnsupportedEvent(mechanism, "no event stands for any mechanism that is epsilon-DP")


def _approximate(mechanism: Any, within: Setting) -> Any:
    if mechanism.delta_per_use == 1.0:
        return library.NonPrivateDpEvent()
    raise UnsupportedEvent(mechanism, "no event stands for any mechanism that is (epsilon, delta)-DP")


def _gaussian(mechanism: Any, within: Setting) -> Any:
    ratio = within.shift * Fraction(mechanism.sigma) / Fraction(mechanism.sensitivity)
    return library.GaussianDpEvent(_exact(mechanism, "sigma/sensitivity", ratio))


def _laplace(mechanism: Any, within: Setting) -> Any:
    ratio = within.shift * Fraction(mechanism.scale) / Fraction(mechanism.sensitivity)
    return library.LaplaceDpEvent(_exact(mechanism, "scale/sensitivity", ratio))


def _discrete_laplace(mechanism: Any, within: Setting) -> Any:
    decay = _exact(mechanism, "1/scale", 1 / Fraction(mechanism.scale))
    sensitivity, odd = divmod(mechanism.sensitivity, within.shift)
    if odd:
        raise UnsupportedEvent(mechanism, "its sensitivity is odd, and the event's is half of it where one is replaced")
    return library.DiscreteLaplaceDpEvent(decay, sensitivity)


def _randomized_response(mechanism: Any, within: Setting) -> Any:
    if mechanism.p is None or within.near is not REPLACE_ONE:
        raise UnsupportedEvent(mechanism, "only p has an event, under NeighboringRelation.REPLACE_ONE")
    noise = (1 - Fraction(mechanism.p)) * mechanism.categories / (mechanism.categories - 1)
    if noise > 1:
        raise UnsupportedEvent(mechanism, "the truth is told less often than anything else")
    return library.RandomizedResponseDpEvent(
        _exact(mechanism, "(1 - p) categories/(categories - 1)", noise), mechanism.categories
    )


def _mixture(mechanism: Any, within: Setting) -> Any:
    return library.MixtureOfGaussiansDpEvent(mechanism.sigma, list(mechanism.shifts), list(mechanism.weights))


def _zcdp(mechanism: Any, within: Setting) -> Any:
    if mechanism.delta_per_use:
        raise UnsupportedEvent(mechanism, "the event knows no delta of approximate zCDP")
    return library.ZCDpEvent(mechanism.rho)


def _largest(mechanism: Any, within: Setting) -> Any:
    if mechanism.orders != (math.inf,) or not mechanism.both_directions:
        raise UnsupportedEvent(mechanism, "only a bound of the order inf alone, in both directions, has an event")
    return library.ZCDpEvent(0.0, mechanism.divergences[0])


def _tree(mechanism: Any, within: Setting) -> Any:
    if set(mechanism.parameters) - {"sigma", "steps", "sensitivity"}:
        raise UnsupportedEvent(mechanism, "the event knows one tree, and a record that is in one of its steps")
    ratio = within.shift * Fraction(mechanism.sigma) / Fraction(mechanism.sensitivity)
    return library.SingleEpochTreeAggregationDpEvent(_exact(mechanism, "sigma/sensitivity", ratio), mechanism.steps)


def _best(mechanism: Any, within: Setting) -> Any:
    shapes = {"logarithmic": 0.0, "geometric": 1.0, "poisson": math.inf}
    if mechanism.law == "binomial" or (mechanism.law == "negative_binomial" and mechanism.shape < 0.0):
        raise UnsupportedEvent(mechanism, "the event knows no such law of the number of runs")
    shape = shapes.get(mechanism.law, mechanism.shape)
    return library.RepeatAndSelectDpEvent(written(mechanism.base, within), mechanism.mean, shape)


def _poisson(mechanism: Any, within: Setting) -> Any:
    _demand(mechanism, within)
    return library.PoissonSampledDpEvent(mechanism.rate, written(mechanism.base, within.inside(ADD_OR_REMOVE)))


def _without_replacement(mechanism: Any, within: Setting) -> Any:
    _demand(mechanism, within)
    base = written(mechanism.base, within.inside(REPLACE_ONE))
    return library.SampledWithoutReplacementDpEvent(mechanism.records, mechanism.batch, base)


def _with_replacement(mechanism: Any, within: Setting) -> Any:
    _demand(mechanism, within)
    base = written(mechanism.base, within.inside(REPLACE_ONE))
    return library.SampledWithReplacementDpEvent(mechanism.records, mechanism.batch, base)


def _truncated(mechanism: Any, within: Setting) -> Any:
    _demand(mechanism, within)
    base = written(mechanism.base, within)
    if not isinstance(base, library.GaussianDpEvent):
        raise UnsupportedEvent(mechanism, "a sample with a cap has an event for Gaussian noise only")
    return library.TruncatedSubsampledGaussianDpEvent(
        mechanism.records, mechanism.rate, mechanism.cap, base.noise_multiplier
    )


def _demand(mechanism: Any, within: Setting) -> None:
    """Refuses a sample that is about other neighbours."""
    about = {Relation.REPLACE: (REPLACE_ONE,), Relation.ADD_REMOVE: (ADD_OR_REMOVE, REPLACE_SPECIAL)}
    if within.near not in about[mechanism.relation]:
        names = " or ".join(each.name for each in about[mechanism.relation])
        raise UnsupportedEvent(mechanism, f"it is about {names}, and {within.near.name} is wanted here")


def _exact(mechanism: Any, what: str, value: Fraction) -> float:
    """The double that this is."""
    number = float(value)
    if Fraction(number) != value:
        raise UnsupportedEvent(mechanism, f"{what} is no double, and the event would be another mechanism's")
    return number


WRITTEN: dict[type, Callable[[Any, Setting], Any]] = {
    Composition: _composition,
    PureDP: _pure,
    ApproximateDP: _approximate,
    Gaussian: _gaussian,
    Laplace: _laplace,
    DiscreteLaplace: _discrete_laplace,
    RandomizedResponse: _randomized_response,
    GaussianMixture: _mixture,
    ZCDP: _zcdp,
    RenyiCurve: _largest,
    TreeAggregation: _tree,
    BestOf: _best,
    Poisson: _poisson,
    WithoutReplacement: _without_replacement,
    WithReplacement: _with_replacement,
    TruncatedPoisson: _truncated,
}
