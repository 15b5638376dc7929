"""Calibration: the value meets the target, its neighbour is proven to miss it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from typing import Any, NoReturn

import jsonschema
import pytest
from click.testing import CliRunner

import tightrope as tr
from tightrope.cli.app import app
from tightrope.core.engines.contour import engine
from tightrope.core.planning.goal import Goal
from tightrope.core.text.expressions import parse_template
from tightrope.core.values import compute_budget

CASES = [
    ("Gaussian(sigma=?) * 10", 1.0, 1e-6),
    ("Gaussian(sigma=?).poisson(rate=0.01) * 1000", 3.0, 1e-6),
    ("Gaussian(sigma=2).poisson(rate=?) * 1000", 1.0, 1e-6),
    ("Gaussian(sigma=5) * ?", 3.0, 1e-6),
    ("Laplace(scale=?) * 10", 1.0, 0.0),
    ("PureDP(epsilon=?) * 100", 1.0, 1e-6),
    ("Gaussian(sigma=?, sensitivity=2) * 10**9", 1.0, 1e-6),
    ("Gaussian(sigma=100, sensitivity=?)", 1.0, 1e-6),
    ("Gaussian(sigma=1/?) * 20", 1.0, 1e-6),
    ("Gaussian(sigma=?-3)", 1.0, 1e-6),
    ("Gaussian(sigma=1).poisson(rate=?/60000) * 100", 2.0, 1e-6),
    ("GDP(mu=?)", 0.0, 1e-6),
    ("RandomizedResponse(p=0.9, categories=?)", 3.0, 1e-6),
    ("DiscreteGaussian(sigma=100, sensitivity=?)", 1.0, 1e-6),
]


def check(
    found: tr.Calibration,
    make: Callable[[float], tr.Mechanism],
    epsilon: float,
    delta: float,
    accuracy: float | None = None,
) -> None:
    """Both values answer for themselves."""
    assert found.mechanism == make(found.value)
    assert found.bound.upper <= epsilon
    assert make(found.value).delta(epsilon, accuracy=accuracy).upper <= delta
    if found.missed is not None:
        assert found.missed.bound.lower >= epsilon
        assert make(found.missed.value).delta(epsilon, accuracy=accuracy).lower > delta


class Count:
    """Counts the questions that are asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        for name in ("epsilon", "delta"):
            patch.setattr(tr.Mechanism, name, self.counted(getattr(tr.Mechanism, name)))

    def counted(self, ask: Callable[..., object]) -> Callable[..., object]:
        def counting(*arguments: object, **settings: object) -> object:
            self.asked += 1
            return ask(*arguments, **settings)

        return counting


@pytest.mark.parametrize(("text", "epsilon", "delta"), CASES)
def test_value_meets_and_neighbour_misses(
    text: str, epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = parse_template(text)
    with monkeypatch.context() as patch:
        count = Count(patch)
        found = tr.calibrate(
            template, epsilon=epsilon, delta=delta, parameter=template.parameter, integer=template.integer, seconds=60
        )
    assert count.asked <= 15
    check(found, template, epsilon, delta)
    assert found.ended is None
    assert found.missed is not None
    assert found.missed.bound.lower > epsilon
    distance = abs(found.missed.value - found.value)
    assert distance == 1 if template.integer else distance <= 1e-6 * found.value


def test_the_closed_form_of_laplace_is_found() -> None:
    found = tr.calibrate(lambda scale: tr.Laplace(scale=scale) * 10, epsilon=1.0, delta=0.0)
    assert 10.0 <= found.value <= 10.0 * (1 + 2e-6)


def test_a_rate_that_need_not_be_limited_is_one() -> None:
    found = tr.calibrate(
        lambda rate: tr.Gaussian(sigma=100.0).poisson(rate=rate), epsilon=1.0, delta=1e-6, parameter="rate"
    )
    assert found.value == 1.0
    assert found.missed is None
    assert "rate must lie in [0, 1]" in str(found.ended)


def test_a_target_out_of_reach_names_the_parameter() -> None:
    with pytest.raises(tr.BracketNotFound, match="rate") as caught:
        tr.calibrate(
            lambda rate: tr.ApproximateDP(epsilon=0.1, delta=1e-3).poisson(rate=0.5) + tr.Gaussian(sigma=1 / rate),
            epsilon=1.0,
            delta=1e-6,
            parameter="rate",
            most=1.0,
        )
    assert caught.value.parameter == "rate"


def test_command_line() -> None:
    arguments = ["calibrate", "Gaussian(sigma=?) * 10", "--epsilon", "1", "--delta", "1e-6"]
    text = CliRunner().invoke(app, arguments)
    assert text.exit_code == 0
    assert text.output.startswith("sigma = 13.3596")
    assert f": epsilon in {tr.parse(text.output.split(', ')[1].split(':')[0]).epsilon(1e-6)} at" in text.output
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    schema = json.loads(files("tightrope").joinpath("schema/calibration.json").read_text())
    jsonschema.validate(document, schema)
    assert document["bound"]["upper"] <= 1.0 <= document["missed"]["lower"]


@pytest.mark.parametrize(
    "text",
    ["Gaussian(sigma=1)", "Gaussian(sigma=_)", "? + 1", "Gaussian(sigma=?x)", "Gaussian(sigma=??)", "?" * 50_000, ""],
)
def test_templates_that_are_none(text: str) -> None:
    with pytest.raises((tr.ExpressionError, tr.InvalidParameter)):
        parse_template(text)


@pytest.mark.parametrize(
    ("make", "most", "value"),
    [
        (lambda n: tr.Gaussian(sigma=1000.0) * n, 100, 100),
        (lambda n: tr.Gaussian(sigma=n, sensitivity=10.0), 50, 38),
        (lambda n: tr.Gaussian(sigma=n, sensitivity=1e3), None, 3731),
    ],
)
def test_whole_numbers_up_to_their_end(make: Callable[[float], tr.Mechanism], most: int | None, value: int) -> None:
    assert tr.calibrate(make, epsilon=1.0, delta=1e-5, integer=True, most=most).value == value


def test_many_uses_are_told_apart_by_what_is_certain() -> None:
    def make(scale: float) -> tr.Mechanism:
        return tr.Laplace(scale=scale) * 10**6

    found = tr.calibrate(make, epsilon=1.0, delta=1e-6, tolerance=1e-3, seconds=120)
    check(found, make, 1.0, 1e-6, accuracy=1e-3)
    assert found.missed is not None
    assert 4200 < found.missed.value < found.value < 4300


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 3.0])
def test_what_is_not_monotone_is_refused(epsilon: float) -> None:
    with pytest.raises(tr.BracketNotFound, match=r"privacy is not monotone in x, see .* give least and most"):
        tr.calibrate(lambda x: tr.Gaussian(sigma=abs(x - 3) + 0.5), epsilon=epsilon, delta=1e-6)
    with pytest.raises(tr.BracketNotFound, match=r"not monotone in p, see .*0\.5 \((delta|epsilon) in \[0, 0\]\)"):
        tr.calibrate(lambda p: tr.RandomizedResponse(p=p), epsilon=epsilon, delta=1e-6, parameter="p")


def test_a_contradiction_far_out_is_seen() -> None:
    with pytest.raises(tr.BracketNotFound, match="not monotone"):
        tr.calibrate(lambda x: tr.Gaussian(sigma=x if x < 12 else 1.0), epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("ends", "value"), [({"least": 0.5}, math.e / (1 + math.e)), ({"most": 0.5}, 1 / (1 + math.e))]
)
def test_least_and_most_make_a_part_monotone(ends: dict[str, float], value: float) -> None:
    found = tr.calibrate(lambda p: tr.RandomizedResponse(p=p), epsilon=1.0, delta=0.0, **ends)  # type: ignore[arg-type]
    check(found, lambda p: tr.RandomizedResponse(p=p), 1.0, 0.0)
    assert found.missed is not None
    assert min(found.value, found.missed.value) <= value <= max(found.value, found.missed.value)


def test_what_does_not_matter_is_refused() -> None:
    for sigma, met in ((1.0, "do not meet"), (100.0, "meet the target")):
        with pytest.raises(tr.BracketNotFound, match=f"not shown to depend on x.*{met}"):
            tr.calibrate(lambda x, sigma=sigma: tr.Gaussian(sigma=sigma), epsilon=1.0, delta=1e-6)  # type: ignore[misc]


class Dark(tr.Gaussian):
    """No engine can answer for it."""

    __slots__ = ()

    def pair(self, direction: tr.Direction) -> NoReturn:
        raise tr.UnsupportedMechanism("it is dark here")


def test_where_engines_end_the_best_count_so_far_is_kept() -> None:
    def make(count: float) -> tr.Mechanism:
        return (tr.Gaussian(sigma=1000.0) if count <= 1000 else Dark(sigma=1000.0)) * count

    found = tr.calibrate(make, epsilon=1.0, delta=1e-6, integer=True)
    check(found, make, 1.0, 1e-6)
    assert 64 <= found.value <= 1000
    assert found.missed is None
    assert "it is dark here" in str(found.ended)
    with pytest.raises(tr.UnsupportedMechanism, match="it is dark here"):
        tr.calibrate(lambda x: Dark(sigma=x), epsilon=1.0, delta=1e-6)


def test_the_count_may_be_beyond_all_that_engines_take() -> None:
    found = tr.calibrate(lambda n: tr.Gaussian(sigma=1e9) * n, epsilon=1.0, delta=1e-6, integer=True)
    check(found, lambda n: tr.Gaussian(sigma=1e9) * n, 1.0, 1e-6)
    assert found.missed is not None
    assert 2**55 < found.value < found.missed.value < found.value * (1 + 1e-12)


@pytest.mark.parametrize("integer", [False, True])
def test_most_may_be_infinite(integer: bool) -> None:
    found = tr.calibrate(tr.Gaussian, epsilon=1.0, delta=1e-6, integer=integer, least=0, most=math.inf)
    check(found, tr.Gaussian, 1.0, 1e-6)
    assert math.ceil(found.value) == 5


@pytest.mark.parametrize(
    "settings",
    [
        {"most": "3"},
        {"most": math.nan},
        {"least": -1.0},
        {"least": 4, "most": 3},
        {"tolerance": 0},
        {"tolerance": 1.0},
        {"tolerance": "1e-3"},
        {"seconds": 0},
        {"seconds": "10"},
        {"seconds": math.nan},
        {"delta": "1e-6"},
        {"epsilon": "1"},
        {"delta": 1},
    ],
)
def test_settings_out_of_their_domain_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(tr.InvalidParameter) as caught:
        tr.calibrate(tr.Gaussian, **{"epsilon": 1.0, "delta": 1e-6, **settings})
    assert len(str(caught.value).splitlines()) == 1


def test_the_unknown_is_named_for_what_it_is() -> None:
    assert parse_template("Gaussian(sigma=?) * 10").parameter == "sigma"
    assert parse_template("Gaussian(sigma=?) + Laplace(scale=?)").parameter == "sigma and scale"
    assert parse_template("Gaussian(sigma=1/?) * 20").parameter == "?"
    assert parse_template("Gaussian(sigma=1) * (10*?)").parameter == "?"
    assert parse_template("Gaussian(sigma=1) * ?").parameter == "count"
    assert parse_template("Gaussian(sigma=1) * (10*?)").integer


def test_the_value_is_put_into_the_whole_expression() -> None:
    arguments = ["calibrate", "Gaussian(sigma=1/?)*20", "--epsilon", "1", "--delta", "1e-6"]
    first, second, _ = CliRunner().invoke(app, arguments).output.splitlines()
    value = float(first.removeprefix("? = ").split(",")[0])
    assert f", Gaussian(sigma={1 / value!r}) * 20: epsilon in [" in first
    assert second.startswith("  ? = 0.0529")
    document = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).output)
    assert document["parameter"] == "?"
    assert tr.parse(document["expression"]) == tr.Gaussian(sigma=1 / document["value"]) * 20


def test_a_batch_is_limited_by_its_rate_only() -> None:
    template = parse_template("Gaussian(sigma=1).poisson(rate=?/60000) * 100")
    found = tr.calibrate(template, epsilon=2.0, delta=1e-6, integer=True)
    check(found, template, 2.0, 1e-6)
    assert found.missed is not None
    assert 1 < found.value == found.missed.value - 1
    whole = tr.calibrate(parse_template("Gaussian(sigma=100).poisson(rate=?/60000)"), epsilon=1.0, delta=1e-6)
    assert whole.value == 60000
    assert whole.missed is None


def test_values_that_are_refused_in_between_are_an_error() -> None:
    with pytest.raises(tr.BracketNotFound, match=r"is refused \(count must be .*values on both sides are accepted"):
        tr.calibrate(parse_template("Gaussian(sigma=1) * (1000/?)"), epsilon=10.0, delta=1e-6, integer=True)
    with pytest.raises(tr.BracketNotFound, match=r"k = .* is refused .*are accepted: say integer=True$"):
        tr.calibrate(lambda k: tr.Gaussian(sigma=10) * k, epsilon=1.0, delta=1e-6, parameter="k")  # type: ignore[arg-type]


def test_nothing_accepted_says_why() -> None:
    with pytest.raises(tr.InvalidParameter, match="sigma must be"):
        parse_template("Gaussian(sigma=-?)")
    with pytest.raises(tr.InvalidParameter, match="returns a mechanism is needed, not int"):
        tr.calibrate(lambda x: 3, epsilon=1.0, delta=1e-6)  # type: ignore[arg-type, return-value]


def spending(after: int) -> Callable[[float], tr.Mechanism]:
    """Uses up all the time when it is called for the so manieth time."""
    calls = 0

    def make(sigma: float) -> tr.Mechanism:
        nonlocal calls
        calls += 1
        if calls == after:
            compute_budget.spend(compute_budget.left())
        return tr.Gaussian(sigma=sigma) * 10

    return make


def test_when_time_is_up_the_best_so_far_is_the_answer() -> None:
    found = tr.calibrate(spending(5), epsilon=1.0, delta=1e-6, tolerance=1e-11)
    check(found, lambda sigma: tr.Gaussian(sigma=sigma) * 10, 1.0, 1e-6)
    assert found.missed is not None
    assert found.missed.value < found.value
    assert found.ended == "time ran out"


def test_when_time_is_up_before_anything_is_found_it_says_so() -> None:
    with pytest.raises(tr.BracketNotFound, match=r"time ran out; sigma = 2 misses it"):
        tr.calibrate(spending(4), epsilon=1.0, delta=1e-6)
    with pytest.raises(tr.BracketNotFound, match="time ran out"):
        tr.calibrate(tr.Gaussian, epsilon=1.0, delta=1e-6, seconds=1e-9)
    outcome = CliRunner().invoke(
        app, ["calibrate", "Gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-6", "--seconds", "1e-9"]
    )
    assert "time ran out" in str(outcome.exception)


def test_the_unknown_is_called_what_the_caller_calls_it() -> None:
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma), epsilon=1.0, delta=1e-6, tolerance=1e-3)
    assert found.parameter == "sigma"
    with pytest.raises(tr.InvalidParameter, match="calibrate takes a function of the unknown"):
        tr.calibrate("Gaussian(sigma=?)", epsilon=1.0, delta=1e-6)  # type: ignore[arg-type]


def test_few_questions_are_asked_and_few_contours_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    prepared: list[object] = []
    bound, prepare = Goal._bound, engine.prepare
    monkeypatch.setattr(Goal, "_bound", lambda *given: (asked.append(given), bound(*given))[1])
    monkeypatch.setattr(engine, "prepare", lambda *terms, **how: (prepared.append(how), prepare(*terms, **how))[1])
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma).poisson(rate=0.01) * 1000, epsilon=2.0, delta=1e-6)
    assert len(asked) <= 10  # two of them for the epsilons that are printed, from the same contours
    assert len(prepared) <= 12
    assert found.missed is not None


def test_lower_ends_of_the_search_speak_of_the_pair() -> None:
    """The search asks the dominating pair alone, and does not say that real neighbours lose as much."""
    found = tr.calibrate(lambda users: tr.PureDP(epsilon=2).shuffle(users=users), epsilon=1.0, delta=1e-3, integer=True)
    real = found.mechanism.epsilon(delta=1e-3)
    assert real.lower < found.bound.lower <= real.upper
    assert real.certificate is not None
    assert real.certificate.attained
    assert found.bound.certificate is not None
    assert not found.bound.certificate.attained


def best_of(mean: float) -> tr.Mechanism:
    """Lower ends of the pair that dominates are far below its upper ends."""
    return tr.PureDP(epsilon=0.1).best_of(law="geometric", mean=mean)


def test_where_nothing_is_shown_to_miss_upper_ends_decide() -> None:
    found = tr.calibrate(best_of, epsilon=0.25, delta=1e-6, tolerance=0.01, most=64.0)
    assert found.missed is None
    assert "beyond it the bounds are too wide: mean = " in str(found.ended)
    assert found.bound.upper <= 0.25
    assert 6.9 < found.value < 7.01  # at delta 0 the least that misses is 7.00875


def test_upper_ends_are_followed_where_bounds_are_wide() -> None:
    found = tr.calibrate(
        lambda epsilon: tr.PureDP(epsilon=epsilon).best_of(law="geometric", mean=10), epsilon=1.0, delta=1e-6
    )
    assert found.missed is not None
    assert 0.97 < found.bound.upper <= 1.0 < found.missed.bound.lower
    assert "too wide" in str(found.ended)


def test_a_wide_theorem_says_which_values_meet() -> None:
    with pytest.raises(
        tr.BracketNotFound, match=r"meet the target from 0.5 to 2, and bounds of the others are too wid"
    ):
        tr.calibrate(lambda x: best_of(max(x, 1 / x)), epsilon=0.25, delta=1e-6)
