"""Ends of every reading on the right side of the truth are proved, and on its wrong side never, of every law."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tightrope as tr
from tightrope import documents
from tightrope.checker.judge import judged
from tightrope.result import Result

SECONDS = 20.0
QUESTIONS: list[tuple[str, str, dict[str, float]]] = [
    ("TruncatedGaussian(sigma=5, bounds=[-40, 40]) * 20", "epsilon", {"delta": 1e-3}),
    ("TruncatedGaussian(sigma=2, bounds=[-5, 5], mode='clamp')", "epsilon", {"delta": 1e-3}),
    ("TruncatedLaplace(scale=2, bounds=[-9, 9])", "delta", {"epsilon": 0.3}),
    ("TruncatedLaplace(scale=2, bounds=[-2, 9], mode='clamp')", "delta", {"epsilon": 0.3}),
    ("TruncatedGaussian(sigma=3, bounds=[-9, 9], integer=True)", "delta", {"epsilon": 0.3}),
    ("TruncatedGaussian(sigma=3, bounds=[-9, 9], mode='clamp', integer=True)", "delta", {"epsilon": 0.3}),
    ("GaussianMixture(sigma=1, shifts=[0, 1, 2], weights=[0.8, 0.1, 0.1])", "delta", {"epsilon": 0.3}),
    ("GaussianMixture(sigma=1, shifts=[1, 2], weights=[0.8, 0.2])", "delta", {"epsilon": 0.3}),
    ("Gaussian(sigma=1).poisson(rate=0.05).group(size=3) * 20", "epsilon", {"delta": 1e-3}),
    ("Laplace(scale=3).group(size=2) * 3", "delta", {"epsilon": 0.5}),
    ("PureDP(epsilon=0.5).group(size=3) * 2", "delta", {"epsilon": 0.5}),
    ("Gaussian(sigma=1, sensitivity=2).without_replacement(batch=10, records=200)", "epsilon", {"delta": 1e-3}),
    ("Gaussian(sigma=1).without_replacement(batch=9, records=200, neighbours='add_remove')", "delta", {"epsilon": 0.3}),
    ("Gaussian(sigma=1).poisson(rate=0.25, neighbours='replace')", "delta", {"epsilon": 0.3}),
    ("Skellam(variance=20, sensitivity=2)", "delta", {"epsilon": 0.5}),
    ("BinomialNoise(trials=100)", "delta", {"epsilon": 0.2}),
    ("SubsetSelection(epsilon=1, categories=5, size=2) * 3", "delta", {"epsilon": 0.5}),
    ("Staircase(epsilon=0.7) * 3", "delta", {"epsilon": 0.5}),
    ("Staircase(epsilon=0.7, gamma=0.75)", "delta", {"epsilon": 0.2}),
    ("ZCDP(rho=0.1) * 20", "epsilon", {"delta": 1e-3}),
    ("ZCDP(rho=0.1, delta=1e-4)", "delta", {"epsilon": 1.0}),
    ("ZCDP(rho=0.1)", "advantage", {}),
    ("RenyiCurve(orders=[2, 8], divergences=[0.1, 0.4])", "epsilon", {"delta": 1e-3}),
    ("RenyiCurve(orders=[1, 2, 8], divergences=[0.1, 0.2, 0.4]) * 3", "delta", {"epsilon": 0.4}),
    ("PrivacyCurve(epsilons=[0.5, 1], deltas=[0.01, 1e-4]) * 2", "delta", {"epsilon": 0.4}),
    ("PrivacyCurve(epsilons=[0.5, 1], deltas=[0.01, 1e-4], both_directions=False)", "delta", {"epsilon": 0.4}),
    ("TradeoffCurve(fprs=[0, 0.1, 1], fnrs=[1, 0.7, 0]) * 3", "epsilon", {"delta": 1e-3}),
    ("TradeoffCurve(fprs=[0, 0.1, 1], fnrs=[0.9, 0.7, 0], both_directions=False)", "delta", {"epsilon": 0.4}),
    ("GaussianVariance(sigma1=1.2, sigma2=1) * 20", "epsilon", {"delta": 1e-3}),
    ("GaussianVariance(sigma1=0.8, sigma2=1)", "delta", {"epsilon": 0.1}),
    ("MatrixMechanism(sigma=2, matrix=[[1, 0], [0.5, 1]]) * 20", "epsilon", {"delta": 1e-3}),
    ("Exponential(epsilon=0.5)", "delta", {"epsilon": 0.2}),
    ("Exponential(epsilon=0.5) * 20", "epsilon", {"delta": 1e-3}),
    ("NoisyMax(scale=3)", "delta", {"epsilon": 0.2}),
    ("PermuteAndFlip(epsilon=0.5).poisson(rate=0.1)", "delta", {"epsilon": 0.02}),
    ("TreeAggregation(sigma=5, steps=8) * 3", "delta", {"epsilon": 0.5}),
    ("Laplace(scale=2) * 3", "tpr", {"fpr": 0.01}),
    ("Laplace(scale=2) * 3", "tradeoff", {"fpr": 0.2}),
    ("Finite(p=[0.5, 0.3, 0.2], q=[0.2, 0.8, 0.0])", "tpr", {"fpr": 0.3}),
    ("Laplace(scale=2) * 3", "posterior", {"prior": 0.1, "fpr": 0.01}),
    ("Gaussian(sigma=2) * 3", "reconstruction", {"baseline": 0.01}),
    ("Gaussian(sigma=2) * 3", "bayes_accuracy", {"prior": 0.3}),
    ("Gaussian(sigma=2) * 3", "total_variation", {}),
    ("Laplace(scale=2) * 3", "renyi", {"order": 2.5}),
    ("Laplace(scale=2) * 3", "mean_loss", {}),
    ("Laplace(scale=2) * 3 + Gaussian(sigma=3) + PureDP(epsilon=0.5)", "zcdp", {"order_most": float("inf")}),
    ("Gaussian(sigma=2).poisson(rate=0.1) * 3", "zcdp", {"order_most": float("inf")}),
    ("Gaussian(sigma=2) * 3 + GDP(mu=0.5)", "gdp", {"delta_least": 0.0}),
    ("Gaussian(sigma=2) * 3", "pdp", {"epsilon": 0.7}),
    ("Gaussian(sigma=2) * 3", "loss_cdf", {"t": 0.7}),
    ("Gaussian(sigma=2) * 3", "loss_quantile", {"p": 0.9}),
]


def document(expression: str, quantity: str, given: dict[str, float]) -> dict[str, Any]:
    run = tr.parse(expression)
    bound = getattr(run, quantity)(*given.values())
    return dict(json.loads(json.dumps(documents.plain(Result(repr(run), quantity, given, bound).document()))))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question[1]} {question[0]}")
def test_ends_are_proved_and_moved_ones_never(question: tuple[str, str, dict[str, float]]) -> None:
    answer = document(*question)
    assert [each.verdict for each in judged(answer, SECONDS)] == ["proved", "proved"]
    width = max(answer["upper"] - answer["lower"], 1e-9 * abs(answer["upper"]))
    above, below = answer["upper"] + width, answer["lower"] - width
    verdicts = [each.verdict for each in judged({**answer, "lower": above, "upper": below}, SECONDS)]
    assert "proved" not in verdicts
    if question[1] not in ("loss_quantile",):
        assert "refuted" in verdicts


def test_a_composed_batch_is_bounded_by_the_glued_pair_above_and_by_real_neighbours_below() -> None:
    answer = document(
        "Gaussian(sigma=1, sensitivity=2).without_replacement(batch=10, records=200) * 20", "epsilon", {"delta": 1e-3}
    )
    wide = {**answer, "lower": 0.99 * answer["lower"], "upper": 1.01 * answer["upper"]}
    assert judged(wide, SECONDS)[1].verdict == "proved"
    swapped = {**answer, "lower": 0.999 * answer["upper"], "upper": 1.001 * answer["lower"]}
    assert [each.verdict for each in judged(swapped, 4.0)] == ["not checkable"] * 2


@pytest.mark.parametrize("text", ["Gaussian(sigma=1)", "Laplace(scale=2)"])
@pytest.mark.parametrize("only", ["add", "remove"])
def test_an_allocated_epoch_is_bounded_on_both_sides(text: str, only: str) -> None:
    run = tr.parse(f"{text}.random_allocation(steps=10)")
    bound = run.delta(0.2, direction=only)
    asked = {"quantity": "delta", "expression": repr(run), "epsilon": 0.2, "only": only}
    above, below = 1.001 * bound.upper, 0.999 * bound.lower
    assert [each.verdict for each in judged({**asked, "lower": below, "upper": above}, 8.0)] == ["proved"] * 2
    assert [each.verdict for each in judged({**asked, "lower": above, "upper": below}, 8.0)] == ["refuted"] * 2


def test_an_unknown_moment_refutes_nothing() -> None:
    text = "GaussianMixture(sigma=1.9, shifts=(0.0, 1.0, 2.0), weights=(0.75, 0.125, 0.125)).poisson(rate=0.01)"
    case = {"quantity": "renyi", "expression": text, "order": 9.5, "lower": 0.0, "upper": 1.0}
    assert judged(case, 10.0)[1].verdict == "not checkable"
