"""The laws that the checker knows, by the names and arguments of the mechanisms; a file for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from ..law import CheckedLaw
from .discrete import DiscreteGaussianLaw
from .finite import GeometricLaw, LeakyResponseLaw, RatiosLaw, response
from .gaussian import GaussianLaw
from .laplace import LaplaceLaw

NEARLY = Fraction(1, 10**12)  # lists of probabilities sum to 1 but for rounding, and are divided by their sum


def _gaussian(sigma: Fraction, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    return GaussianLaw((_positive(sensitivity) / _positive(sigma)) ** 2)


def _gdp(mu: Fraction) -> CheckedLaw:
    return GaussianLaw(_positive(mu) ** 2)


def _laplace(scale: Fraction, sensitivity: Fraction = Fraction(1)) -> CheckedLaw:
    return LaplaceLaw(_positive(sensitivity) / _positive(scale))


def _discrete_gaussian(sigma: Fraction, sensitivity: int = 1) -> CheckedLaw:
    return DiscreteGaussianLaw(_positive(sigma) ** 2, _whole(sensitivity))


def _discrete_laplace(scale: Fraction, sensitivity: int = 1) -> CheckedLaw:
    return GeometricLaw(_positive(scale), _whole(sensitivity))


def _randomized_response(
    p: Fraction | None = None,
    epsilon: Fraction | None = None,
    categories: int = 2,
    channel: None = None,
    neighbours: str = "replace",
) -> CheckedLaw:
    if channel is not None or (p is None) == (epsilon is None) or _whole(categories) < 2:
        raise ValueError("p or epsilon, and categories")
    if neighbours not in ("replace", "add_remove"):  # the same two laws, under the relation that it names
        raise ValueError("neighbours are replace or add_remove")
    if epsilon is not None:
        return LeakyResponseLaw(_positive(epsilon), Fraction(0), categories)
    return response(_share(p), categories)


def _pure(epsilon: Fraction) -> CheckedLaw:
    return LeakyResponseLaw(_positive(epsilon))


def _approximate(epsilon: Fraction, delta: Fraction) -> CheckedLaw:
    return LeakyResponseLaw(_positive(epsilon), _share(delta))


def _finite(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> CheckedLaw:
    if len(p) != len(q) or any(abs(sum(map(_share, fractions), Fraction(0)) - 1) > NEARLY for fractions in (p, q)):
        raise ValueError("p and q are lists of probabilities")
    return RatiosLaw(tuple(map(Fraction, p)), tuple(map(Fraction, q)))


def _positive(number: Fraction | None) -> Fraction:
    if not isinstance(number, (int, Fraction)) or not number > 0:
        raise ValueError("a positive number is needed")
    return Fraction(float(number))  # a whole number stands for the nearest double, too


def _share(number: Fraction | None) -> Fraction:
    if not isinstance(number, (int, Fraction)) or not 0 <= number <= 1:
        raise ValueError("a probability is needed")
    return Fraction(number)


def _whole(number: int) -> int:
    if not isinstance(number, int) or number < 1:
        raise ValueError("a whole number is needed")
    return number


LAWS: Mapping[str, Callable[..., CheckedLaw]] = MappingProxyType(
    {
        "Gaussian": _gaussian,
        "GDP": _gdp,
        "Laplace": _laplace,
        "DiscreteGaussian": _discrete_gaussian,
        "DiscreteLaplace": _discrete_laplace,
        "RandomizedResponse": _randomized_response,
        "PureDP": _pure,
        "ApproximateDP": _approximate,
        "Finite": _finite,
    }
)
