"""Random expressions over mechanisms and transformations: trees up to four calls deep, as text.

What a call refuses (clashing relations, a base that it is not for) is left out, and the tree goes on without it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import tightrope as tr

DEPTH_MAX = 4
Source = random.Random


def log_uniform(source: Source, low: float, high: float) -> float:
    """Uniform on a log scale."""
    return math.exp(source.uniform(math.log(low), math.log(high)))


def any_rate(source: Source) -> float:
    """Next to 0, anywhere, or next to 1."""
    rate = log_uniform(source, 1e-12, 0.5)
    return 1.0 - rate if source.random() < 0.25 else rate


def count(source: Source, most: float) -> int:
    """From 1 on, small ones as likely as large ones."""
    return round(log_uniform(source, 1.0, most))


def curve(source: Source) -> str:
    """Two points of a curve that falls."""
    start, high = source.uniform(0.1, 1.0), log_uniform(source, 1e-8, 0.1)
    return f"PrivacyCurve(epsilons=[{start}, {start + 1.0}], deltas=[{high}, {high * source.random()}])"


def law(source: Source) -> str:
    """Three outputs, in short binary fractions."""
    p, q = sorted(source.sample(range(1, 64), 2)), sorted(source.sample(range(1, 64), 2))
    first, second = ([low / 64, (high - low) / 64, 1 - high / 64] for low, high in (p, q))
    return f"Finite(p={first}, q={second})"


def randomizer(source: Source) -> str:
    """What may be shuffled."""
    epsilon = log_uniform(source, 0.1, 4.0)
    kind = source.choice(
        (f"PureDP(epsilon={epsilon})", f"RandomizedResponse(epsilon={epsilon}, categories=3, neighbours='add_remove')")
    )
    return f"{kind}.shuffle(users={count(source, 1e4)})"


def training(source: Source) -> str:
    """A run, its batches made in any of the ways that need no cap."""
    kind = source.choice(("poisson", "allocated", "shuffled", "fixed", "with_replacement"))
    sizes = f"batch={(size := count(source, 1e3))}, records={size * count(source, 1e3)}"
    return f"training({sizes}, epochs={count(source, 20)}, sigma={log_uniform(source, 0.5, 20.0)}, sampling='{kind}')"


LEAVES: tuple[Callable[[Source], str], ...] = (
    lambda source: f"Gaussian(sigma={log_uniform(source, 0.5, 50.0)})",
    lambda source: f"Laplace(scale={log_uniform(source, 0.5, 50.0)})",
    lambda source: f"DiscreteGaussian(sigma={log_uniform(source, 0.5, 20.0)})",
    lambda source: f"DiscreteLaplace(scale={log_uniform(source, 0.5, 20.0)}, sensitivity=2)",
    lambda source: (
        f"RandomizedResponse(p={source.uniform(0.5, 0.9)}, categories={source.randint(2, 4)}, neighbours='add_remove')"
    ),
    lambda source: f"ApproximateDP(epsilon={log_uniform(source, 0.02, 2.0)}, delta={log_uniform(source, 1e-80, 1e-3)})",
    lambda source: f"Exponential(epsilon={log_uniform(source, 0.02, 2.0)})",
    lambda source: f"ZCDP(rho={log_uniform(source, 1e-4, 1.0)})",
    lambda source: f"RenyiCurve(orders=[2, 8], divergences=[{(low := log_uniform(source, 1e-3, 1.0))}, {4 * low}])",
    curve,
    law,
    randomizer,
    training,
)


def batch(source: Source) -> str:
    """batch= and records=."""
    size = count(source, 1e3)
    return f"batch={size}, records={size * count(source, 1e3)}"


def neighbours(source: Source) -> str:
    """Left open, or either relation."""
    return source.choice(("", "", ", neighbours='replace'", ", neighbours='add_remove'"))


def repetitions(source: Source) -> str:
    """law=, mean= and, where there is one, shape=."""
    name = source.choice(("geometric", "logarithmic", "poisson", "negative_binomial", "binomial"))
    mean = log_uniform(source, 1.01, 20.0)
    shape = {
        "negative_binomial": f", shape={source.uniform(0.2, 3.0)}",
        "binomial": f", shape={source.randint(21, 60)}",
    }
    return f"law='{name}', mean={mean}{shape.get(name, '')}"


CALLS: tuple[Callable[[Source, str], str], ...] = (
    lambda source, base: f"{base}.poisson(rate={any_rate(source)}{neighbours(source)})",
    lambda source, base: f"{base}.without_replacement({batch(source)}{neighbours(source)})",
    lambda source, base: f"{base}.with_replacement({batch(source)})",
    lambda source, base: (
        f"{base}.truncated_poisson(rate={any_rate(source)}, cap={count(source, 300)}, records={count(source, 1e3)})"
    ),
    lambda source, base: f"{base}.random_allocation(steps={count(source, 1e3)})",
    lambda source, base: f"{base}.group(size={source.randint(1, 8)})",
    lambda source, base: f"{base}.best_of({repetitions(source)})",
    lambda source, base: f"parallel({base}, {leaf(source)})",
    lambda source, base: f"({base} * {count(source, 1e3)})",
    lambda source, base: f"({base} + {leaf(source)})",
)


def leaf(source: Source) -> str:
    """A mechanism that the package knows."""
    text = source.choice(LEAVES)(source)
    return text if known(text) else leaf(source)


def known(text: str) -> bool:
    """Whether the package takes it."""
    try:
        tr.parse(text)
    except tr.TightropeError:
        return False
    return True


def tree(source: Source) -> str:
    """One to four calls on a leaf, those left out that are refused."""
    text = leaf(source)
    for _ in range(source.randint(1, DEPTH_MAX)):
        more = source.choice(CALLS)(source, text)
        text = more if known(more) else text
    return text


def both_ways(mechanism: tr.Mechanism) -> bool:
    """Whether text and JSON give the mechanism back."""
    return tr.parse(repr(mechanism)) == mechanism and tr.load(tr.dump(mechanism)) == mechanism
