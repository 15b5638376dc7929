"""The radius of each closed form in float64 is real: never below the error, and not far above the worst error.

Every form is measured on groups of points that share their parameters. In each group no error exceeds its radius, and
the largest relative radius is at most LOOSE times the largest relative error seen; without the radius, points are
missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb

import tightrope as tr
from tests.oracle.continuous import Laplace
from tests.oracle.finite import Histogram, Leaky, Product
from tests.oracle.fold import GaussianFold
from tests.oracle.precision import precision
from tests.oracle.truth import Truth
from tests.search import cases
from tightrope.core.engines.closed_form import engine as closed_form
from tightrope.core.numerics.enclosures import Enclosure, exact

Floats = npt.NDArray[np.float64]

LOOSE = 1000.0
POINTS = cases(400, 1000)  # of a group
VISIBLE = 1e-290  # below, the doubles themselves run out of digits


@dataclass(frozen=True)
class Group:
    """Points of one form with the same parameters."""

    name: str
    points: Floats
    computed: Callable[[Floats], Enclosure]
    truth: Callable[[float], arb]


@dataclass(frozen=True)
class Measured:
    """Relative errors and radii, and how many points would be missed without a radius."""

    error: Floats
    radius: Floats
    missed: int


def measure(group: Group) -> Measured:
    computed = group.computed(group.points)
    bare = Enclosure(computed.value, np.zeros_like(computed.radius))
    errors, radii, missed = [], [], 0
    for index, point in enumerate(group.points):
        truth = group.truth(float(point))
        with precision(200):
            if not truth > VISIBLE:
                continue
            value, radius = arb(float(computed.value[index])), arb(float(computed.radius[index]))
            assert abs(value - truth) <= radius, f"{group.name} at {point!r}: {value} +- {radius} misses {truth}"
            errors.append(float(abs(value - truth) / truth))
            radii.append(float(radius / truth))
            missed += arb(float(bare.lower[index])) > truth or arb(float(bare.upper[index])) < truth
    return Measured(np.array(errors), np.array(radii), missed)


def profile(mechanism: tr.Mechanism) -> Callable[[Floats], Enclosure]:
    pair = mechanism.pair(tr.Direction.REMOVE)
    return lambda points: pair.hockey_stick(exact(points))


def engine(mechanism: tr.Mechanism) -> Callable[[Floats], Enclosure]:
    """The closed form of a composition, one point at a time; half the interval is its radius."""
    terms = [(part.pair(tr.Direction.REMOVE), count) for part, count in mechanism.terms]
    evaluator = closed_form.prepare(terms, proof=False)
    assert evaluator.arithmetic == "float64"

    def computed(points: Floats) -> Enclosure:
        ends = [(result.lower, result.upper) for result in (evaluator.delta(float(point)) for point in points)]
        low, high = np.array(ends).T
        middle = low + (high - low) / 2.0
        return Enclosure(middle, np.nextafter(np.maximum(high - middle, middle - low), np.inf))

    return computed


def gaussian_groups(seed: int, groups: int, points: int) -> list[Group]:
    random = np.random.default_rng(seed)
    made = []
    for sigma in 10.0 ** random.uniform(-3.0, 4.0, groups):
        mu = 1.0 / float(sigma)
        spread = abs(mu * mu / 2.0 + mu * random.uniform(-38.0, 38.0, points))
        made.append(
            Group(
                f"sigma {sigma!r}",
                spread,
                profile(tr.Gaussian(sigma=float(sigma))),
                GaussianFold(((float(sigma), 1, 1),)).delta,
            )
        )
    return made


def laplace_groups() -> list[Group]:
    random = np.random.default_rng(2)
    return [
        Group(
            f"scale {scale!r}",
            random.uniform(0.0, 1.0 / scale, POINTS) * (1.0 - 10.0 ** random.uniform(-8.0, 0.0, POINTS)),
            profile(tr.Laplace(scale=float(scale))),
            Truth(Laplace(float(scale))).delta,
        )
        for scale in 10.0 ** random.uniform(-2.0, 4.0, 10)
    ]


def finite_groups() -> list[Group]:
    random = np.random.default_rng(3)
    made = []
    for size in (2, 3, 5, 8, 13, 40):
        weights = random.exponential(size=(2, size))
        p, q = ((row / row.sum()).tolist() for row in weights)
        truth = Truth(Histogram(tuple(p), tuple(q)))
        top = float(truth.supremum())  # type: ignore[arg-type]
        points = random.uniform(0.0, top, POINTS) * (1.0 - 10.0 ** random.uniform(-6.0, 0.0, POINTS))
        made.append(Group(f"{size} outcomes", points, profile(tr.Finite(p=p, q=q)), truth.delta))
    return made


def response_groups() -> list[Group]:
    random = np.random.default_rng(4)
    made = []
    for epsilon, delta, count in ((0.1, 0.0, 30), (0.3, 1e-7, 12), (0.02, 1e-9, 120)):
        fold = Truth(Product(((Leaky(epsilon, delta), count),)))
        points = epsilon * count * random.uniform(0.0, 1.0, 250) ** 2
        made.append(Group(f"{epsilon} x {count}", points, engine(tr.ApproximateDP(epsilon, delta) * count), fold.delta))
    return made


def product_groups() -> list[Group]:
    random = np.random.default_rng(5)
    made = []
    for sigma, epsilon, count in ((1.0, 0.3, 4), (20.0, 0.01, 12), (0.2, 1.0, 3)):
        fold = GaussianFold(((sigma, 1, 2),), Product(((Leaky(epsilon), count),)))
        top = epsilon * count + 1.0 / sigma**2 + 25.0 * 2.0**0.5 / sigma
        run = tr.Gaussian(sigma=sigma) * 2 + tr.PureDP(epsilon=epsilon) * count
        made.append(Group(f"sigma {sigma}", top * random.uniform(0.0, 1.0, 200), engine(run), fold.delta))
    return made


FORMS: dict[str, Callable[[], Sequence[Group]]] = {
    "laplace": laplace_groups,
    "finite": finite_groups,
    "responses": response_groups,
    "product": product_groups,
}


def check(groups: Sequence[Group]) -> None:
    for group in groups:
        measured = measure(group)
        assert measured.error.size >= group.points.size // 2
        loose = measured.radius.max() / measured.error.max()
        assert loose <= LOOSE, f"{group.name}: the radius is {loose:g} times the worst error"


@pytest.mark.parametrize("seed", range(cases(1, 4)))
def test_radius_of_gaussian(seed: int) -> None:
    """5,000 points, or 10,000 for each seed."""
    check(gaussian_groups(100 + seed, groups=10, points=cases(500, 1000)))


@pytest.mark.parametrize("form", FORMS)
def test_radius(form: str) -> None:
    check([replace(group, points=group.points[:: cases(2, 1)]) for group in FORMS[form]()])


def test_gaussian_without_its_radius_misses_the_truth() -> None:
    assert sum(measure(group).missed for group in gaussian_groups(7, groups=4, points=200)) > 0


@pytest.mark.parametrize("form", FORMS)
def test_without_its_radius_the_form_misses_the_truth(form: str) -> None:
    first = [replace(group, points=group.points[:120]) for group in FORMS[form]()]
    assert sum(measure(group).missed for group in first) > 0


def test_answers_miss_the_truth_where_rounding_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The radius reaches the user: with every rounding forgotten, the interval of some answer is wrong."""
    fold, mechanism = GaussianFold(((100.0, 1, 1),)), tr.Gaussian(sigma=100.0)
    points = [0.0013 * index for index in range(1, 60)]

    def wrong() -> int:
        bounds = mechanism.delta(epsilon=points)
        truths = [fold.delta(point) for point in points]
        return sum(arb(b.lower) > truth or arb(b.upper) < truth for b, truth in zip(bounds, truths, strict=True))

    assert wrong() == 0
    monkeypatch.setattr(
        "tightrope.core.numerics.enclosures._made",
        lambda value, spread, units: Enclosure(np.asarray(value), np.zeros_like(value)),
    )
    assert wrong() > 0
