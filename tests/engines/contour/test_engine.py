"""The contour engine contains the truth: reference vectors, second derivations, hard corners."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from flint import acb, arb

import tightrope as tr
from tests.search import FULL
from tightrope.core.engines.contour.engine import prepare
from tightrope.core.engines.contour.sums import ContourBound
from tightrope.core.engines.selection import Term
from tightrope.core.numerics.balls import working_precision
from tightrope.core.values.errors import UnsupportedMechanism
from tightrope.core.values.question import Direction

VECTORS = json.loads((Path(__file__).parents[2] / "reference" / "vectors.json").read_text())["vectors"]
SAMPLED = [vector for vector in VECTORS if "remove" in vector]
GAUSSIAN = [vector for vector in VECTORS if "remove" not in vector and "Gaussian(sigma" in vector["expression"]]
GAUSSIAN = [vector for vector in GAUSSIAN if "Discrete" not in vector["expression"]]
DECIMAL = Fraction(1, 10**14)  # the parameters are decimals there and doubles here


def terms(mechanism: tr.Mechanism, direction: str) -> list[Term]:
    return [(part.pair(Direction(direction)), count) for part, count in mechanism.terms]


def ask(
    mechanism: tr.Mechanism, direction: str, delta: float, accuracy: float, proof: bool = False
) -> tuple[float, float]:
    evaluator = prepare(terms(mechanism, direction), delta=delta, accuracy=accuracy, proof=proof)
    found = evaluator.inverse(delta, math.inf, accuracy)
    return found.lower, found.upper


def contains(interval: tuple[float, float], value: str) -> bool:
    exact = Fraction(value)
    return Fraction(interval[0]) <= exact * (1 + DECIMAL) and exact * (1 - DECIMAL) <= Fraction(interval[1])


def width(interval: tuple[float, float]) -> float:
    return (interval[1] - interval[0]) / interval[1] if interval[1] else 0.0


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("vector", SAMPLED, ids=lambda vector: vector["expression"])
def test_sampled_vectors(vector: dict[str, str], direction: str) -> None:
    mechanism, delta = tr.parse(vector["expression"]), float(vector["delta"])
    for proof, accuracy in ((False, 1e-9), (True, 1e-12)):
        found = ask(mechanism, direction, delta, accuracy, proof)
        assert contains(found, vector[direction]), found
        assert width(found) <= accuracy


@pytest.mark.parametrize("vector", GAUSSIAN, ids=lambda vector: f"{vector['expression']} at {vector['delta']}")
def test_gaussian_vectors(vector: dict[str, str]) -> None:
    for direction in ("remove", "add"):
        for proof, accuracy in ((False, 1e-9), (True, 1e-12)):
            found = ask(tr.parse(vector["expression"]), direction, float(vector["delta"]), accuracy, proof)
            assert contains(found, vector["epsilon"]), found
            assert width(found) <= accuracy


def gaussian_hockey_stick(mu: arb, epsilon: arb) -> arb:
    """H(e^epsilon) of one Gaussian shift, for any real epsilon."""

    def above(x: arb) -> arb:
        return (x / arb(2).sqrt()).erfc() / 2

    return above(epsilon / mu - mu / 2) - epsilon.exp() * above(epsilon / mu + mu / 2)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 9.0])
def test_leaky_response_next_to_a_gaussian(epsilon: float) -> None:
    """w + sum over the outcomes of the responses of p times the Gaussian's profile at what is left of epsilon."""
    sigma, e, leak, count = 1.5, 0.25, 1e-3, 4
    mechanism = tr.Gaussian(sigma=sigma) + tr.ApproximateDP(epsilon=e, delta=leak) * count
    with working_precision(200):
        truth_share = (1 - arb(leak)) / (1 + (-arb(e)).exp())
        lie_share = truth_share * (-arb(e)).exp()
        total = 1 - (1 - arb(leak)) ** count
        for lies in range(count + 1):
            mass = math.comb(count, lies) * truth_share ** (count - lies) * lie_share**lies
            total += mass * gaussian_hockey_stick(1 / arb(sigma), arb(epsilon) - arb(e) * (count - 2 * lies))
        for proof, accuracy in ((False, 1e-9), (True, 1e-12)):
            found = prepare(terms(mechanism, "remove"), epsilon=epsilon, accuracy=accuracy, proof=proof).delta(epsilon)
            assert arb(found.lower) <= total <= arb(found.upper)
            assert found.upper - found.lower <= accuracy * found.upper


def sampled_pair_of_two(sigma: float, rate: float, epsilon: float) -> arb:
    """delta of two Poisson-sampled Gaussians, remove, as one integral over the first output."""
    mu, share, root = 1 / arb(sigma), arb(rate), (2 * arb.pi()).sqrt()

    def ratio(x: acb) -> acb:
        return 1 - share + share * (mu * x - mu * mu / 2).exp()

    def inner(alpha: acb) -> acb:
        """The sampled profile above its kink: rate H(1 + (alpha - 1)/rate)."""
        e = (1 + (alpha - 1) / share).log()
        above = [((e / mu + side * mu / 2) / arb(2).sqrt()).erfc() / 2 for side in (-1, 1)]
        return share * (above[0] - e.exp() * above[1])

    # The first loss leaves e^epsilon/ratio; below 1 - rate the profile is 1 - alpha.
    kink = ((arb(epsilon).exp() / (1 - share) - (1 - share)) / share).log() / mu + mu / 2
    total = acb(0)
    for low, high, profile in ((arb(-16), kink, inner), (kink, arb(40), lambda alpha: 1 - alpha)):
        pieces = 16
        for index in range(pieces):
            left, right = (acb(low + (high - low) * (index + part) / pieces) for part in (0, 1))
            if index == pieces - 1 and profile is inner:
                right = acb(high - arb(2) ** -60)  # the logarithm stops at the kink; the rest is below 1e-17
            total += acb.integral(
                lambda x, _, f=profile: (-x * x / 2).exp() / root * ratio(x) * f(arb(epsilon).exp() / ratio(x)),
                left,
                right,
                rel_tol=1e-16,
                abs_tol=1e-18,
            )
    return total.real + arb(0, 1e-15)


@pytest.mark.parametrize(("sigma", "rate", "epsilon"), [(2.0, 0.5, 0.5), (1.0, 0.3, 0.5)])
def test_two_uses(sigma: float, rate: float, epsilon: float) -> None:
    with working_precision(120):
        exact = sampled_pair_of_two(sigma, rate, epsilon)
    pair = tr.Gaussian(sigma=sigma).poisson(rate=rate) * 2
    found = prepare(terms(pair, "remove"), epsilon=epsilon, accuracy=1e-9).delta(epsilon)
    assert not exact < arb(found.lower)
    assert not exact > arb(found.upper)
    assert found.upper - found.lower <= 1e-9 * found.upper


CORNERS = [
    ("Gaussian(sigma=0.6).poisson(rate=1e-4) * 1000000", 1e-8),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", 1e-300),
    ("Gaussian(sigma=0.3).poisson(rate=0.2) * 50", 1e-5),
    ("Gaussian(sigma=2).poisson(rate=0.5) * 2", 1e-5),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000000000", 1e-6),
    ("Gaussian(sigma=20).poisson(rate=0.9) * 7", 1e-2),
    (
        (
            "Gaussian(sigma=1).poisson(rate=0.01) * 1000 + Laplace(scale=10) * 3 "
            "+ RandomizedResponse(p=0.6, neighbours='add_remove') * 4"
        ),
        1e-6,
    ),
    ("Gaussian(sigma=4) * 10 + Laplace(scale=3).poisson(rate=0.3) * 20", 1e-9),
    (" + ".join(f"Gaussian(sigma={1 + 0.1 * i}).poisson(rate={0.002 * (i + 1)}) * 100000" for i in range(10)), 1e-7),
    *([("Gaussian(sigma=0.6).poisson(rate=1e-4) * 100000", 1e-8)] if FULL else []),  # 5 s in balls
]


@pytest.mark.parametrize(("expression", "delta"), CORNERS)
def test_arithmetics_agree(expression: str, delta: float) -> None:
    """float64 and balls overlap, both narrow; neither knows of the other. In the suite the directions take turns."""
    turn = CORNERS.index((expression, delta)) % 2
    for direction in ("remove", "add") if FULL else ("remove", "add")[turn : turn + 1]:
        mechanism = tr.parse(expression)
        wide = ask(mechanism, direction, delta, 1e-7)
        sharp = ask(mechanism, direction, delta, 1e-12, proof=True)
        assert wide[0] <= sharp[1]
        assert sharp[0] <= wide[1]
        assert width(wide) <= 1e-7
        assert width(sharp) <= 1e-12


def test_total_variation() -> None:
    """At epsilon 0 both directions have the same delta, and a delta at or above it costs nothing."""
    mechanism = tr.Gaussian(sigma=1).poisson(rate=0.5) * 10
    found = [prepare(terms(mechanism, each), epsilon=0.0, accuracy=1e-9).delta(0.0) for each in ("remove", "add")]
    assert max(each.lower for each in found) <= min(each.upper for each in found)
    above, below = found[0].upper * (1 + 1e-12), found[0].lower * (1 - 1e-12)
    assert ask(mechanism, "remove", above, 1e-9)[0] == 0.0
    low, high = ask(mechanism, "remove", below, 1e-9)
    assert 0.0 <= low <= high <= 1e-9


def test_one_contour_answers_a_curve() -> None:
    """The interval holds at any epsilon, however far from the one the contour was made for."""
    mechanism = tr.Gaussian(sigma=2).poisson(rate=0.1) * 500
    evaluator = prepare(terms(mechanism, "remove"), epsilon=1.0, accuracy=1e-9)
    for epsilon in np.linspace(0.0, 12.0, 25).tolist():
        far = evaluator.delta(epsilon)
        near = prepare(terms(mechanism, "remove"), epsilon=epsilon, accuracy=1e-9).delta(epsilon)
        assert far.lower <= near.upper
        assert near.lower <= far.upper


@pytest.mark.parametrize(
    "expression",
    [
        "RandomizedResponse(p=0.51) * 512 + RandomizedResponse(p=0.6) * 300",
        "Laplace(scale=2) * 5",
    ],
)
def test_refusal_where_the_transform_returns(expression: str) -> None:
    """Atoms: no truncation can be proven."""
    for proof in (False, True):
        with pytest.raises(UnsupportedMechanism):
            prepare(terms(tr.parse(expression), "remove"), epsilon=0.1, accuracy=1e-6, proof=proof)


class Forbidden:
    """Stands for a library that a proof must not touch."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"a proof reached for {name}")


def test_a_proof_uses_neither_numpy_nor_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms = [
        tr.parse(
            "Gaussian(sigma=1).poisson(rate=0.01) * 1000 + Laplace(scale=10) * 3 "
            "+ RandomizedResponse(p=0.6, neighbours='add_remove') * 4"
        ),
        tr.parse("Gaussian(sigma=1).poisson(rate=0.01) * 1000"),
    ]
    asked = [terms(mechanism, direction) for mechanism in mechanisms for direction in ("remove", "add")]
    prepare(asked[0], delta=1e-6, accuracy=1e-12, proof=True)  # late imports happen here
    libraries = {name for name in sys.modules if name.split(".")[0] in ("numpy", "scipy")}
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "tightrope"]
    for module in modules:
        for name, value in list(vars(module).items()):
            if getattr(value, "__name__", None) in libraries or type(value).__module__.split(".")[0] in (
                "numpy",
                "scipy",
            ):
                monkeypatch.setattr(module, name, Forbidden())
    for name in libraries:
        monkeypatch.setitem(sys.modules, name, Forbidden())
    with pytest.raises(AssertionError, match="reached for"):
        prepare(asked[0], delta=1e-6, accuracy=1e-12)
    for each in asked:
        found = prepare(each, delta=1e-6, accuracy=1e-12, proof=True).inverse(1e-6, math.inf, 1e-12)
        assert 0.0 < found.lower <= found.upper <= found.lower * (1 + 1e-12)


def test_precision_is_put_back() -> None:
    from flint import ctx

    before = ctx.prec
    evaluator: ContourBound = prepare(
        terms(tr.parse("Gaussian(sigma=2).poisson(rate=0.1) * 50"), "add"), delta=1e-6, accuracy=1e-12, proof=True
    )
    evaluator.inverse(1e-6, math.inf, 1e-12)
    assert ctx.prec == before
