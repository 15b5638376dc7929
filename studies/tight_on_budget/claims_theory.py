"""Claims of sections 5 and 6, on theories of composition and shapes of noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from studies.claim import Claim, delta_at, orders_below
from studies.tight_on_budget.kov import best_epsilon, points_of
from studies.tight_on_budget.noise import (
    COUNT,
    GRADIENT_STEPS,
    HALF_VARIANCE,
    SCALE,
    cut_gauss,
    cut_laplace,
    gradient_step,
    response,
    whole_gauss,
)
from studies.tight_on_budget.timings import read
from tightrope import Bound, Laplace, Mechanism
from tightrope.core.conversions import concentrated
from tightrope.core.conversions import renyi_accountant as renyi

KOV_COUNTS = (1, 8, 64, COUNT)
TRUTH, KOV = "certified", "KOV, upper bound"
MOMENTS, CONCENTRATED = "moments accountant, upper bound", "concentrated, upper bound"


def _above(value: Callable[[], float]) -> Callable[[], Bound]:
    """A bound from above alone, as a number of its own."""

    def ask() -> Bound:
        found = value()
        return Bound(found, found)

    return ask


def _kov(mechanism: Mechanism, factor: float) -> Callable[[], Bound]:
    return _above(lambda: points_of(mechanism).delta(math.log(factor), COUNT))


def _histograms() -> Mechanism:
    return read()[1].histograms()


def _uses(count: int) -> str:
    return "1 use" if count == 1 else f"{count:,} uses"


def _kov_ratio(count: int) -> Bound:
    """The best epsilon of KOV over the true one, at or above 1, rounded outward."""
    found, truth = best_epsilon(whole_gauss(), 1e-5, count), (whole_gauss() * count).epsilon(1e-5)
    return Bound(max(found.lower / truth.upper * (1.0 - 1e-15), 1.0), found.upper / truth.lower * (1.0 + 1e-15))


CLAIMS = (
    Claim(
        "kov-response",
        "5.8",
        "KOV is tight for randomized response (delta at e^eps = 2, 512 uses)",
        {TRUTH: lambda: delta_at(response() * COUNT, 2.0), KOV: _kov(response(), 2.0)},
        lambda n: n[KOV].upper <= n[TRUTH].lower * (1.0 + 1e-9),
        "to nine digits: it is the mechanism from which the theorem is made",
    ),
    Claim(
        "kov-laplace",
        "5.8",
        "KOV is nearly tight, to half a per cent, for the Laplace mechanism (delta at e^eps = 1.2, 512 uses)",
        {
            TRUTH: lambda: (cut_laplace() * COUNT).delta(math.log(1.2)),
            KOV: _kov(cut_laplace(), 1.2),
        },
        lambda n: n[KOV].upper <= n[TRUTH].lower * 1.005,
        "the paper says tight; it is off by four parts in a thousand, since a quarter of a per cent of the outputs has "
        "a smaller loss",
    ),
    Claim(
        "kov-gauss",
        "5.8",
        "KOV is far off for the Gauss mechanism (delta at e^eps = 1.2, 512 uses)",
        {TRUTH: lambda: delta_at(cut_gauss() * COUNT, 1.2), KOV: _kov(cut_gauss(), 1.2)},
        lambda n: n[KOV].lower >= 10.0 * n[TRUTH].upper,
        "by almost two orders of magnitude",
    ),
    Claim(
        "kov-histogram",
        "8",
        "KOV is not tight for measured histograms (constant-time record, delta at e^eps = 2, 512 uses)",
        {TRUTH: lambda: delta_at(_histograms() * COUNT, 2.0), KOV: _kov(_histograms(), 2.0)},
        lambda n: n[KOV].lower >= 2.0 * n[TRUTH].upper,
        "with our own record in place of theirs",
    ),
    Claim(
        "moments-beat-kov",
        "5.8",
        "for Gauss, the moments accountant is below KOV at large e^eps (1.5) and above it at small (1.1)",
        {
            "KOV at 1.5": _kov(cut_gauss(), 1.5),
            "moments at 1.5": _above(lambda: renyi.markov_delta(cut_gauss() * COUNT, math.log(1.5))),
            "KOV at 1.1": _kov(cut_gauss(), 1.1),
            "moments at 1.1": _above(lambda: renyi.markov_delta(cut_gauss() * COUNT, math.log(1.1))),
        },
        lambda n: (
            n["moments at 1.5"].upper < n["KOV at 1.5"].upper and n["KOV at 1.1"].upper < n["moments at 1.1"].upper
        ),
        "both bounds as the paper has them",
    ),
    Claim(
        "concentrated-beats-moments",
        "5.5, 5.8",
        "concentrated privacy is tighter than the moments accountant (Gauss, 512 uses, e^eps = 1.2)",
        {
            TRUTH: lambda: delta_at(whole_gauss() * COUNT, 1.2),
            CONCENTRATED: _above(lambda: concentrated.zcdp_delta(whole_gauss() * COUNT, math.log(1.2))),
            MOMENTS: _above(lambda: renyi.markov_delta(whole_gauss() * COUNT, math.log(1.2))),
            "moments, best conversion": _above(lambda: renyi.renyi_delta(whole_gauss() * COUNT, math.log(1.2))),
        },
        lambda n: n[TRUTH].upper < n[CONCENTRATED].upper < n[MOMENTS].upper,
        "but only by its conversion: with the best one both are equal, and still above the truth",
    ),
    Claim(
        "response-order",
        "5.5, fig. 11",
        "for randomized response: truth below concentrated below Renyi (epsilon at delta 1e-4, 512 uses)",
        {
            TRUTH: lambda: (response() * COUNT).epsilon(1e-4),
            CONCENTRATED: _above(lambda: concentrated.fitted_epsilon(response() * COUNT, 1e-4)),
            MOMENTS: _above(lambda: renyi.markov_epsilon(response() * COUNT, 1e-4)),
        },
        lambda n: n[TRUTH].upper < n[CONCENTRATED].upper < n[MOMENTS].upper,
        "the conversion makes the difference here too",
    ),
    Claim(
        "gradient",
        "5.4, fig. 12, 22",
        "for noisy gradient descent the tight epsilon at delta 1e-5 is well below the moments accountant",
        {
            TRUTH: lambda: (gradient_step() * GRADIENT_STEPS).epsilon(1e-5),
            MOMENTS: _above(lambda: renyi.markov_epsilon(gradient_step() * GRADIENT_STEPS, 1e-5)),
        },
        lambda n: n[MOMENTS].lower >= 1.15 * n[TRUTH].upper,
        "a fifth lower, after 65,536 steps",
    ),
    Claim(
        "gauss-beats-laplace",
        "6",
        "for the same variance Gauss leaks less than Laplace (epsilon at delta 1e-4, 512 uses)",
        {
            "Gauss": lambda: (cut_gauss() * COUNT).epsilon(1e-4),
            "Laplace": lambda: (cut_laplace() * COUNT).epsilon(1e-4),
        },
        lambda n: n["Gauss"].upper < n["Laplace"].lower,
        "by a third",
    ),
    Claim(
        "laplace-is-half-gauss",
        "6",
        "Laplace comes within half a per cent of Gauss of half its variance (epsilon at delta 1e-4, 512 uses)",
        {
            "Gauss, half": lambda: (cut_gauss(HALF_VARIANCE) * COUNT).epsilon(1e-4),
            "Laplace": lambda: (cut_laplace() * COUNT).epsilon(1e-4),
            "Laplace, uncut": lambda: (Laplace(scale=SCALE) * COUNT).epsilon(1e-4),
        },
        lambda n: all(
            n["Gauss, half"].upper * 0.995 <= n[name].lower and n[name].upper <= n["Gauss, half"].lower * 1.005
            for name in ("Laplace", "Laplace, uncut")
        ),
        "cut, it lies above Gauss: what the cut leaves to one law alone, 4.8e-6 after 512 uses, takes a twentieth of "
        "delta, and for this Gauss next to nothing; uncut, it lies below. More uses do not bring them together at this "
        'scale: epsilon comes to differ by one part in 600, see "How fast Laplace noise becomes Gaussian"',
    ),
    Claim(
        "cut-floor",
        "6",
        "after 512 uses the curve levels out 4 orders lower for Gauss than for Laplace of the same variance",
        {
            "Gauss": lambda: (cut_gauss() * COUNT).delta(math.inf),
            "Laplace": lambda: (cut_laplace() * COUNT).delta(math.inf),
            "orders": lambda: orders_below(
                (cut_gauss() * COUNT).delta(math.inf), (cut_laplace() * COUNT).delta(math.inf).lower
            ),
        },
        lambda n: n["orders"].upper < 4.5,
        "lower it is, as the text argues, but by almost 12 orders: 512 times the mass that the cut leaves to one law "
        "alone, 1.55e-20 against 9.34e-9; where the 4 comes from the text does not say",
    ),
    Claim(
        "kov-grows",
        "5.8, fig. 13",
        "KOV becomes inaccurate with the number of uses (Gauss, delta 1e-5: its epsilon over the true one)",
        {_uses(count): partial(_kov_ratio, count) for count in KOV_COUNTS},
        lambda n: all(n[_uses(a)].upper < n[_uses(b)].lower for a, b in pairwise(KOV_COUNTS)),
        "exact for one use, 3 times too high after 8, 5 times after 512; from both sides, over all points of the curve",
    ),
)
