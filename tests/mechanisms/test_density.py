"""Smooth densities: containment against plain quadrature, in every engine, and errors that say what to change."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.oracle.densities import SmoothTruth
from tests.oracle.precision import precision
from tests.oracle.smooth_fold import fold_delta
from tests.reference.integrals import stored
from tests.search import FULL, shared
from tightrope.core.losses.cgf import cgf_of
from tightrope.core.losses.density import series
from tightrope.core.losses.pair import TAIL_ERROR
from tightrope.core.numerics.double_double import double_double
from tightrope.core.numerics.enclosures import exact
from tightrope.core.values.errors import Refusal

Case = tuple[tr.Density, SmoothTruth]


def gaussian(x: Any) -> Any:
    return -(x**2) / 2 - (2 * arb.pi()).log() / 2


def logistic(x: Any) -> Any:
    return -x - 2 * (1 + (-x).exp()).log()


def student(x: Any) -> Any:
    """Three degrees of freedom."""
    return arb(2).lgamma() - arb(1.5).lgamma() - (3 * arb.pi()).log() / 2 - 2 * (1 + x**2 / 3).log()


def shifted(log: Callable[[Any], Any], by: float) -> Callable[[Any], Any]:
    return lambda x: log(x - by)


def true_gaussian(x: acb, analytic: bool) -> acb:
    return -x * x / 2 - (2 * acb.pi()).log() / 2


def true_logistic(x: acb, analytic: bool) -> acb:
    """The log of 1/(2 cosh(x/2))^2, with the same formula on both sides of 0."""
    return -2 * (2 * (x / 2).cosh()).log(analytic=analytic)


def true_student(x: acb, analytic: bool) -> acb:
    return (2 / (acb.pi() * acb(3).sqrt())).log() - 2 * (1 + x * x / 3).log(analytic=analytic)


def moved(log: Callable[[acb, bool], acb]) -> Callable[[acb, bool], acb]:
    return lambda x, analytic: log(x - 1, analytic)


def located(own: Callable[[Any], Any], log: Callable[[acb, bool], acb], reach: float) -> Case:
    return (
        tr.Density(log_p=shifted(own, 1.0), log_q=own, support=(-reach, reach + 1.0)),
        SmoothTruth(moved(log), log, -reach, reach + 1.0),
    )


@cache
def case(name: str) -> Case:
    """Noise of three kinds, its loss monotone or not, and two laws on the unit interval."""
    if name == "gaussian":
        return located(gaussian, true_gaussian, 14.0)
    if name == "logistic":
        return located(logistic, true_logistic, 10.0)
    if name == "student":
        return located(student, true_student, 12.0)
    return (
        tr.Density(log_p=lambda x: x - arb(1).expm1().log(), log_q=lambda x: 0, support=(0.0, 1.0)),
        SmoothTruth(lambda x, _: x - acb(arb(1).expm1().log()), lambda x, _: acb(0), 0.0, 1.0),
    )


NAMES = ("gaussian", "logistic", "student", "growing")
DIRECTIONS = ("remove", "add")


def truth_of(name: str, direction: str) -> SmoothTruth:
    law = case(name)[1]
    return law if direction == "remove" else law.reversed()


def contains(bound: tr.Bound, truth: arb, slack: float = 1e-25) -> bool:
    """The truth is known to some 30 digits."""
    with precision(110):
        return bool(truth >= arb(bound.lower) - slack and truth <= arb(bound.upper) + slack)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_one_use(name: str, direction: str) -> None:
    mechanism, law = case(name)[0], truth_of(name, direction)
    for epsilon in shared((0.0, 0.3, 0.9, 5.0), direction):
        truth = law.delta(epsilon)
        for proof, width in ((False, 1e-11), (True, 1e-14)):
            bound = mechanism.delta(epsilon, direction=direction, proof=proof)
            assert contains(bound, truth), (epsilon, proof)
            assert bound.width <= width * bound.upper + 1e-70, (epsilon, proof)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("rate", [0.02, 0.6])
@pytest.mark.parametrize("name", ["student", "growing"])
def test_one_sampled_use(name: str, rate: float, direction: str) -> None:
    """What lies outside adds between nothing and all of its mass."""
    mechanism, base = case(name)[0].poisson(rate=rate), truth_of(name, direction)
    law = base.sampled(rate, direction)
    for epsilon in (0.0, 0.005, 0.2):
        inside = law.inside(epsilon)
        bound = mechanism.delta(epsilon, direction=direction)
        assert arb(bound.lower) <= (inside + base.outside()).upper()
        assert inside.lower() <= arb(bound.upper)
        assert bound.width <= 1e-11


def uses_truth(name: str, direction: str, count: int, epsilon: float) -> float:
    return fold_delta(truth_of(name, direction), count, epsilon)


def test_the_stored_integrals_are_computed_here() -> None:
    """The cheapest of them; the others by `python -m tests.reference.integrals`."""
    asked = ("growing", "add", 40, 4.0)
    assert uses_truth(*asked) == pytest.approx(float(stored("uses of a density", *asked)), rel=1e-10)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("name", "count"), [("logistic", 30), ("student", 50), ("growing", 40)])
def test_many_uses(name: str, count: int, direction: str) -> None:
    mechanism = case(name)[0] * count
    for epsilon in (0.1 * count, 0.25 * count):
        truth = float(stored("uses of a density", name, direction, count, epsilon))
        for engine in ("auto", "lattice") if FULL or epsilon == 0.1 * count else ("auto",):
            bound = mechanism.delta(epsilon, direction=direction, engine=engine)
            assert bound.lower <= truth * (1.0 + 1e-9)
            assert truth * (1.0 - 1e-9) <= bound.upper
            assert bound.width <= 1e-5 * bound.upper


@pytest.mark.parametrize("delta", [1e-6, 1e-30])
@pytest.mark.parametrize("count", [1, 2, 10, 1000])
def test_gaussian_noise_written_as_a_density(count: int, delta: float) -> None:
    own, known = case("gaussian")[0] * count, tr.Gaussian(sigma=1.0) * count
    found, truth = own.epsilon(delta=delta), known.epsilon(delta=delta, proof=True)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.width <= 1e-9 * found.upper


def test_with_other_mechanisms() -> None:
    own = case("gaussian")[0]
    found = (own * 3 + tr.Gaussian(sigma=5.0) * 10).epsilon(delta=1e-8)
    truth = (tr.Gaussian(sigma=1.0) * 3 + tr.Gaussian(sigma=5.0) * 10).epsilon(delta=1e-8, proof=True)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.width <= 1e-9 * found.upper


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("engine", ["contour", "lattice"])
def test_sampled_many_times(engine: str, direction: str) -> None:
    own, known = (base.poisson(rate=0.05) * 50 for base in (case("gaussian")[0], tr.Gaussian(sigma=1.0)))
    found = own.epsilon(delta=1e-6, engine=engine, direction=direction)
    truth = known.epsilon(delta=1e-6, direction=direction)
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert found.width <= (1e-8 if engine == "contour" else 1e-4) * found.upper


def test_proof_of_many_uses() -> None:
    found = (case("growing")[0] * 20).epsilon(delta=1e-6, proof=True)
    float64 = (case("growing")[0] * 20).epsilon(delta=1e-6)
    assert found.certificate is not None
    assert found.certificate.arithmetic == "ball"
    assert max(found.lower, float64.lower) <= min(found.upper, float64.upper)
    assert found.width <= 1e-9


def test_what_lies_outside() -> None:
    mechanism, law = case("student")
    inside, _ = mechanism.outside
    assert contains(inside, law.outside())
    assert not mechanism.tight
    assert case("growing")[0].tight
    # delta below it cannot be promised at any epsilon, nor can losses above the supremum hide it
    assert mechanism.epsilon(delta=1e-7) == tr.Bound(math.inf, math.inf)
    assert mechanism.delta(epsilon=50.0).lower == pytest.approx(inside.lower, rel=1e-12)


def test_several_intervals() -> None:
    """The same law in two pieces, each with functions of its own, and with a hole that costs what it holds."""
    whole = case("gaussian")[0]
    log_p = shifted(gaussian, 1.0)
    split = tr.Density(log_p=[log_p, log_p], log_q=gaussian, support=[(-14.0, 0.3), (0.3, 15.0)])
    holed = tr.Density(log_p=log_p, log_q=gaussian, support=[(-14.0, 0.3), (0.3 + 2.0**-20, 15.0)])
    for epsilon in (0.0, 1.0, 3.0):
        one, two = whole.delta(epsilon), split.delta(epsilon)
        assert max(one.lower, two.lower) <= min(one.upper, two.upper)
        assert one.upper < holed.delta(epsilon).lower < one.upper + 1e-6


def test_equal_mechanisms_are_grouped() -> None:
    log_p, log_q = shifted(gaussian, 1.0), gaussian
    one, two = (tr.Density(log_p=log_p, log_q=log_q, support=(-3.0, 3.0)) for _ in range(2))
    assert one == two
    assert (one + two).terms == ((one, 2),)
    assert one != tr.Density(log_p=log_p, log_q=log_q, support=(-3.0, 3.5))


def test_a_first_use_in_float64_does_not_round_the_balls() -> None:
    mechanism = tr.Density(log_p=shifted(gaussian, 0.7), log_q=gaussian, support=(-5.0, 5.0))
    pair = mechanism.pair(tr.Direction.ADD)
    pair.tails(double_double(0.3))
    pair.hockey_stick(exact(0.3))
    assert all(tail.rel_accuracy_bits() > 150 for tail in pair.ball_tails(arb(0.3)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_cgf(name: str, direction: str) -> None:
    mechanism, law = case(name)[0], truth_of(name, direction)
    for z in (3.0, -0.3, 1j, -1.4 + 2j):
        with precision(110):
            truth, found = law.moment(z), mechanism.cgf(z, direction=direction).exp()
            assert found.overlaps(truth)
            assert (found - truth).abs_upper() < 1e-15 * truth.abs_lower()


def test_renyi_counts_what_lies_outside() -> None:
    mechanism, law = case("student")
    assert mechanism.renyi(2.0) == tr.Bound(math.inf, math.inf)
    with precision(110):
        assert contains(mechanism.renyi(0.5, direction="remove"), -2 * law.moment(-0.5).real.log())
    unknown = case("growing")[0].renyi(2.0, direction="remove")
    assert unknown.upper == math.inf  # that nothing lies outside is not proven
    assert unknown.lower == pytest.approx(math.log((math.e**2 - 1.0) / 2.0 / (math.e - 1.0) ** 2), rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"support": (-math.inf, 9.0)}, "must be finite"),
        ({"support": (9.0, -9.0)}, "must rise"),
        ({"support": 9.0}, "must be .low, high."),
        ({"support": [(0.0, 2.0), (1.0, 3.0)]}, "must rise"),
        ({"log_p": 3.0}, "log_p must be a function"),
        ({"log_q": [gaussian, gaussian]}, "a list of 1"),
        ({"log_q": lambda x: gaussian(x) + 1}, "integrates to .* above 1; give logarithms"),
        ({"log_q": lambda x: gaussian(x) - 1}, "widen the support, or normalise"),
        ({"log_q": lambda x: -abs(x)}, "log_q cannot be evaluated .* one smooth formula"),
        ({"log_q": lambda x: math.exp(x)}, "log_q cannot be evaluated"),
        ({"log_q": lambda x: x * acb(1)}, "log_q cannot be evaluated .*acb"),
        ({"log_q": lambda x: "0"}, "log_q gave str"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"log_p": shifted(gaussian, 1.0), "log_q": gaussian, "support": (-9.0, 9.0)}
    with pytest.raises(tr.InvalidParameter, match=message):
        tr.Density(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log_q": shifted(gaussian, 1.0)}, "cannot be shown to rise or fall"),
        ({"log_q": lambda x: (x * x).log() - 3}, "not finite near|not smooth"),
    ],
)
def test_what_cannot_be_taken_apart(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"log_p": shifted(gaussian, 1.0), "log_q": gaussian, "support": (-2e-4, 1e-4)}
    with pytest.raises(tr.UnsupportedMechanism, match=message):
        tr.Density(**(given | changes))


def test_functions_have_no_text() -> None:
    mechanism = case("growing")[0]
    with pytest.raises(tr.DataError, match="functions"):
        tr.dump(mechanism * 3)
    with pytest.raises(tr.ExpressionError, match="build it in Python"):
        tr.parse("Density(log_p=1, log_q=2, support=3) * 2")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_float64_lies_within_its_radius_of_the_balls(name: str, direction: str) -> None:
    pair = case(name)[0].pair(tr.Direction(direction))
    with precision(200):
        low, high = (float(end.mid()) for end in pair.loss_range())
    inside = [low + (high - low) * (0.5 - 0.5 * math.cos(0.37 * index)) for index in range(60)]
    close = [end + side * 10.0**-power for power in (3, 7, 11, 14) for end in (low, high) for side in (1.0, -1.0)]
    points = np.array([*inside, *close, 0.0, low, high, 2.0 * low, 2.0 * high, -2e3, 2e3])
    tails, profile = pair.tails(double_double(points)), pair.hockey_stick(exact(points))
    for index, point in enumerate(points):
        balls, ball = pair.ball_tails(arb(float(point))), pair.ball_hockey_stick(arb(float(point)))
        with precision(200):
            assert profile.lower[index] - arb(1e-70) <= ball <= profile.upper[index] + arb(1e-70), point
            assert profile.radius[index] <= 1e-12, point
            for value, truth in zip(tails, balls, strict=True):
                room = 1e-15 if min(abs(point - low), abs(point - high)) < 1e-6 else 0.0
                assert abs(arb(float(value[index])) - truth) <= abs(truth) * TAIL_ERROR + room + 1e-70, point


@pytest.mark.parametrize(("name", "rate"), [*((name, 1.0) for name in NAMES), ("gaussian", 0.1), ("growing", 0.1)])
def test_decay_is_a_bound(name: str, rate: float) -> None:
    """|phi| at many t against what is claimed for all t from there on, at the same tilt."""
    base = case(name)[0]
    pair = (base if rate == 1.0 else base.poisson(rate=rate)).pair(tr.Direction.REMOVE)
    known = cgf_of(pair)
    for tilt in (0.25, 3.0):
        decay, unit = known.ball_cf_decay(tilt), known.cumulants(tilt).variance ** -0.5
        with precision(90):
            phi = known.ball_tilted(tilt, 16.0 * unit, 30.0).phi(unit / 8.0, 128)
        sizes = [float(abs(value).lower()) for value in phi]
        for index in range(128):
            assert math.exp(decay.log_bound(index * unit / 8.0)) * (1.0 + 1e-12) >= max(sizes[index:])
        assert decay.log_bound(0.01 * unit) < -2e-5  # a hundredth of the way holds half of its square
        assert decay.log_bound(8.0 * unit) < -0.2


def normal(shift: float) -> Callable[[Any], Any]:
    return lambda x: -((x - shift) ** 2) / 2 - (2 * arb.pi()).log() / 2


def test_a_function_is_recorded_once() -> None:
    """A variable that moves on does not move the law that was taken apart."""
    calls, shift = [], 0.1

    def log_p(x: Any) -> Any:
        calls.append(x)
        return normal(shift)(x)

    made = tr.Density(log_p=log_p, log_q=normal(0.0), support=(-12, 13))
    before = made.delta(0.05)
    shift = 1.0
    assert made.delta(0.05) == before
    assert (made * 5).delta(0.05).upper < 0.5
    assert len(calls) == 1


def _looped(x: Any) -> Any:
    total = 0
    for part in x:
        total = total + part
    return total


@pytest.mark.parametrize(
    "log_p",
    [
        lambda x: (-x if x[0] > 0 else x) - arb(2).log(),
        lambda x: -((x[0] - 1) ** 2) / 2,
        lambda x: -x if x > 0 else x,
        lambda x: -x if x == 0 else x,
        lambda x: x if x else -x,
        lambda x: x * float(x),
        lambda x: x * int(x),
        lambda x: x * complex(x).real,
        lambda x: x * round(x),
        lambda x: x * math.floor(x),
        lambda x: math.exp(x),
        lambda x: np.exp(x),
        lambda x: np.array([x])[0] * np.abs(x),
        lambda x: max(x, 0),
        lambda x: -abs(x),
        lambda x: x // 1,
        lambda x: x % 1,
        lambda x: float(str(x)),
        lambda x: float(f"{x}"),
        lambda x: {x: 1}[x],
        lambda x: x * len(x),
        _looped,
        lambda x: x * [1, 2][x],
        lambda x: x.derivative(),
        lambda x: x.integral(),
        lambda x: x.coeffs()[0],
        lambda x: x * x.prec,
        lambda x: x(0),
        lambda x: x * "2",
        lambda x: x * 2j,
        lambda x: x * None,
        lambda x: None,
    ],
)
def test_a_function_that_asks_for_the_value_is_refused(log_p: Callable[[Any], Any]) -> None:
    for functions in ({"log_p": log_p, "log_q": normal(0.0)}, {"log_p": normal(0.0), "log_q": log_p}):
        with pytest.raises(tr.InvalidParameter, match="one smooth formula") as caught:
            tr.Density(**functions, support=(-12, 13))
        assert "\n" not in str(caught.value)


def test_everything_a_formula_may_say() -> None:
    """Recorded and evaluated, it is what the same function gives on a series."""
    from flint import arb_series, fmpq, fmpz

    from tightrope.core.losses.density.series import FUNCTIONS, recorded

    def said(x: Any) -> Any:
        y = +x * 2 + arb(1.5) - fmpq(1, 3) / (3 - x) + (-x) ** 2 - 0.25 * x / 2 + x**0.5
        return (y * fmpz(2) - 1) / 7 + 2**x + x ** arb(1.5) + arb(3) ** x + x**-2 + x * x

    x = arb_series([arb(0.7), 1], 6)
    found, truth = recorded("log_p", said)(x), said(x)
    assert all(found[j].overlaps(truth[j]) for j in range(6))
    mixed = recorded("log_p", lambda x: np.float64(0.25) * x / np.int64(2) + Fraction(1, 3) + np.float64(1) * x)(x)
    truth = x / 8 + x + fmpq(1, 3)
    assert all(mixed[j].overlaps(truth[j]) for j in range(6))
    for name in FUNCTIONS:
        found, truth = recorded("log_p", lambda x, name=name: getattr(x, name)())(x), getattr(x, name)()
        assert all(str(found[j]) == str(truth[j]) for j in range(6)), name


def test_x_of_one_function_is_not_that_of_another() -> None:
    kept: list[Any] = []

    def log_q(x: Any) -> Any:
        kept.append(x)
        return normal(0.0)(kept[0])

    with pytest.raises(tr.InvalidParameter, match=r"one smooth formula|another call"):
        for _ in range(2):
            tr.Density(log_p=normal(1.0), log_q=log_q, support=(-12, 13))


def test_a_symmetric_support() -> None:
    """The loss of two widths turns in the middle."""

    def wide(x: Any) -> Any:
        return -(x**2) / arb(4.5) - (arb(1.5) * (2 * arb.pi()).sqrt()).log()

    even, uneven = (tr.Density(log_p=wide, log_q=normal(0.0), support=(-12, high)).delta(0.5) for high in (12, 12.5))
    assert even.lower <= uneven.upper
    assert uneven.lower <= even.upper


WIDTH, SHARE, PLACE = 1e-6, 0.01, 0.3


def spiked(x: Any) -> Any:
    """A normal with a hundredth of its mass in a spike."""
    plain = (-(x**2) / 2).exp() / (2 * arb.pi()).sqrt()
    spike = (-(((x - PLACE) / WIDTH) ** 2) / 2).exp() / ((2 * arb.pi()).sqrt() * WIDTH)
    return ((1 - arb(SHARE)) * plain + arb(SHARE) * spike).log()


def crossing(gap: Callable[[Any], Any], one: Any, two: Any) -> Any:
    """Where the sign changes between two points, by bisection."""
    for _ in range(120):
        middle = (one + two) / 2
        one, two = (one, middle) if gap(one) * gap(middle) <= 0 else (middle, two)
    return (one + two) / 2


def test_a_spike_is_found_and_measured() -> None:
    """Its cells are a millionth of the others, and what lies outside of the support is still known to 30 digits."""
    made = tr.Density(log_p=spiked, log_q=normal(0.5), support=(-9.0, 9.5))
    with mpmath.workdps(40):
        share, place, width = (mpmath.mpf(each) for each in (SHARE, PLACE, WIDTH))

        def p(x: Any) -> Any:
            return (1 - share) * mpmath.npdf(x) + share * mpmath.npdf(x, place, width)

        def cdf_p(x: Any) -> Any:
            return (1 - share) * mpmath.ncdf(x) + share * mpmath.ncdf(x, place, width)

        for epsilon in (0.5, 2.0):
            alpha = mpmath.exp(epsilon)

            def gap(x: Any, alpha: Any = alpha) -> Any:
                return p(x) - alpha * mpmath.npdf(x, 0.5)

            low = crossing(gap, mpmath.mpf(-6), mpmath.mpf(0.2))
            sides = [crossing(gap, place + 30 * side * width, place) for side in (-1, 1)]
            event = [(mpmath.ninf, low), tuple(sides)]
            truth = sum(cdf_p(b) - cdf_p(a) - alpha * (mpmath.ncdf(b, 0.5) - mpmath.ncdf(a, 0.5)) for a, b in event)
            for proof in (False, True) if FULL or epsilon < 1.0 else (False,):
                bound = made.delta(epsilon, direction="remove", proof=proof)
                assert bound.lower <= truth + mpmath.mpf(10) ** -15
                assert truth - mpmath.mpf(10) ** -15 <= bound.upper
                assert bound.width <= 1e-11
    assert all(mass.width < 1e-30 for mass in made.outside)


def test_what_takes_too_many_cells_is_refused_as_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(series, "FINENESS", tuple((absolute, most // 10) for absolute, most in series.FINENESS))
    with pytest.raises(tr.UnsupportedMechanism, match="not smooth enough") as caught:
        tr.Density(log_p=lambda x: (x * 1e6).sin() - 10, log_q=normal(0.5), support=(-9.0, 9.5))
    assert caught.value.kind is Refusal.TOO_MUCH_WORK


def test_a_denominator_that_vanishes_on_a_wide_ball_only_is_no_obstacle() -> None:
    """1 + x^2 on a ball around 0 may be 0 for all that balls know; on smaller ones it is not."""

    def cauchy(x: Any) -> Any:
        return -(arb.pi() * 40).log() + (1 / (1 + (x / 40) ** 2)).log()

    def cut(x: Any) -> Any:
        return cauchy(x) - (2 * (arb(900) / 40).atan() / arb.pi()).log()

    made = tr.Density(log_p=cut, log_q=lambda x: -arb(1800).log(), support=(-900.0, 900.0))
    # Above 1/1800 within a distance d of 0: total variation is cut mass there less 2 d/1800.
    norm = 2 * math.atan(22.5) / math.pi
    d = 40 * math.sqrt(1800 / (40 * math.pi * norm) - 1)
    assert made.delta(0.0).upper == pytest.approx(2 * math.atan(d / 40) / math.pi / norm - d / 900, rel=1e-12)
