"""Names: the running example, what is refused, and what a composition says of its parts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import tightrope as tr
from tightrope.core.text import registry
from tightrope.core.values import compute_budget
from tightrope.core.values.calls import NAME_SHOWN

RUN = (
    tr.Gaussian(sigma=5.0, name="GM1") * 3 + tr.Gaussian(sigma=8.0, name="GM2") * 5 + tr.PureDP(epsilon=0.1, name="SVT")
)
PLAIN = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1)
HOSTILE = {
    "empty": "",
    "a space": " ",
    "a space at the end": "x ",
    "a space in front": " x",
    "two lines": "x\ny",
    "a carriage return": "x\ry",
    "a tab": "x\ty",
    "nothing": "x\0y",
    "an escape": "\x1b[2J",
    "from right to left": "\u202egnp.exe",
    "no width": "x\u200by",
    "a line of Unicode": "x\u2028y",
    "half of a pair": "\ud800",
    "a soft hyphen": "x\u00ady",
    "too long": "x" * 101,
    "bytes": b"x",
    "a number": 5,
    "a truth": True,
    "a list": ["x"],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_no_line_can_hold_is_refused(what: str) -> None:
    given: Any = HOSTILE[what]
    for make in (
        lambda: tr.Gaussian(sigma=1.0, name=given),
        lambda: tr.PureDP(epsilon=1.0, name=given),
        lambda: tr.Gaussian(sigma=1.0).named(given),
        lambda: tr.Gaussian(sigma=1.0).poisson(0.1, name=given),
        lambda: RUN.named(given),
    ):
        with pytest.raises(tr.InvalidParameter, match=r"^name must be [^\n]{1,140}$"):
            make()


def test_a_kind_of_text_becomes_text() -> None:
    class Word(str):
        def __str__(self) -> str:
            return "other"

    name = tr.Gaussian(sigma=1.0, name=Word("x")).name
    assert type(name) is str
    assert name == "x"


def test_the_running_example() -> None:
    assert repr(RUN) == str(RUN)
    assert str(RUN).split(" + ") == [
        "Gaussian(sigma=5.0, name='GM1') * 3",
        "Gaussian(sigma=8.0, name='GM2') * 5",
        "PureDP(epsilon=0.1, name='SVT')",
    ]
    assert RUN.names == {"GM1": 3, "GM2": 5, "SVT": 1}
    assert RUN.parameters == {"GM1:sigma": 5.0, "GM2:sigma": 8.0, "SVT:epsilon": 0.1}
    assert RUN.label == "GM1 * 3 + GM2 * 5 + SVT"
    assert RUN.name is None
    assert RUN.epsilon(1e-6) == PLAIN.epsilon(1e-6)
    assert RUN != PLAIN
    assert RUN.terms == PLAIN.terms == PLAIN.parts
    with pytest.raises(TypeError):
        RUN.parameters["GM1:sigma"] = 1.0  # type: ignore[index]
    assert tr.Gaussian(sigma=5.0).parameters == {"sigma": 5.0}
    assert tr.Gaussian(sigma=5.0, name="GM1").names == {"GM1": 1}


def test_a_composition_with_a_name_stays_one_part() -> None:
    training = RUN.named("training")
    run = training * 2 + tr.Laplace(scale=3.0)
    assert run.names == {"training": 2, "Laplace": 1}
    assert run.label == "training * 2 + Laplace(scale=3.0)"
    assert run.parameters["training:GM1:sigma"] == 5.0
    assert training + training == training * 2
    assert run.terms == (PLAIN * 2 + tr.Laplace(scale=3.0)).parts
    assert tr.parse(repr(run)) == tr.load(tr.dump(run)) == pickle.loads(pickle.dumps(run)) == copy.deepcopy(run) == run
    assert training.named(None) == RUN
    assert (tr.Gaussian(sigma=1.0) * 3).named("x") * 1 == (tr.Gaussian(sigma=1.0) * 3).named("x")
    assert training * 0 == tr.compose()


def test_names_of_samples() -> None:
    sampled = tr.Gaussian(sigma=1.0, name="GM1").poisson(0.1)
    assert sampled.names == {"GM1": 1}
    assert sampled.parameters == {"rate": 0.1, "sigma": 1.0}
    assert sampled.label == "GM1.poisson(rate=0.1)"
    assert sampled.poisson(0.2).parameters == {"rate": 0.2, "base:rate": 0.1, "sigma": 1.0}
    assert repr(tr.Gaussian(sigma=1.0).poisson(0.1, name="sgd")) == "Gaussian(sigma=1.0).poisson(rate=0.1).named('sgd')"
    once = RUN.poisson(0.1, name="one sample")
    assert once == tr.parse(repr(once)) == tr.parse(f"({RUN!r}).poisson(rate=0.1, name='one sample')")
    assert once.pair(tr.Direction.ADD) == PLAIN.poisson(0.1).pair(tr.Direction.ADD)
    assert RUN.named("all").poisson(0.1).label == "all.poisson(rate=0.1)"
    assert RUN.poisson(0.1).label == "(GM1 * 3 + GM2 * 5 + SVT).poisson(rate=0.1)"


def test_parts_that_share_a_name_are_numbered() -> None:
    run = tr.compose(tr.Gaussian(sigma=sigma, name="A") for sigma in (1.0, 2.0, 3.0)) + tr.Laplace(1.0, name="A #2")
    assert run.names == {"A": 1, "A #2": 1, "A #3": 1, "A #2 #2": 1}
    assert sorted(run.parameters.values()) == [1.0, 1.0, 2.0, 3.0]  # type: ignore[type-var]
    odd = (tr.Gaussian(sigma=1.0) + tr.Gaussian(sigma=2.0, name="b")).named("a") + tr.Gaussian(sigma=3.0, name="a:b")
    assert sorted(odd.parameters.values()) == [1.0, 2.0, 3.0]  # type: ignore[type-var]


def test_one_that_does_nothing_changes_nothing_and_is_seen() -> None:
    nothing = tr.PureDP(epsilon=0.0, name="nothing")
    run = tr.Gaussian(sigma=1.0) + nothing
    assert run.names == {"Gaussian": 1, "nothing": 1}
    assert run.terms == tr.Gaussian(sigma=1.0).terms
    assert run.delta(1.0) == tr.Gaussian(sigma=1.0).delta(1.0)
    assert repr(run.poisson(0.5)).startswith("(Gaussian(sigma=1.0) + PureDP(epsilon=0.0, name='nothing')).")
    assert (nothing * 5).terms == tr.compose().terms


def test_many_names_are_one_law() -> None:
    run = tr.compose(tr.Gaussian(sigma=1.0, name=f"step {index}").poisson(0.01) for index in range(10_000))
    assert len(run.parts) == len(run.names) == 10_000
    assert run.terms == (tr.Gaussian(sigma=1.0).poisson(0.01) * 10_000).terms
    found = run.epsilon(1e-6)
    assert found == (tr.Gaussian(sigma=1.0).poisson(0.01) * 10_000).epsilon(1e-6)
    assert found.certificate is not None
    assert found.certificate.label.startswith("step 0.poisson(rate=0.01) + step 1.poisson(rate=0.01) + ")
    assert found.certificate.label.endswith(" + 9,992 more")
    assert len(found.certificate.label) <= NAME_SHOWN
    assert run.renyi([2.0, 4.0]) == (tr.Gaussian(sigma=1.0).poisson(0.01) * 10_000).renyi([2.0, 4.0])


def test_data_by_two_names_are_drawn_once() -> None:
    data = tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95)
    once, twice = data.named("a").delta(0.1).certificate, (data.named("a") + data.named("b")).delta(0.1).certificate
    assert once is not None
    assert twice is not None
    assert once.confidence == twice.confidence == 0.95


def test_the_certificate_says_the_names() -> None:
    certificate = RUN.epsilon(1e-6).certificate
    assert str(certificate).splitlines()[0] == "mechanism:   GM1 * 3 + GM2 * 5 + SVT"
    divergence = RUN.renyi(2.0).certificate
    assert divergence is not None
    assert divergence.label == "GM1 * 3 + GM2 * 5 + SVT"
    plain = PLAIN.epsilon(1e-6).certificate
    assert plain is not None
    assert plain.label == ""


def test_a_slip_is_answered_with_what_was_meant() -> None:
    with pytest.raises(TypeError, match=r"Gaussian takes no 'nmae'; .*did you mean name"):
        tr.Gaussian(sigma=1.0, nmae="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        tr.Gaussian(1.0, 1.0, "x")  # type: ignore[misc]


def test_a_calibration_keeps_the_name() -> None:
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma, name="x"), epsilon=1.0, delta=1e-5, tolerance=1e-2)
    assert found.mechanism.name == "x"
    assert str(found).startswith(f"sigma = {found.value!r} of x: epsilon in [")
    assert found.bound.certificate is not None
    assert found.bound.certificate.label == "x"


def test_many_numbers_are_shown_by_their_number() -> None:
    masses = [1 / 16] * 16
    run = tr.Finite(p=masses, q=masses, name="timing") + tr.Finite(p=masses, q=masses)
    assert "Finite(p=[16 numbers], q=[16 numbers], name='timing')" in str(run)
    assert tr.parse(repr(run)) == run
    assert run.label == "Finite(p=[16 numbers], q=[16 numbers]) + timing"


def test_a_sum_is_a_composition_however_it_came_about() -> None:
    kinds = (tr.Gaussian(sigma=1.0), tr.Laplace(scale=2.0).poisson(0.1), tr.PureDP(epsilon=0.0), tr.Gaussian(2.0) * 3)
    group = (tr.Gaussian(sigma=3.0) + tr.Laplace(scale=1.0)).named("group")
    parts = [each.named(f"n{index % 7}") for index, each in enumerate(kinds * 9)] + [*kinds, group] * 3
    once = tr.compose(parts)
    assert sum(parts) == sum(reversed(parts)) == once
    assert repr(sum(parts)) == repr(once)
    assert once.nameless == tr.compose(each.nameless for each in parts)
    with pytest.raises(tr.InvalidParameter, match=r"2\*\*1000"):
        once + group * 2**1000


def test_what_is_missing_is_named_as_the_user_writes_it() -> None:
    gaussian: Any = tr.Gaussian
    with pytest.raises(TypeError, match=r"^Gaussian needs sigma; it takes sigma, sensitivity, name$"):
        gaussian()
    with pytest.raises(TypeError, match=r"^best_of needs mean; it takes law, mean, shape, name$"):
        gaussian(sigma=1).best_of(law="geometric")
    with pytest.raises(TypeError, match=r"^epsilon needs delta; it takes delta, "):
        gaussian(sigma=1).epsilon()


def test_every_mechanism_can_be_made_when_time_is_up() -> None:
    """Questions make values too, such as the parts of a training run."""
    with compute_budget.allowance(1.0) as meter:
        meter.cancel()
        for make in (*registry.MECHANISMS.values(), *registry.TRANSFORMS.values()):
            assert isinstance(tr.parse(make.example), tr.Mechanism)
        assert meter.exhausted is None
