"""The knobs of privacy buckets, wherever an engine is named."""

from __future__ import annotations

import math
import pickle

import pytest

import tightrope as tr
from tightrope import result

RUN = tr.Gaussian(sigma=20.0) * 64
KNOBS = tr.Buckets(factor=1.002, buckets=400, free_infinity=1e-12)


def parameters(bound: tr.Bound) -> dict[str, object]:
    assert bound.certificate is not None
    assert bound.certificate.engine == "buckets"
    return dict(bound.certificate.parameters)


def test_settings_reach_the_engine_and_the_certificate() -> None:
    truth = RUN.delta(1.0)
    found = RUN.delta(1.0, engine=KNOBS)
    told = parameters(found)
    assert (told["n"], told["free_infinity_budget"], told["error_correction"]) == (400, 1e-12, True)
    assert told["factor"] == pytest.approx(1.002, rel=1e-14)
    assert found.lower <= truth.lower <= truth.upper <= found.upper
    plain = RUN.delta(1.0, engine=tr.Buckets(factor=1.002, buckets=400, free_infinity=1e-12, error_correction=False))
    assert parameters(plain)["error_correction"] is False
    assert plain.lower == found.lower
    assert plain.upper > found.upper
    assert plain.certificate is not None
    lines = plain.certificate.budget
    assert sum(lines.upper.values()) + sum(lines.lower.values()) >= 0.99 * plain.width


def test_every_question_takes_them() -> None:
    assert parameters(RUN.epsilon(1e-5, engine=KNOBS))["n"] == 400
    assert all(parameters(bound)["n"] == 400 for bound in RUN.curve(0.5, 1.5, 3, engine=KNOBS).bounds)
    found = tr.calibrate(
        lambda sigma: tr.Gaussian(sigma=sigma) * 4,
        epsilon=1.0,
        delta=1e-3,
        tolerance=0.5,
        engine=tr.Buckets(buckets=400),
    )
    assert parameters(found.bound)["n"] == 400
    for each in RUN.epsilon([1e-3, 1e-5], engine=KNOBS):
        assert each.lower < each.upper


def test_questions_about_the_loss_take_them() -> None:
    """P[loss > 1] of losses N(mu^2/2, mu^2), mu = 8/20."""
    found = RUN.pdp(1.0, engine=KNOBS)
    assert parameters(found)["n"] == 400
    truth = 0.5 * math.erfc((1.0 - 0.08) / 0.4 / math.sqrt(2.0))
    assert found.lower <= truth <= found.upper
    assert 0.0 < found.lower < found.upper < 1.0
    below = RUN.delta(-0.1, engine=KNOBS)
    assert below.lower <= RUN.delta(-0.1).lower <= below.upper


def test_what_is_left_out_is_chosen() -> None:
    by_name = RUN.delta(1.0, engine="buckets", accuracy=0.1)
    by_value = RUN.delta(1.0, engine=tr.Buckets(), accuracy=0.1)
    assert by_name == by_value
    assert parameters(by_name) == parameters(by_value)
    assert parameters(RUN.delta(1.0, engine=tr.Buckets(buckets=300)))["n"] == 300
    wide = parameters(RUN.delta(1.0, engine=tr.Buckets(factor=1.01)))
    assert wide["factor"] == pytest.approx(1.01, rel=1e-14)
    assert int(str(wide["n"])) * math.log(1.01) > 0.3


def test_a_result_with_settings_is_read_back() -> None:
    answer = result.Result(repr(RUN), "delta", {"epsilon": 1.0}, RUN.delta(1.0, engine=KNOBS))
    (again,) = result.read(result.write([answer], several=False))
    assert again == answer
    assert again.bound.certificate == answer.bound.certificate


def test_settings_are_values() -> None:
    assert pickle.loads(pickle.dumps(KNOBS)) == KNOBS
    assert hash(KNOBS) == hash(tr.Buckets(1.002, 400, 1e-12))
    assert eval(repr(KNOBS), {"Buckets": tr.Buckets}) == KNOBS
    assert tr.Buckets(buckets=400.0).buckets == 400


@pytest.mark.parametrize(
    "knobs, told",
    [
        ({"factor": 1.0}, "above 1"),
        ({"factor": math.inf}, "above 1"),
        ({"factor": math.nan}, "above 1"),
        ({"factor": "1.1"}, "text"),
        ({"factor": True}, "number"),
        ({"buckets": 3}, "even"),
        ({"buckets": 0}, "2 to"),
        ({"buckets": 2.5}, "whole"),
        ({"buckets": 1 << 21}, "even number from 2 to 1,048,576"),
        ({"free_infinity": -1e-9}, "in \\[0, 1\\]"),
        ({"error_correction": "no"}, "True or False"),
    ],
)
def test_settings_that_make_no_list(knobs: dict[str, object], told: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=told) as refused:
        tr.Buckets(**knobs)  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)


def test_keywords_that_are_not_known() -> None:
    with pytest.raises(TypeError, match=r"Buckets takes no 'factr'; .* did you mean factor\?"):
        tr.Buckets(factr=1.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="takes factor, buckets, free_infinity, error_correction"):
        tr.Buckets(n=10)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"did you mean rho\?"):
        tr.Concentrated(xi=0.0, roh=1.0)  # type: ignore[call-arg]


def test_sizes_are_checked_before_anything_is_made() -> None:
    with pytest.raises(tr.InvalidParameter, match="take a larger factor"):
        RUN.delta(1.0, engine=tr.Buckets(factor=1.0 + 1e-12))
    with pytest.raises(tr.UnsupportedMechanism, match="fewer buckets"):
        RUN.delta(1.0, engine=tr.Buckets(factor=2.0, buckets=1000))
    with pytest.raises(tr.InvalidParameter, match="engine must be one of"):
        RUN.delta(1.0, engine=tr.Buckets)  # type: ignore[arg-type]
