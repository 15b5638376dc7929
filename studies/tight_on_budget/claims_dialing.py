"""Claims of section 7.2, on the dialing protocol."""

from __future__ import annotations

from functools import partial

from studies.claim import Claim, Numbers, delta_at, orders_below
from studies.tight_on_budget.vuvuzela import (
    DIAL_FEW,
    DIAL_MANY,
    GS_1K6,
    GS_4K1,
    GS_20K,
    LP_4K,
    LP_8K,
    LP_10K,
    LP_20K,
    TARGET,
    Noise,
    cut,
    dialing,
    original_dialing,
)
from tightrope import Bound, Mechanism

LP_4K_SIGMA, LP_10K_SIGMA = Noise("LP", 4_000, 320), Noise("LP", 10_000, 833)
AT_TARGET = "delta at e^eps = 2"
CLAMPED, CUT = "orders, clamped as printed", "orders, cut instead"


def meets(numbers: Numbers) -> bool:
    """Whether every delta is shown to be within the target."""
    return all(bound.upper <= TARGET[1] for bound in numbers.values())


def _target(key: str, noise: Noise, rounds: int, says: str, why: str) -> Claim:
    return Claim(key, "7.2", says, {AT_TARGET: lambda: delta_at(dialing(noise, rounds), TARGET[0])}, meets, why)


def _orders(run: Mechanism, noise: Noise, rounds: int) -> Bound:
    original = original_dialing(noise, rounds)
    return orders_below(delta_at(run, original.factor), original.delta)


def _same(key: str, says: str, few: tuple[Noise, Noise, int], many: tuple[Noise, Noise, int], why: str) -> Claim:
    """Whether delta at the target is the same to five per cent for Laplace and Gauss, twice."""
    pairs = [[(noise, rounds) for noise in (laplace, gauss)] for laplace, gauss, rounds in (few, many)]
    asks = {f"delta, {n}, {r:,}": partial(delta_at, dialing(n, r), TARGET[0]) for pair in pairs for n, r in pair}

    def holds(numbers: Numbers) -> bool:
        found = [[numbers[f"delta, {n}, {r:,}"] for n, r in pair] for pair in pairs]
        return all(max(a.upper, b.upper) <= 1.05 * min(a.lower, b.lower) for a, b in found)

    return Claim(key, "7.2", says, asks, holds, why)


CLAIMS = (
    _target(
        "dial-gs-4.1k",
        GS_4K1,
        DIAL_MANY,
        "Gaussian noise GS(4.1k, 833), almost five times less, meets the target after 8,192 rounds",
        "with room of a factor of 1.7 in delta",
    ),
    _target(
        "dial-gs-1.6k",
        GS_1K6,
        DIAL_FEW,
        "GS(1.6k, 320), five times less, meets the target after 1,024 rounds",
        "with room of a factor of 5 in delta",
    ),
    Claim(
        "dial-lp-20k",
        "7.2",
        "LP(20k, 1130) is almost 3 orders of magnitude below the original analysis after 8,192 rounds",
        {
            CLAMPED: lambda: _orders(dialing(LP_20K, DIAL_MANY), LP_20K, DIAL_MANY),
            CUT: lambda: _orders(cut(LP_20K, 2.0) * DIAL_MANY, LP_20K, DIAL_MANY),
        },
        lambda n: n[CLAMPED].lower >= 2.7 and n[CUT].lower >= 2.7,
        "at the epsilon of the original analysis; the printed figure matches noise that is cut at 0, the clamped "
        "noise that the text describes does better",
    ),
    Claim(
        "dial-gs-20k",
        "7.2",
        "GS(20k, 1598) is more than 4 orders below",
        {CLAMPED: lambda: _orders(dialing(GS_20K, DIAL_MANY), LP_20K, DIAL_MANY)},
        lambda n: n[CLAMPED].lower > 4.0,
        "far more",
    ),
    Claim(
        "dial-gs-20k-early",
        "7.2",
        "GS(20k, 1598) reaches delta 1e-4 already below e^eps = 1.5 after 8,192 rounds",
        {"delta at e^eps = 1.5": lambda: delta_at(dialing(GS_20K, DIAL_MANY), 1.5)},
        meets,
        "delta is far below 1e-4 there",
    ),
    Claim(
        "dial-lp-8k",
        "7.2",
        "LP(8k, 500) is 2 orders below the original analysis after 1,024 rounds",
        {
            CLAMPED: lambda: _orders(dialing(LP_8K, DIAL_FEW), LP_8K, DIAL_FEW),
            CUT: lambda: _orders(cut(LP_8K, 2.0) * DIAL_FEW, LP_8K, DIAL_FEW),
        },
        lambda n: n[CLAMPED].lower >= 2.0 and n[CUT].lower >= 2.0,
        "again the printed figure matches cut noise",
    ),
    Claim(
        "dial-lp-half",
        "7.2, fig. 21",
        "half of the Laplace noise suffices: LP(4k, 330) for 1,024 rounds, LP(10k, 827) for 8,192",
        {
            "delta, LP(4k, 330)": lambda: delta_at(dialing(LP_4K, DIAL_FEW), TARGET[0]),
            "delta, LP(10k, 827)": lambda: delta_at(dialing(LP_10K, DIAL_MANY), TARGET[0]),
        },
        meets,
        "both meet the target",
    ),
    _same(
        "dial-same",
        "the reduced Laplace noise has the same bounds as the reduced Gaussian noise if its scale is sigma, "
        "at 2.5 times the mean",
        (LP_4K_SIGMA, GS_1K6, DIAL_FEW),
        (LP_10K_SIGMA, GS_4K1, DIAL_MANY),
        "to 3 per cent and to 1 per cent",
    ),
    _same(
        "dial-same-printed",
        "so do the Laplace noises of figure 21, whose scales are 330 and 827 in place of 320 and 833",
        (LP_4K, GS_1K6, DIAL_FEW),
        (LP_10K, GS_4K1, DIAL_MANY),
        "a scale 3 per cent larger makes delta 1.6 times smaller, one 0.7 per cent smaller makes it 8 per cent larger",
    ),
)
