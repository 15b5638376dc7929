"""What the checker says of ends: true ones are proved, false ones refuted, and what it does not know is named."""

from __future__ import annotations

from typing import Any

import pytest

from tightrope.checker.expression import terms_of
from tightrope.checker.judge import PROVED, REFUTED, UNDECIDED, judged
from tightrope.checker.law import NotCheckable

# Ends that lie on either side of exact values: 1 - e^-1 e^0.5 for one use of a two-sided coin, and so on.
TRUE = [
    # H of randomized response with odds e at epsilon 1/2: (e - e^0.5)/(1 + e) = 0.28765...
    ("delta", "PureDP(epsilon=1.0)", 0.5, 0.2876491, 0.2876492),
    # the same at a negative epsilon, by the mirror: 1 - e^-0.5 + e^-0.5 times it
    ("delta", "PureDP(epsilon=1.0)", -0.5, 0.567937, 0.567938),
    # Phi(1/2 - 1) - e Phi(-1/2 - 1) for sigma 1
    ("delta", "Gaussian(sigma=1.0)", 1.0, 0.12693673, 0.12693674),
    ("epsilon", "Gaussian(sigma=1.0).poisson(rate=0.01) * 1000", 1e-6, 2.1245151711, 2.1245151712),
    ("epsilon", "Gaussian(sigma=10.0) * 50 + Gaussian(sigma=10.0) * 50", 1e-12, 7.238493, 7.238495),
    ("delta", "ApproximateDP(epsilon=0.1, delta=0.001) * 2", "inf", 0.001998, 0.002),
    ("epsilon", "ApproximateDP(epsilon=0.1, delta=0.001) * 2", 1e-3, "inf", "inf"),
    ("epsilon", "RandomizedResponse(p=0.75) * 0", 0.0, 0.0, 0.0),
    # without any use P = Q: 1 - e^eps below 0
    ("delta", "Gaussian(sigma=1.0) * 0", -1.0, 0.632120, 0.632121),
    ("delta", "Gaussian(sigma=1.0) * 0", "-inf", 1.0, 1.0),
    # a whole number is the nearest double, as it is for the package
    ("epsilon", "PureDP(epsilon=9007199254740993)", 0.0, 0.0, 9007199254740992.0),
]


def answer(quantity: str, expression: str, given: Any, lower: Any, upper: Any, **more: Any) -> dict[str, Any]:
    name = "delta" if quantity == "epsilon" else "epsilon"
    return {
        "quantity": quantity, "expression": expression, name: given, "lower": lower, "upper": upper, "only": None
    } | more  # fmt: skip


@pytest.mark.parametrize("case", TRUE, ids=lambda case: f"{case[0]} {case[1][:20]} {case[2]}")
def test_true_ends_are_proved(case: tuple[str, str, Any, Any, Any]) -> None:
    found = judged(answer(*case), 60.0)
    assert [each.verdict for each in found] == [PROVED, PROVED]
    for shown in [each.found for each in found if each.found is not None]:  # some ends hold by definition
        assert shown[0] <= shown[1]
        assert case[0] != "delta" or (shown[0] <= case[4] and case[3] <= shown[1])


@pytest.mark.parametrize("case", TRUE[:5], ids=lambda case: f"{case[0]} {case[1][:20]} {case[2]}")
def test_false_ends_are_refuted(case: tuple[str, str, Any, Any, Any]) -> None:
    quantity, expression, given, lower, upper = case
    low, high = judged(answer(quantity, expression, given, upper, lower), 60.0)
    assert (low.verdict, high.verdict) == (REFUTED, REFUTED)
    level = 1e-6 if quantity == "epsilon" and given == 1e-6 else None
    if level is not None:
        assert low.found is not None
        assert high.found is not None
        assert low.found[1] < level < high.found[0]


def test_a_training_run_is_its_steps() -> None:
    steps = terms_of("Gaussian(sigma=1.0).poisson(rate=0.01) * 1000")
    assert terms_of("training(records=100, batch=1, steps=1000, sigma=1.0)") == steps


def test_one_direction_may_be_asked_for() -> None:
    # Of a coin that always tells the truth with the record, only removing loses everything.
    law = "Finite(p=(1.0, 0.0), q=(0.5, 0.5))"
    assert judged(answer("delta", law, 0.0, 0.5, 0.5), 60.0)[1].verdict == PROVED
    assert judged(answer("delta", law, 1.0, 0.0, 0.0, only="remove"), 60.0)[1].verdict == PROVED
    assert judged(answer("delta", law, 1.0, 0.0, 0.0, only="add"), 60.0)[1].verdict == REFUTED


def test_hints_are_not_believed() -> None:
    case = answer("epsilon", "Laplace(scale=2.0).poisson(rate=0.5) * 2", 1e-3, 0.4, 0.41)
    truth = [each.verdict for each in judged(case, 30.0)]
    for parameters in (
        {"theta": 1e300, "step": 1e-300},
        {"theta": -1.0, "step": "no"},
        {"theta": 3.0, "step": 0.5},
        [],
    ):
        hinted = case | {"certificate": {"engine": "lattice", "parameters": parameters}}
        found = [each.verdict for each in judged(hinted, 30.0)]
        assert all(one in (other, UNDECIDED) for one, other in zip(found, truth, strict=True))


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("SparseVector(threshold_scale=2.0, query_scale=4.0)", "SparseVector"),
        ("ApproximateDP(epsilon=1.0, delta=0.1).group(size=2)", ".group"),
        ("Gaussian(sigma=1.0).shuffle(users=2)", ".shuffle"),
        ("Gaussian(sigma=0.0)", "positive"),
        ("Gaussian(sigma=1.0, wrong=2)", "wrong"),
        ("(Gaussian(sigma=1.0) + Laplace(scale=1.0)).poisson(rate=0.5)", "one sample"),
        ("Gaussian(sigma=1.0) * 2.5", "whole"),
        ("Gaussian(1.0)", "cannot read"),
        ("Gaussian(sigma=1.0, sigma=5.0)", "twice"),
        ("Gaussian(sigma=1.0, **3)", "without a name"),
        ("Gaussian(sigma=1.0, name=3)", "a name"),
        ("Gaussian(sigma=True)", "a number"),
        ("Gaussian(sigma=1.0) * True", "whole"),
        ("Gaussian(sigma=1.0)  # * 1000", "#"),
        ("Gaussian(sigma=1" + "0" * 400 + ")", "too large"),
        ("Finite(p=(2, 1), q=(1, 2))", "probabilit"),
        ("Finite(p=(0.5, 0.4), q=(0.5, 0.5))", "probabilities"),
        ("training(records=100, batch=10, steps=-9, sigma=1.0)", "steps"),
        ("training(records=100, batch=10, steps=9, epochs=1, sigma=1.0)", "training run"),
        ("training(records=100, batch=10, epochs=1.5, sigma=1.0)", "no whole number"),
        ("__import__('os').system('true')", "cannot read"),
        ("(" * 400, "not an expression"),
        ("Gaussian(sigma=1e999)", "infinite"),
        ("Gaussian(sigma=1.0) +" * 5000 + "Gaussian(sigma=1.0)", "its text"),
        ("training(records=10, batch=2, steps=4, sigma=1.0, sampling='shuffled')", "Poisson"),
    ],
)
def test_what_is_not_known_is_named(expression: str, why: str) -> None:
    for each in judged(answer("epsilon", expression, 1e-6, 1.0, 2.0), 5.0):
        assert each.verdict == UNDECIDED
        assert why in each.why


def test_other_quantities_are_not_checkable() -> None:
    case = {"quantity": "mode", "expression": "Gaussian(sigma=1.0)", "lower": 0.1, "upper": 0.2}
    assert {each.verdict for each in judged(case, 5.0)} == {UNDECIDED}


def test_no_epsilon_is_below_0_and_nothing_is_left_at_delta_1() -> None:
    for given, upper in ((0.9, -0.5), (1.0, "-inf"), (1.0, -5e-324)):
        found = judged(answer("epsilon", "Gaussian(sigma=10.0)", given, "-inf", upper), 20.0)
        assert [each.verdict for each in found] == [PROVED, REFUTED]
    found = judged(answer("epsilon", "Gaussian(sigma=10.0)", 1.0, -0.0, -0.0), 20.0)
    assert [each.verdict for each in found] == [PROVED, PROVED]


BROKEN: list[dict[str, Any]] = [
    {"lower": None}, {"only": "both"}, {"delta": "much"}, {"certificate": 3}, {"lower": True}, {"delta": "1e-6"},
    {"upper": 10**400}, {"upper": 2**53 + 1}, {"upper": "nan"},
]  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN, ids=str)
def test_what_is_no_answer_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(NotCheckable):
        judged(answer("epsilon", "Gaussian(sigma=1.0)", 1e-6, 1.0, 9.0) | broken, 5.0)
