"""Every refusal speaks of the expression that was written, and of the engine that was insisted on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flint import arb

import tightrope as tr
from tests.search import FULL
from tightrope.core.engines.selection import ENGINES
from tightrope.core.text.registry import MECHANISMS
from tightrope.core.values.calls import shortened

LEAVES = {
    **{name: tr.parse(make.example) for name, make in MECHANISMS.items()},
    "tiny Gaussian": tr.Gaussian(sigma=1e-200),
    "tiny Laplace": tr.Laplace(scale=1e-160),
    "cut Gaussian": tr.TruncatedGaussian(sigma=10, bounds=(-3, 3), mode="cut"),
}
REPORTS = ("RandomizedResponse", "SubsetSelection")  # about the value of one user, unless it is computed of all data
SAMPLED = {
    # Training samples by itself; what was measured on two data sets is not known on samples of them.
    **{name: leaf for name, leaf in LEAVES.items() if name != "training" and leaf.beside_others},
    **{name: tr.parse(repr(LEAVES[name].parts[0][0])[:-1] + ", neighbours='add_remove')") for name in REPORTS},
}
RUNS = {
    **LEAVES,
    **{f"sampled {name}": leaf.poisson(rate=0.1) * 3 for name, leaf in SAMPLED.items()},
    **{f"{name} with another": (leaf + tr.Laplace(scale=3)).poisson(rate=0.1) for name, leaf in SAMPLED.items()},
}
# Names of classes inside, brackets of a default repr, and words for what has no name.
INSIDE = re.compile(r"Pair|Poisson|Cgf|Law\b|Remove|Add\b|<|this composition|this mechanism")


def refused(ask: Callable[[], Any]) -> tr.UnsupportedMechanism | None:
    try:
        ask()
    except tr.UnsupportedMechanism as refusal:
        return refusal
    return None


@pytest.mark.parametrize("name", RUNS)
def test_refusals_name_what_was_written(name: str) -> None:
    run = RUNS[name]
    direction = None if run.relation is tr.Relation.REPLACE else "remove"
    for turn, engine in enumerate(ENGINES, list(RUNS).index(name)):
        if not FULL and turn % 3 == 0:  # a leaf, its sample and its mix together ask all
            continue
        for proof in (False, True) if FULL else (turn % 2 == 0,):  # a leaf and its sample or its mix ask both
            refusal = refused(
                lambda: run.delta(0.5, engine=engine.name, proof=proof, direction=direction, seconds=0.005)  # noqa: B023
            )
            if refusal is not None:
                assert str(refusal) == f"the engine {engine.name} cannot answer for {refusal.mechanism}: {refusal.hint}"
                check(refusal, run)
    for ask in (
        lambda: run.renyi(2.5, seconds=0.005),
        lambda: run.cgf(1.5),
        lambda: run.cgf(-1e9),
        lambda: run.phi(3.0),
    ):
        refusal = refused(ask)
        if refusal is not None:
            assert str(refusal).startswith("no engine can answer for ")
            check(refusal, run)


def check(refusal: tr.UnsupportedMechanism, run: tr.Mechanism) -> None:
    message = str(refusal)
    assert refusal.mechanism == shortened(str(run))
    assert INSIDE.search(message) is None, message
    assert "\n" not in message


def rising(x: Any) -> Any:
    return x - (arb(1).exp() - 1).log()


def test_functions_are_named_without_their_addresses() -> None:
    slope = tr.Density(log_p=rising, log_q=lambda x: rising(1 - x), support=(0, 1))
    assert str(slope) == "Density(log_p=rising, log_q=lambda, support=((0.0, 1.0),))"
    refusal = refused(lambda: slope.delta(0.5, engine="joint"))
    assert refusal is not None
    check(refusal, slope)
