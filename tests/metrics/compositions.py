"""Random compositions as the package knows them, and as an attacker draws them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

import tightrope as tr
from tests.oracle import attacker
from tests.oracle.attacker import Part

ALL = 200
USES = 24
Made = tuple[tr.Mechanism, Part]


class Composition(NamedTuple):
    run: tr.Mechanism
    parts: list[tuple[Part, int]]
    direction: str


def composition(seed: int) -> Composition:
    """One to three parts, some of them sampled, some with infinite losses."""
    rng = random.Random(seed)
    made = [(*rng.choice(KINDS)(rng), rng.choice((1, 2, 3, 7, USES))) for _ in range(rng.choice((1, 1, 2, 3)))]
    run = tr.compose(mechanism * count for mechanism, _, count in made)
    return Composition(run, [(part, count) for _, part, count in made], rng.choice(("remove", "add")))


def _rate(rng: random.Random) -> float:
    return rng.choice((1.0, 1.0, 0.5, 0.125, 0.015625))


def _sampled(mechanism: tr.Mechanism, rate: float) -> tr.Mechanism:
    return mechanism if rate == 1.0 else mechanism.poisson(rate=rate)


def _gaussian(rng: random.Random) -> Made:
    sigma, shift, rate = rng.choice((0.75, 2.0, 6.0)), rng.choice((1.0, 1.5)), _rate(rng)
    return (
        _sampled(tr.Gaussian(sigma=sigma, sensitivity=shift), rate),
        attacker.GaussianPart(rate, sigma, shift),
    )


def _laplace(rng: random.Random) -> Made:
    scale, shift, rate = rng.choice((1.0, 4.0, 10.0)), rng.choice((1.0, 2.0)), _rate(rng)
    return (
        _sampled(tr.Laplace(scale=scale, sensitivity=shift), rate),
        attacker.LaplacePart(rate, scale, shift),
    )


def _response(rng: random.Random) -> Made:
    p, categories, rate = rng.choice((0.53125, 0.625, 0.75)), rng.choice((2, 2, 5)), _rate(rng)
    return (
        _sampled(tr.RandomizedResponse(p=p, categories=categories, neighbours="add_remove"), rate),
        attacker.response(p, categories, rate),
    )


def _discrete_gaussian(rng: random.Random) -> Made:
    sigma, shift, rate = rng.choice((1.0, 3.0, 8.0)), rng.choice((1, 2)), _rate(rng)
    return (
        _sampled(tr.DiscreteGaussian(sigma=sigma, sensitivity=shift), rate),
        attacker.discrete_gaussian(sigma, shift, rate),
    )


def _discrete_laplace(rng: random.Random) -> Made:
    scale, shift, rate = rng.choice((2.0, 6.0)), rng.choice((1, 3)), _rate(rng)
    return (
        _sampled(tr.DiscreteLaplace(scale=scale, sensitivity=shift), rate),
        attacker.discrete_laplace(scale, shift, rate),
    )


def _finite(rng: random.Random) -> Made:
    size, rate = rng.randint(2, 4), _rate(rng)
    p, q = (_masses(rng, size) for _ in range(2))
    if rng.random() < 0.75:  # most without infinite losses
        p, q = (tuple(0.5 * each + 0.5 / size for each in masses) for masses in (p, q))
        p, q = ((*masses[:-1], 1.0 - sum(masses[:-1])) for masses in (p, q))
    return _sampled(tr.Finite(p=p, q=q), rate), attacker.TablePart(rate, p, q)


def _masses(rng: random.Random, size: int) -> tuple[float, ...]:
    cuts = sorted(rng.randint(0, 64) for _ in range(size - 1))
    return tuple((high - low) / 64 for low, high in zip([0, *cuts], [*cuts, 64], strict=True))


KINDS: tuple[Callable[[random.Random], Made], ...] = (
    _gaussian,
    _laplace,
    _response,
    _discrete_gaussian,
    _discrete_laplace,
    _finite,
)
