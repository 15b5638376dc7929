"""The checker proves an audit from its document, and nothing that was changed in it for the better."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb

import tightrope as tr
from tightrope.checker.p_values import CheckedSlope, program_p

RUN = "Gaussian(sigma=1.0)"
Change = Callable[[dict[str, Any]], object]


@cache
def written(name: str) -> str:
    draw = np.random.Generator(np.random.PCG64(1))
    member = draw.permutation(np.arange(200) < 100)
    scores = draw.normal(size=200) + 2.5 * member
    claim = tr.Gaussian(sigma=1.0)
    made: dict[str, Callable[[], tr.AuditResult]] = {
        "M1": lambda: tr.audit(scores, member, design="runs", delta=1e-5, claim=claim),
        "M2": lambda: tr.audit(design="runs", table=(60, 10, 940, 990), delta=1e-5),
        "O2": lambda: tr.audit(design="one-run", guesses=(1000, 700, 640), delta=1e-5, claim=(1, 1e-5)),
        "O4": lambda: tr.audit(design="one-run", guesses=(100, 100, 95), claim=claim),
        "out": lambda: tr.audit(design="one-run", guesses=(100, 30, 29), sides="out", coin=0.3, claim=claim),
        "split": lambda: tr.audit(scores, member, design="random-split", delta=1e-5, claim=claim),
        "family": lambda: tr.audit(scores, member, design="runs", claim="3 * Gaussian(sigma=?)"),
        "members": lambda: tr.audit(scores, member, design="members"),
        "Fisher": lambda: tr.audit(scores, member, run=[0, 1] * 100, design="one-run", delta=1e-5),
    }
    return made[name]().to_json("2026-11-16")


def change(name: str, make: Change) -> tr.Verification:
    document = copy.deepcopy(json.loads(written(name)))
    make(document)
    return tr.verify(json.dumps(document), seconds=0.2)  # what is false is looked at until time is out


@pytest.mark.parametrize("name", ["M1", "M2", "O2", "O4", "out", "split", "family", "members", "Fisher"])
def test_it_proves_what_was_found(name: str) -> None:
    found = tr.verify(written(name))
    assert found.proved, str(found)
    assert found.unchanged


@pytest.mark.parametrize("name", ["M1", "M2", "O2", "O4", "out", "split", "Fisher"])
def test_less_evidence_does_not_prove_as_much(name: str) -> None:
    def fewer(document: dict[str, Any]) -> None:
        for test in document["tests"]:
            test["count"] -= min(test["count"], 3)

    assert not change(name, fewer).proved


@pytest.mark.parametrize("name", ["M1", "M2", "O2", "O4", "out", "split", "Fisher"])
def test_a_smaller_p_is_not_proved(name: str) -> None:
    def smaller(document: dict[str, Any]) -> None:
        for said in document["statements"]:
            said["p_upper"] *= 0.98
            said["p_each"] = [0.98 * p for p in said["p_each"]]

    assert not change(name, smaller).proved


CHANGES: dict[str, tuple[str, Change]] = {
    "a larger epsilon": ("O2", lambda d: d["statements"][0].update(epsilon=2.5)),
    "another head": ("O2", lambda d: d.update(epsilon_lower=2.5)),
    "a claim that is refuted anyway": ("O2", lambda d: d.update(claim_refuted=False)),
    "a higher level": ("O2", lambda d: d.update(level=0.99)),
    "a smaller delta": ("O2", lambda d: d["statements"][0]["slopes"][0].update(remove=0.0, add=0.0)),
    "more guesses": ("O2", lambda d: d["tests"][0].update(canaries=10**6)),
    "weights above 1": ("M1", lambda d: [test.update(weight=0.5) for test in d["tests"]]),
    "a smaller slope": (
        "O4",
        lambda d: [slope.update(add=0.9 * slope["add"]) for slope in d["statements"][0]["slopes"]],
    ),
    "another run": ("O4", lambda d: d["statements"][0].update(expression="Gaussian(sigma=0.5)")),
    # The head, and what it says of the design: nothing that a reader sees first is taken on trust.
    "no statement": ("O2", lambda d: d.update(statements=[])),
    "an epsilon without a statement": ("O2", lambda d: (d["statements"].pop(0), d.update(epsilon_lower=9.0))),
    "a claim without a statement": ("O2", lambda d: d["statements"].pop(1)),
    "a statement twice": ("O2", lambda d: d["statements"].append(d["statements"][0])),
    "a statement about what nobody asked": ("O2", lambda d: d["statements"][0].update(about="else")),
    "a larger delta in the head": ("O2", lambda d: d.update(delta=1e-2)),
    "a weaker claim in the head": ("O2", lambda d: d.update(claim="(2.1, 0.001)")),
    "another run in the head": ("O4", lambda d: d.update(claim="Gaussian(sigma=0.5)")),
    "a mu that nothing shows": ("O2", lambda d: d.update(mu_lower=7.0)),
    "a parameter that nothing shows": ("O2", lambda d: d.update(parameter="sigma", refuted_from=0.1)),
    "an epsilon of members": ("members", lambda d: d.update(epsilon_lower=5.0, delta=1e-5)),
    "no confidence": ("O2", lambda d: d.update(level=0.1)),
    "one run called many": ("O2", lambda d: d.update(design="runs")),
    "many runs called one": ("M2", lambda d: d.update(design="one-run")),
    "fewer trials": ("M2", lambda d: d["tests"][0].update(trials=100)),
    "a smaller p of a test": ("M1", lambda d: d["tests"][0].update(p=1e-9)),
    "ranks as independent runs": ("M1", lambda d: [t.update(group=i, weight=1.0) for i, t in enumerate(d["tests"])]),
    "a split without replacing": ("split", lambda d: d["settings"].update(neighbours="add_remove")),
    "pairs guessed on one side": ("split", lambda d: [test.update(sides="in") for test in d["tests"]]),
    "a claim that is no claim": ("O2", lambda d: d.update(claim="((((")),
    "samples of replaced records": (
        "split",
        lambda d: (
            d["statements"][1].update(expression=f"{RUN}.poisson(rate=0.5)"),
            d.update(claim=f"{RUN}.poisson(rate=0.5)"),
        ),
    ),
    "a smaller noise": ("family", lambda d: (d["statements"][0].update(value=0.5), d.update(refuted_from=0.5))),
    "a mu of three releases": ("family", lambda d: d.update(mu_lower=0.5)),
    "another family": ("family", lambda d: d.update(claim="Gaussian(sigma=?).poisson(rate=0.01) * 3")),
    "another parameter": ("family", lambda d: d.update(parameter="scale")),
    "no multipliers": ("O4", lambda d: d["statements"][0].update(certificates=[])),
    "other multipliers": (
        "O4",
        lambda d: d["statements"][0]["certificates"][0].update(
            phi=[[s, w, 2 * value] for s, w, value in d["statements"][0]["certificates"][0]["phi"]]
        ),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_better_is_proved(name: str) -> None:
    kind, make = CHANGES[name]
    found = change(kind, make)
    assert not found.proved
    assert found.unchanged is False


@pytest.mark.parametrize(
    "make",
    [
        lambda d: d["tests"][0].update(count=-1),
        lambda d: d["tests"][0].update(count=1.5),
        lambda d: d["tests"][0].update(coin=0.0),
        lambda d: d["tests"][0].update(coin=0.4),
        lambda d: d["tests"][0].update(sides="none"),
        lambda d: d["tests"][0].update(count=101),
        lambda d: d["tests"][0].update(weight="1"),
        lambda d: d["statements"][0].pop("slopes"),
        lambda d: d["statements"][0]["certificates"][0]["phi"].append([0, 0, 1.0]),
        lambda d: d["statements"][0]["certificates"][0]["phi"].append([99, 1, 1.0]),
        lambda d: d["statements"][0]["certificates"][0]["phi"].append([0, 1, -1.0]),
        lambda d: d.update(statements=3),
        lambda d: d.update(design="another"),
    ],
)
def test_what_is_no_audit_is_refused(make: Change) -> None:
    with pytest.raises(tr.DataError, match="this is no audit"):
        change("O4", make)


def test_more_right_ones_than_runs_are_refused() -> None:
    with pytest.raises(tr.DataError, match="counts are at most"):
        change("M2", lambda d: d["tests"][0].update(count=2000))


def test_replaced_records_may_meet_either_order_of_the_laws() -> None:
    """Slopes that hold in one direction each bound a replaced record by the larger."""

    def uneven(document: dict[str, Any]) -> None:
        for slope in document["statements"][1]["slopes"]:
            slope.update(add=1.0)

    assert not change("split", uneven).proved


def test_bets_are_not_checkable() -> None:
    found = tr.audit([3.0, 2.0, 1.0, 0.0] * 10, [1, 1, 0, 0] * 10, design="runs", delta=0.1, stopping=True)
    assert found.epsilon_lower is not None
    verdicts = tr.verify(found.to_json())
    assert verdicts.count("not checkable") == (found.epsilon_lower > 0.0)


def test_without_multipliers_nothing_is_refuted() -> None:
    """A program that says nothing bounds p by 1, also where the only guess was right."""
    test = {"canaries": 1, "trials": 1, "count": 1, "coin": 0.5, "sides": "in"}
    assert program_p(test, [CheckedSlope(arb(2), arb(0), arb(0))], {"phi": [], "psi": []}) >= 1
