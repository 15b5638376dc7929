"""An event as a mechanism, under one of dp-accounting's three neighbouring relations.

Guarantee: the mechanism has the pairs of the event. Where a parameter of ours is a quotient of theirs and no double
(the scale of discrete Laplace noise, the shares of randomized response), it is rounded by one unit to what dominates:
upper ends hold for the event, and `TightropeAccountant.bound` takes lower ends from the other side.
What differs in meaning, or what no theorem covers, is refused with the name of the event.
Reference: the texts of its event classes, version 0.6.0. Proof: docs/proofs/dp_accounting.md.
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
    Finite,
    Gaussian,
    GaussianMixture,
    Laplace,
    Mechanism,
    RandomizedResponse,
    RenyiCurve,
    TightropeError,
    TreeAggregation,
    compose,
)
from ...extend.mechanisms import IDENTITY, repeat
from ...extend.parameters import finite, in_order, positive, probability, whole
from .setting import ADD_OR_REMOVE, REPLACE_ONE, REPLACE_SPECIAL, Setting, UnsupportedEvent, demand, setting

TOLD = ApproximateDP(epsilon=0.0, delta=1.0)  # two laws with nothing in common: no noise, or no privacy


def from_event(event: Any, neighboring_relation: Any = ADD_OR_REMOVE) -> Mechanism:
    """The mechanism that the event describes, where neighbours are those of dp_accounting.NeighboringRelation."""
    return translated(event, setting(neighboring_relation))


def translated(event: Any, within: Setting) -> Mechanism:
    """The mechanism of one event, or UnsupportedEvent with the part of it that has none."""
    read = READ.get(type(event))
    if read is None:
        raise UnsupportedEvent(event, "no event that is known here; a subclass may mean something else")
    try:
        return read(event, within)
    except UnsupportedEvent:
        raise
    except TightropeError as error:
        raise UnsupportedEvent(event, str(error)) from None


def _nothing(event: Any, within: Setting) -> Mechanism:
    return IDENTITY


def _not_private(event: Any, within: Setting) -> Mechanism:
    return TOLD


def _unknown(event: Any, within: Setting) -> Mechanism:
    raise UnsupportedEvent(event, "stands for an operation that nobody described")


def _composed(event: Any, within: Setting) -> Mechanism:
    return compose([translated(each, within) for each in event.events])


def _self_composed(event: Any, within: Setting) -> Mechanism:
    return repeat(translated(event.event, within), whole("count", event.count, least=0))


def _gaussian(event: Any, within: Setting) -> Mechanism:
    if event.noise_multiplier == 0:
        return TOLD
    return Gaussian(positive("noise_multiplier", event.noise_multiplier), sensitivity=within.shift)


def _laplace(event: Any, within: Setting) -> Mechanism:
    if event.noise_multiplier == 0:
        return TOLD
    return Laplace(positive("noise_multiplier", event.noise_multiplier), sensitivity=within.shift)


def _discrete_laplace(event: Any, within: Setting) -> Mechanism:
    """Masses that fall by e^-noise_parameter with each step: less of it is more noise, and 0 is no law at all."""
    decay = positive("noise_parameter", event.noise_parameter)
    sensitivity = whole("sensitivity", event.sensitivity, least=0)
    if sensitivity == 0:
        return IDENTITY
    scale = positive("1/noise_parameter", within.rounded(1 / Fraction(decay), up=False))
    return DiscreteLaplace(scale, sensitivity=within.shift * sensitivity)


def _randomized_response(event: Any, within: Setting) -> Mechanism:
    demand(event, within, (REPLACE_ONE, REPLACE_SPECIAL), "one person's bucket becomes another, or none")
    _alone(event, within)
    noise = Fraction(probability("noise_parameter", event.noise_parameter))
    buckets = whole("num_buckets", event.num_buckets, least=1)
    truth = 1 - noise + noise / buckets
    if buckets == 1 or noise == 1:
        return IDENTITY
    if within.near is REPLACE_ONE:
        return RandomizedResponse(p=within.rounded(truth, up=True), categories=buckets)
    return Finite(within.shares(truth, up=True), within.shares(Fraction(1, buckets), up=False))


def _mixture(event: Any, within: Setting) -> Mechanism:
    demand(event, within, (ADD_OR_REMOVE, REPLACE_SPECIAL), "the mixture is that of a record which is there or not")
    if within.asked is REPLACE_ONE:
        raise UnsupportedEvent(event, "the mixture is that of a record which is there or not, and one is replaced")
    for name in ("sensitivities", "sampling_probs"):
        in_order(name, getattr(event, name))
    shifts = [finite(f"sensitivities[{index}]", sensitivity) for index, sensitivity in enumerate(event.sensitivities)]
    weights = [probability(f"sampling_probs[{index}]", prob) for index, prob in enumerate(event.sampling_probs)]
    moved = any(shift and weight for shift, weight in zip(shifts, weights, strict=False))
    # A mixture that is none is refused by the same checks.
    checked = GaussianMixture(event.standard_deviation or 1.0, shifts if moved else [1.0] * len(shifts), weights)
    if not moved:
        return IDENTITY
    if event.standard_deviation != 0:
        return checked
    parts = [Fraction(weight) for weight in weights]
    share = sum((part for shift, part in zip(shifts, parts, strict=True) if shift), Fraction(0)) / sum(parts)
    return Finite(within.shares(Fraction(share), up=True), (0.0, 1.0))


def _zcdp(event: Any, within: Setting) -> Mechanism:
    """Divergences of at most rho order and of at most xi, added: together they say rho order + xi, and no more."""
    if not within.own:
        raise UnsupportedEvent(
            event, f"its claim is about {within.asked.name}, and the sample around it needs {within.near.name}"
        )
    rises: list[Mechanism] = [] if event.rho == 0 else [ZCDP(event.rho)]
    stays: list[Mechanism] = [] if event.xi == 0 else [RenyiCurve([math.inf], [event.xi])]
    return compose(rises, stays)


def _tree(event: Any, within: Setting) -> Mechanism:
    demand(
        event,
        within,
        (REPLACE_ONE, REPLACE_SPECIAL),
        "its steps stay as they are where a record is replaced; one that comes or goes may move all others",
    )
    _alone(event, within)
    counts = event.step_counts
    listed = hasattr(counts, "__len__")
    whole("the number of trees", len(counts) if listed else 1, least=1)
    steps = max(whole("step_counts", count, least=0) for count in counts) if listed else whole("step_counts", counts, 1)
    if steps == 0:
        return IDENTITY
    if event.noise_multiplier == 0:
        return TOLD
    return TreeAggregation(positive("noise_multiplier", event.noise_multiplier), steps, sensitivity=within.shift)


def _best(event: Any, within: Setting) -> Mechanism:
    laws = {0.0: "logarithmic", 1.0: "geometric", math.inf: "poisson"}
    law = laws.get(event.shape, "negative_binomial")
    base = translated(event.event, within)
    if law == "negative_binomial" and not event.shape > 0:
        raise UnsupportedEvent(event, f"shape must be 0 or more, or inf, not {event.shape!r}")
    return base.best_of(law=law, mean=event.mean, shape=event.shape if law == "negative_binomial" else None)


def _poisson(event: Any, within: Setting) -> Mechanism:
    base = translated(event.event, within.inside(ADD_OR_REMOVE))
    neighbours = "replace" if within.near is REPLACE_ONE else "add_remove"
    sampled = base.poisson(event.sampling_probability, neighbours=neighbours)
    return IDENTITY if event.sampling_probability == 0 else sampled


def _without_replacement(event: Any, within: Setting) -> Mechanism:
    demand(
        event, within, (REPLACE_ONE, ADD_OR_REMOVE), "a batch holds another record in the place of one that it lacks"
    )
    neighbours = "replace" if within.near is REPLACE_ONE else "add_remove"
    base = translated(event.event, within.inside(REPLACE_ONE))
    return base.without_replacement(batch=event.sample_size, records=event.source_dataset_size, neighbours=neighbours)


def _with_replacement(event: Any, within: Setting) -> Mechanism:
    demand(event, within, (REPLACE_ONE,), "the theorem is about a record that is replaced")
    base = translated(event.event, within.inside(REPLACE_ONE))
    return base.with_replacement(batch=event.sample_size, records=event.source_dataset_size)


def _truncated(event: Any, within: Setting) -> Mechanism:
    demand(event, within, (ADD_OR_REMOVE,), "the theorem is about a record that is added or removed")
    if within.sampled:
        raise UnsupportedEvent(event, "it is drawn from data of a fixed size, and a sample around it has a random one")
    base = _gaussian(event, within)
    if event.sampling_probability == 0 or event.truncated_batch_size == 0:
        return IDENTITY
    return base.truncated_poisson(
        rate=event.sampling_probability, cap=event.truncated_batch_size, records=event.dataset_size
    )


def _alone(event: Any, within: Setting) -> None:
    if within.sampled:
        raise UnsupportedEvent(event, "what it shows of a record that is not sampled is not said")


READ: dict[type, Callable[[Any, Setting], Mechanism]] = {
    library.NoOpDpEvent: _nothing,
    library.NonPrivateDpEvent: _not_private,
    library.UnsupportedDpEvent: _unknown,
    library.ComposedDpEvent: _composed,
    library.SelfComposedDpEvent: _self_composed,
    library.GaussianDpEvent: _gaussian,
    library.LaplaceDpEvent: _laplace,
    library.DiscreteLaplaceDpEvent: _discrete_laplace,
    library.RandomizedResponseDpEvent: _randomized_response,
    library.MixtureOfGaussiansDpEvent: _mixture,
    library.ZCDpEvent: _zcdp,
    library.SingleEpochTreeAggregationDpEvent: _tree,
    library.RepeatAndSelectDpEvent: _best,
    library.PoissonSampledDpEvent: _poisson,
    library.SampledWithoutReplacementDpEvent: _without_replacement,
    library.SampledWithReplacementDpEvent: _with_replacement,
    library.TruncatedSubsampledGaussianDpEvent: _truncated,
}
