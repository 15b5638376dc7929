"""--at-most: exit codes that say whether an answer is within a limit, and never 0 where that is not proven."""

from __future__ import annotations

import json

import pytest

import tightrope as tr
from tightrope.cli.app import run

RUN = "Gaussian(sigma=1).poisson(rate=0.01) * 1000"
TRAIN = ["train", "--records", "60000", "--batch", "256", "--epochs", "15", "--sigma", "1.1", "--delta", "1e-5"]
RISK = ["risk", "Gaussian(sigma=2) * 3"]
WIDE = "PureDP(epsilon=1).shuffle(users=20)"  # the pair dominates; real neighbours lose less
Captured = pytest.CaptureFixture[str]


def around(bound: tr.Bound) -> list[tuple[float, int]]:
    """Limits beside both ends, with the code of each."""
    width = bound.upper - bound.lower
    return [
        (bound.lower - width, 1),
        (bound.lower, 3),
        ((bound.lower + bound.upper) / 2, 3),
        (bound.upper, 0),
        (bound.upper + width, 0),
        (float("inf"), 0),
        (float("-inf"), 1),
    ]


@pytest.mark.parametrize("expression", [RUN, WIDE])
@pytest.mark.parametrize(("quantity", "option", "given"), [("epsilon", "--delta", 1e-5), ("delta", "--epsilon", 0.5)])
def test_the_code_follows_the_interval(
    expression: str, quantity: str, option: str, given: float, capsys: Captured
) -> None:
    bound = getattr(tr.parse(expression), quantity)(given)
    assert bound.lower < bound.upper
    for limit, code in around(bound):
        assert run([quantity, expression, option, repr(given), "--at-most", repr(limit)]) == code
        shown = capsys.readouterr()
        assert shown.out.startswith(f"{quantity} in {bound}")  # the answer is printed whatever the limit says
        assert shown.err.count("\n") == (code != 0)
        assert f"{quantity} at " in shown.err or code == 0


def test_a_training_run_has_a_limit(capsys: Captured) -> None:
    bound = tr.training(records=60000, batch=256, epochs=15, sigma=1.1).epsilon(1e-5)
    for limit, code in around(bound):
        assert run([*TRAIN, "--at-most", repr(limit)]) == code
        assert capsys.readouterr().err.count("\n") == (code != 0)


def test_each_row_of_a_risk_has_a_limit(capsys: Captured) -> None:
    rows = {row.quantity: row.bound for row in tr.parse(RISK[1]).risk().rows}
    for name, bound in rows.items():
        for limit, code in around(bound):
            assert run([*RISK, "--at-most", f"{name}={limit!r}"]) == code or bound.lower == bound.upper
    low, high = rows["tpr"].lower / 2, rows["advantage"].upper * 2
    assert run([*RISK, "--at-most", f"tpr={low!r}", "--at-most", f"advantage={high!r}"]) == 1
    assert run([*RISK, "--at-most", f"advantage={high!r}"]) == 0


def test_one_answer_above_is_enough(capsys: Captured) -> None:
    """The least delta has the largest epsilon, and it decides whatever stands before it."""
    assert run(["epsilon", RUN, "--delta", "1e-3", "--delta", "1e-9", "--at-most", "1.5"]) == 1
    assert "delta 1e-09" in capsys.readouterr().err


def test_json_is_written_all_the_same(capsys: Captured) -> None:
    assert run(["epsilon", RUN, "--delta", "1e-5", "--at-most", "0.1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["upper"] > 0.1


def test_above_outranks_an_accuracy_that_was_missed(capsys: Captured) -> None:
    asked = ["epsilon", RUN, "--delta", "1e-5", "--accuracy", "1e-30"]
    assert run([*asked, "--at-most", "0.1"]) == 1
    assert run([*asked, "--at-most", "50"]) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["epsilon", RUN, "--delta", "1e-5", "--at-most", "nan"],
        ["epsilon", RUN, "--delta", "1e-5", "--at-most", "three"],
        [*TRAIN, "--sampling", "all", "--at-most", "3"],
        [*TRAIN[:-4], "--sigma", "?", "--delta", "1e-5", "--epsilon", "3", "--at-most", "3"],
        [*RISK, "--at-most", "3"],
        [*RISK, "--at-most", "epsilom=3"],
        [*RISK, "--at-most", "epsilon=nan"],
        [*RISK, "--fpr", "0", "--at-most", "posterior=0.9"],  # that row is not there
    ],
)
def test_limits_that_mean_nothing_are_refused(arguments: list[str], capsys: Captured) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1
