"""More kinds than a call has time for."""

from __future__ import annotations

import pytest

import tightrope as tr
from tightrope.core.engines import normal_form
from tightrope.core.engines import planner as parameter_binning


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (parameter_binning, normal_form):
        monkeypatch.setattr(module, "PARAMETER_BINS", {True: 12, False: 8})
    monkeypatch.setattr(parameter_binning, "KINDS_MIN", 20)
    monkeypatch.setattr(parameter_binning, "KIND_UNITS", 1e12)


RUN = tr.compose([tr.Gaussian(1.0 + 0.005 * index).poisson(0.02) for index in range(26)])


@pytest.mark.usefixtures("few_cells")
def test_answers_contain_what_all_kinds_say(monkeypatch: pytest.MonkeyPatch) -> None:
    epsilon, delta = RUN.epsilon(delta=1e-6), RUN.delta(epsilon=0.5)
    assert "pools" in epsilon.certificate.reason
    assert epsilon.width < 0.01 * epsilon.upper
    assert epsilon.certificate.budget.widest == "discretisation"
    monkeypatch.setattr(parameter_binning, "KIND_UNITS", 0.0)
    for pooled, exact in (
        (epsilon, RUN.epsilon(delta=1e-6)),
        (delta, RUN.delta(epsilon=0.5)),
    ):
        assert "pools" not in exact.certificate.reason
        assert pooled.lower <= exact.lower <= exact.upper <= pooled.upper


@pytest.mark.usefixtures("few_cells")
def test_an_engine_that_was_named_is_asked_for_all_kinds() -> None:
    assert "pools" not in RUN.epsilon(delta=1e-6, engine="contour").certificate.reason


@pytest.mark.usefixtures("few_cells")
def test_kinds_that_are_far_apart_are_put_between_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tr.compose([tr.Gaussian(10.0 * 1.2**index) for index in range(24)]).poisson(rate=0.1)
    wide = tr.compose([tr.Gaussian(10.0 * 1.2**index).poisson(0.1) for index in range(24)])
    bound = wide.epsilon(delta=1e-9)
    assert "pools" in bound.certificate.reason
    assert "pools" not in run.epsilon(delta=1e-9).certificate.reason  # one sample for all of them is one kind
    monkeypatch.setattr(parameter_binning, "KIND_UNITS", 0.0)
    exact = wide.epsilon(delta=1e-9)
    assert bound.lower <= exact.lower <= exact.upper <= bound.upper < 2 * bound.lower
