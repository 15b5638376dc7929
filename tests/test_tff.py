"""Settings of TensorFlow Federated's aggregators, by the names that its version 0.87.0 has."""

from __future__ import annotations

from typing import Any

import pytest

import tightrope as tr
from tightrope.interop.tff import KEYWORDS, from_aggregator

# tff.aggregators.DifferentiallyPrivateFactory and tff.learning.dp_aggregator, written down from their signatures.
SIGNATURES = {
    "gaussian_fixed": ["noise_multiplier", "clients_per_round", "clip"],
    "gaussian_adaptive": [
        *("noise_multiplier", "clients_per_round", "initial_l2_norm_clip", "target_unclipped_quantile"),
        *("learning_rate", "clipped_count_stddev"),
    ],
    "tree_aggregation": [
        *("noise_multiplier", "clients_per_round", "l2_norm_clip", "record_specs", "noise_seed", "use_efficient"),
        "record_aggregation_factory",
    ],
    "dp_aggregator": ["noise_multiplier", "clients_per_round", "zeroing"],
}
BOTH: dict[str, Any] = {"noise_multiplier": 2.0, "clients_per_round": 50}


def test_the_names_are_those_of_the_library() -> None:
    assert {name: list(keywords) for name, keywords in KEYWORDS.items()} == SIGNATURES


@pytest.mark.parametrize(
    ("aggregator", "more", "use", "text"),
    [
        ("gaussian_fixed", {"clip": 0.5}, {}, "Gaussian(sigma=2) * 100"),
        ("gaussian_fixed", {"clip": 0.5}, {"participations": 7}, "Gaussian(sigma=2) * 7"),
        ("gaussian_adaptive", {}, {"separation": 30}, "Gaussian(sigma=2) * 4"),
        ("dp_aggregator", {"zeroing": False}, {"population": 1000}, "Gaussian(sigma=2).poisson(rate=0.05) * 100"),
        ("tree_aggregation", {"l2_norm_clip": 3.0}, {}, "TreeAggregation(sigma=2, steps=100, separation=1)"),
        (
            "tree_aggregation",
            {"l2_norm_clip": 3.0, "use_efficient": True},
            {"participations": 3, "separation": 20},
            "TreeAggregation(sigma=2, steps=100, participations=3, separation=20)",
        ),
        (
            "tree_aggregation",
            {"l2_norm_clip": 3.0},
            {"participations": 1},
            "TreeAggregation(sigma=2, steps=100, participations=1)",
        ),
    ],
)
def test_settings_are_mechanisms(aggregator: str, more: dict[str, Any], use: dict[str, Any], text: str) -> None:
    assert from_aggregator(aggregator, {**BOTH, **more}, 100, **use) == tr.parse(text)


@pytest.mark.parametrize(
    ("aggregator", "settings", "use", "words"),
    [
        ("tree_adaptive", BOTH, {}, "aggregator must be one of gaussian_fixed"),
        ("gaussian_fixed", {**BOTH, "klip": 1}, {}, "has no 'klip': its keywords are noise_multiplier"),
        ("gaussian_fixed", {"clip": 1}, {}, "needs noise_multiplier"),
        ("dp_aggregator", BOTH, {}, "give zeroing=False"),
        ("tree_aggregation", BOTH, {"population": 9}, "give participations and separation"),
        ("gaussian_fixed", BOTH, {"population": 9, "separation": 2}, "population or participations, not both"),
        ("gaussian_fixed", {**BOTH, "noise_multiplier": 0}, {}, "noise_multiplier must be a finite number above 0"),
    ],
)
def test_refusals_say_what_to_change(
    aggregator: str, settings: dict[str, Any], use: dict[str, Any], words: str
) -> None:
    with pytest.raises(tr.InvalidParameter, match=words):
        from_aggregator(aggregator, settings, 100, **use)
