"""Settings of TensorFlow Federated's private aggregators as mechanisms, by the names of their keywords.

    gaussian_fixed       a Gaussian per round, clipped to `clip`, with noise of deviation clip noise_multiplier
    gaussian_adaptive    the same in effect: what the learned clip costs is within noise_multiplier
    tree_aggregation     a binary tree over the rounds, with that noise on each of its nodes
    dp_aggregator        gaussian_adaptive, where zeroing is off
The record is a client, and the aggregators say nothing of how clients are chosen, so that the caller does.
Guarantee: that of the mechanism; what has no proven translation is refused by name.
Reference: tff.aggregators.DifferentiallyPrivateFactory and tff.learning.dp_aggregator (0.87.0), whose texts this
follows; it is not imported, since it installs beside older versions of everything else only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .. import Gaussian, InvalidParameter, Mechanism, TreeAggregation
from ..extend.parameters import positive, whole

_BOTH = ("noise_multiplier", "clients_per_round")
KEYWORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gaussian_fixed": (*_BOTH, "clip"),
        "gaussian_adaptive": (
            *_BOTH,
            *("initial_l2_norm_clip", "target_unclipped_quantile", "learning_rate", "clipped_count_stddev"),
        ),
        "tree_aggregation": (
            *_BOTH,
            *("l2_norm_clip", "record_specs", "noise_seed", "use_efficient", "record_aggregation_factory"),
        ),
        "dp_aggregator": (*_BOTH, "zeroing"),
    }
)


def from_aggregator(
    aggregator: str,
    settings: Mapping[str, Any],
    rounds: int,
    *,
    participations: int | None = None,
    separation: int | None = None,
    population: int | None = None,
) -> Mechanism:
    """What so many rounds of the aggregator tell of a client, who is added or removed, or there or not.

    settings: the keywords that the aggregator was made with. A client is in every round, unless given: participations
    and separation, at most so many rounds, any two at least so far apart, whoever chooses them; population, of a
    Gaussian in each round: every client of so many is in a round by itself, with probability
    clients_per_round/population.
    """
    _check_settings(aggregator, settings)
    steps = whole("rounds", rounds, least=1)
    sigma = positive("noise_multiplier", settings["noise_multiplier"])
    if aggregator == "tree_aggregation":
        if population is not None:
            raise InvalidParameter(
                "population has no bound with tree_aggregation, where rounds share their noise: give participations "
                "and separation, which hold for clients that are drawn too"
            )
        apart = 1 if participations is None and separation is None else separation
        return TreeAggregation(sigma=sigma, steps=steps, participations=participations, separation=apart)
    if population is not None:
        if participations is not None or separation is not None:
            raise InvalidParameter("give population or participations, not both: a sample bounds no number of rounds")
        rate = positive("clients_per_round", settings["clients_per_round"]) / whole("population", population, least=1)
        return Gaussian(sigma=sigma).poisson(rate=rate) * steps
    most = steps if separation is None else -(-steps // whole("separation", separation, least=1))
    uses = most if participations is None else min(most, whole("participations", participations, least=1))
    return Gaussian(sigma=sigma) * uses


def _check_settings(aggregator: str, settings: Mapping[str, Any]) -> None:
    """The aggregators that are known, each with its keywords."""
    if aggregator not in KEYWORDS:
        raise InvalidParameter(f"aggregator must be one of {', '.join(KEYWORDS)}, not {aggregator!r:.60}")
    unknown = [name for name in settings if name not in KEYWORDS[aggregator]]
    missing = [name for name in _BOTH if name not in settings]
    if unknown or missing:
        wrong = f"has no {unknown[0]!r:.60}" if unknown else f"needs {missing[0]}"
        raise InvalidParameter(f"{aggregator} {wrong}: its keywords are {', '.join(KEYWORDS[aggregator])}")
    if aggregator == "dp_aggregator" and settings.get("zeroing", True):
        raise InvalidParameter(
            "dp_aggregator with zeroing=True zeroes clients by a quantile of all, which is told without noise and "
            "bounds nobody's influence: give zeroing=False, as the aggregator must be made"
        )
