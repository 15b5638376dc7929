"""cgf, phi-function and Renyi divergences of every family against mpmath, in both directions."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import mpmath
import pytest
from flint import acb, arb
from jsonschema import Draft202012Validator
from mpmath import mpc, mpf

import tightrope as tr
from tests.oracle import moments
from tests.reference.integrals import DIGITS, stored
from tightrope.cli.app import run
from tightrope.core.conversions.divergence import Divergence
from tightrope.core.conversions.smallest_rho import SmallestRho
from tightrope.core.numerics.balls import working_precision

Moment = Callable[[complex], mpc]
POINTS = (-2.25, 0.75 - 6.0j, -0.5 + 2.0j)  # real and imaginary ones: test_renyi, test_phi
RATE = 0.125


class Family(NamedTuple):
    """A mechanism and the moments of its pair for remove; those for add are at -1 - z."""

    mechanism: tr.Mechanism
    computed: Moment
    integral: bool = True

    def moment(self, z: complex) -> mpc:
        """Integrals are stored, sums are not."""
        if not self.integral:
            return self.computed(z)
        with mpmath.workdps(DIGITS):
            place = (repr(self.mechanism), complex(z).real, complex(z).imag)
            return mpc(*(mpf(stored("a moment", *place, part)) for part in ("real", "imaginary")))


def smooth(p: moments.Density, q: moments.Density, places: list[float], rate: float = 1.0) -> Moment:
    def mixed(x: mpf) -> mpf:
        return (1 - mpf(rate)) * q(x) + mpf(rate) * p(x)

    return lambda z: moments.smooth_moment(mixed, q, places, z)


def moment_truth(mechanism: str, real: float, imaginary: float, part: str) -> mpf:
    """One part of the moment at a place, computed."""
    (family,) = (each for each in FAMILIES if repr(each.mechanism) == mechanism)
    value = family.computed(complex(real, imaginary))  # not rounded to the digits of the caller
    return value.real if part == "real" else value.imag


def listed(p: list[mpf], q: list[mpf]) -> Moment:
    return lambda z: moments.sum_moment(p, q, z)


@mpmath.workdps(30)
def families() -> list[Family]:
    line = [-40, -10, -3, 1, 5, 12, 40]
    outputs = list(range(-120, 122))
    most, rest, few = mpf(3) / 4, mpf(1) / 4, mpf(1) / 8
    gaussian = (lambda x: moments.normal(x, 1, 1.5), lambda x: moments.normal(x, 0, 1.5), line)
    laplace = (lambda x: moments.laplace(x, 1, 2), lambda x: moments.laplace(x, 0, 2), [-400, -60, 0, 1, 60, 400])
    logistic = (lambda x: moments.logistic(x, 1.25), lambda x: moments.logistic(x, 0), [-90, -30, -9, 0, 1, 9, 30, 90])
    leak, none = mpf(0.0625), mpf(0)
    truth, lie = ((1 - leak) * share / (1 + mpmath.e) for share in (mpmath.e, 1))
    integer = [moments.discrete_gaussian(outputs, mean, 1.5) for mean in (2, 0)]
    geometric = [moments.discrete_laplace(outputs, mean, 2.0) for mean in (2, 0)]
    finite = ([mpf(1) / 2, rest, rest], [few, most, few])
    leaky = ([leak, truth, lie, none], [none, lie, truth, leak])
    return [
        Family(tr.Gaussian(sigma=1.5), smooth(*gaussian)),
        Family(tr.Gaussian(sigma=1.5).poisson(rate=RATE), smooth(*gaussian, RATE)),
        Family(tr.Laplace(scale=2.0), smooth(*laplace)),
        Family(tr.Laplace(scale=2.0).poisson(rate=RATE), smooth(*laplace, RATE)),
        Family(tr.Exponential(epsilon=1.25), smooth(*logistic)),
        Family(tr.RandomizedResponse(p=0.75, neighbours="add_remove"), listed([most, rest], [rest, most]), False),
        Family(tr.ApproximateDP(epsilon=1.0, delta=0.0625), listed(*leaky), False),
        Family(tr.Finite(p=(0.5, 0.25, 0.25), q=(0.125, 0.75, 0.125)), listed(*finite), False),
        Family(tr.DiscreteGaussian(sigma=1.5, sensitivity=2), listed(*integer), False),
        Family(tr.DiscreteLaplace(scale=2.0, sensitivity=2), listed(*geometric), False),
    ]


FAMILIES = families()
NAMES = [repr(family.mechanism) for family in FAMILIES]


def encloses(found: acb, truth: mpc, digits: int = 16) -> bool:
    """The quadrature of mpmath is good for some 20 digits."""
    with working_precision(150), mpmath.workdps(40):
        true = acb(arb(mpmath.nstr(truth.real, 30)), arb(mpmath.nstr(truth.imag, 30)))
        slack = arb(0, 1e-19) * (1 + true.abs_upper())
        narrow = found.rad() < true.abs_upper() * arb(10) ** -digits
        return bool(found.overlaps(true + acb(slack, slack)) and narrow)


def test_the_stored_integrals_are_computed_here() -> None:
    for family in FAMILIES:
        if family.integral:
            with mpmath.workdps(DIGITS):
                assert abs(family.computed(1.0) - family.moment(1.0)) <= mpf("1e-19"), family.mechanism


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_cgf(family: Family, direction: str) -> None:
    """Reversing a pair turns z into -1 - z: the truth of the second law needs no second formula."""
    for z in POINTS:
        with working_precision(150):
            found = family.mechanism.cgf(z, direction=direction).exp()
        assert encloses(found, family.moment(z if direction == "remove" else -1 - z)), z


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_phi_is_the_cgf_on_the_imaginary_axis(family: Family) -> None:
    for t in (0.0, 0.5, -3.0):
        assert encloses(family.mechanism.phi(t), family.moment(complex(0.0, t)))


@pytest.mark.parametrize("order", [0.125, 0.5, 0.75, 1.25, 2.0, 8.0])
@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_renyi(family: Family, order: float) -> None:
    leaks = isinstance(family.mechanism, tr.ApproximateDP) and order > 1.0
    truths = []
    for direction, z in (("remove", order - 1.0), ("add", -order)):
        found = family.mechanism.renyi(order, direction=direction)
        with mpmath.workdps(30):
            truth = mpmath.inf if leaks else mpmath.log(mpc(family.moment(z)).real) / (mpf(order) - 1)
            assert mpf(found.lower) <= truth + mpf("1e-19")
            assert truth - mpf("1e-19") <= mpf(found.upper)
        assert found.width <= 1e-14 * found.upper
        truths.append(truth)
    both = family.mechanism.renyi(order)
    with mpmath.workdps(30):
        assert mpf(both.lower) - mpf("1e-19") <= max(truths) <= mpf(both.upper) + mpf("1e-19")


@pytest.mark.parametrize("family", FAMILIES, ids=NAMES)
def test_order_one_is_the_mean_loss(family: Family) -> None:
    found = family.mechanism.renyi(1.0, direction="remove")
    if isinstance(family.mechanism, tr.ApproximateDP):
        assert found == tr.Bound(math.inf, math.inf)
        return
    with mpmath.workdps(30):
        step = mpf(2) ** -20
        values = [mpmath.log(mpc(family.moment(complex(sign * step))).real) for sign in (1, -1)]
        # The third cumulant spoils the central difference in its twelfth digit.
        mean = (values[0] - values[1]) / (2 * step)
    assert abs(mpf(found.lower) - mean) <= mpf("1e-10")
    assert found.width <= 1e-12 * found.upper


def test_composition_adds_up() -> None:
    parts = (tr.Gaussian(sigma=1.5).poisson(rate=RATE), 100), (tr.Laplace(scale=2.0), 3)
    run = parts[0][0] * 100 + parts[1][0] * 3
    for order in (0.5, 1.0, 3.0):
        low, high = (
            math.fsum(count * getattr(part.renyi(order, direction="add"), end) for part, count in parts)
            for end in ("lower", "upper")
        )
        found = run.renyi(order, direction="add")
        assert found.lower <= high * (1.0 + 1e-15)
        assert low * (1.0 - 1e-15) <= found.upper
    with working_precision(100):
        product = parts[0][0].phi(2.0) ** 100 * parts[1][0].phi(2.0) ** 3
        assert run.phi(2.0).overlaps(product)


def test_ends_of_the_orders() -> None:
    leaky, laplace = tr.ApproximateDP(epsilon=1.0, delta=0.0625) * 3, tr.Laplace(scale=2.0)
    assert laplace.renyi(math.inf) == tr.Bound(0.5, 0.5)
    assert laplace.renyi(0.0) == tr.Bound(0.0, 0.0)
    assert tr.Gaussian(sigma=2.0).renyi(math.inf) == tr.Bound(math.inf, math.inf)
    assert leaky.renyi(math.inf) == leaky.renyi(1.0) == tr.Bound(math.inf, math.inf)
    assert -3.0 * math.log1p(-0.0625) == pytest.approx(leaky.renyi(0.0).upper, rel=1e-15)
    assert tr.PureDP(epsilon=0.0).renyi(7.0) == tr.Bound(0.0, 0.0)


def test_never_falls_with_the_order() -> None:
    run = tr.Gaussian(sigma=0.8).poisson(rate=0.01) * 500
    bounds = run.renyi((0.0, 1e-9, 0.25, 0.999999, 1.0, 1.000001, 2.0, 30.0, 200.0))
    for before, after in pairwise(bounds):
        assert before.lower <= after.upper
    assert bounds[-1].lower > bounds[1].upper


def test_small_and_large_noise() -> None:
    for sigma in (1e-3, 1e6):
        found = tr.Gaussian(sigma=sigma).renyi(3.0)
        truth = 1.5 / mpf(sigma) ** 2
        assert mpf(found.lower) <= truth <= mpf(found.upper)
        assert found.width <= 1e-14 * found.upper
    sampled = tr.Gaussian(sigma=1e4).poisson(rate=1e-4).renyi(2.0)
    with mpmath.workdps(40):
        truth = mpmath.log1p(mpf(1e-4) ** 2 * mpmath.expm1(mpf(1e4) ** -2))
    assert mpf(sampled.lower) <= truth <= mpf(sampled.upper)
    assert sampled.width <= 1e-12 * sampled.upper


@pytest.mark.parametrize("order", [-1.0, math.nan, 1e17, "2", None, True])
def test_orders_that_are_refused(order: object) -> None:
    with pytest.raises(tr.InvalidParameter, match="order must be"):
        tr.Gaussian(sigma=1.0).renyi(order)  # type: ignore[call-overload]


def test_other_refusals() -> None:
    cut = tr.TruncatedGaussian(sigma=2.0, bounds=(-9.0, 9.0))
    assert cut.renyi(0.5).width < 1e-14
    with pytest.raises(tr.UnsupportedMechanism, match="cgf is not known"):
        cut.poisson(rate=0.5).cgf(1j)
    with pytest.raises(tr.InvalidParameter, match="direction"):
        tr.Gaussian(sigma=1.0).cgf(1.0, direction="both")
    with pytest.raises(tr.UnsupportedMechanism, match="not finite"):
        tr.Gaussian(sigma=1.0).cgf(complex(math.inf, 0.0))


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "Gaussian(sigma=2) + Laplace(scale=2)"
    assert run(["renyi", expression, "--order", "inf", "--order", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    schema = json.loads(files("tightrope").joinpath("schema/result.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(document)
    first, second = document["results"]
    assert (first["order"], first["lower"], first["upper"]) == ("inf", "inf", "inf")
    assert second["quantity"] == "renyi"
    assert second["certificate"]["arithmetic"] == "ball"
    assert run(["renyi", "Gaussian(sigma=2)", "--order", "8", "--direction", "add"]) == 0
    assert capsys.readouterr().out.startswith("renyi in [1, 1] at order 8\n")
    assert run(["renyi", "Gaussian(sigma=2)", "--order", "-3"]) == 2
    assert "order must be" in capsys.readouterr().err


def test_bounds_that_contradict_each_other_are_no_answer() -> None:
    """Neither end is moved to hide it."""
    low, high = Divergence(0.5, 1.0), Divergence(0.75, 2.0)
    assert low.narrowed(high) == Divergence(0.75, 1.0)
    with pytest.raises(tr.InternalContradiction, match="contradict"):
        high.narrowed(Divergence(0.0, 0.5))
    with pytest.raises(tr.InternalContradiction, match="contradict"):
        SmallestRho(0.5, 1.0, 2.0, 1).narrowed(SmallestRho(0.0, 0.25, 2.0, 1))


def test_an_infinite_loss_that_is_not_ruled_out_leaves_no_upper_end() -> None:
    """The mass of infinite losses is a ball around 0 here; finite pairs below prove that there is some."""
    run = tr.ApproximateDP(epsilon=1.0, delta=1e-5).best_of("poisson", mean=2)
    assert all(bound.upper == math.inf for bound in run.renyi([1.0, 2.0, math.inf], direction="remove"))
    assert run.renyi(0.5, direction="remove").upper < 1.0


def test_losses_too_large_for_a_quadrature() -> None:
    """Next to the base but for the rate, and next to log 1/0.7 the other way."""
    run = tr.Laplace(scale=0.001).poisson(rate=0.3)
    base = tr.Laplace(scale=0.001).renyi(8.5)
    bound = run.renyi(8.5, direction="remove")
    assert base.lower + 8.5 / 7.5 * math.log(0.3) - 1e-9 <= bound.upper
    assert bound.lower <= base.upper + 8.5 / 7.5 * math.log(0.3) + 1e-9
    assert bound.upper - bound.lower < 1e-3 * bound.upper
    assert run.renyi(256.0, direction="add").upper <= math.log(1 / 0.7) + 1e-9
