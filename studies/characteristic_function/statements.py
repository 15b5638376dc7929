"""The numbered statements of the talk, each with certified numbers that show it, or show that it fails.

A theorem is no finite set of numbers: what is decided is an instance, computed by two ways that share nothing, one of
them from the statement. The proofs are in docs/proofs.
"""

from __future__ import annotations

import cmath
import math
from functools import partial
from itertools import pairwise
from statistics import NormalDist

from studies.characteristic_function import experiment_2, talk_figure_1
from studies.claim import Claim, Numbers
from tightrope import (
    ApproximateDP,
    Bound,
    Exponential,
    Finite,
    Gaussian,
    Laplace,
    Mechanism,
    PrivacyCurve,
    PureDP,
    RandomizedResponse,
    TradeoffCurve,
    parallel,
)
from tightrope.core.conversions import renyi_accountant as renyi

ALPHAS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
RATE = 0.25
TINY = 1e-12  # two computations of one number agree to this


def _one(value: float) -> Bound:
    return Bound(value, value)


def _meet(one: Bound, other: Bound) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def _same(*names: str) -> partial[bool]:
    """All these numbers may be one, and are narrow."""
    return partial(_agree, names)


def _agree(names: tuple[str, ...], numbers: Numbers) -> bool:
    first = numbers[names[0]]
    return all(_meet(first, numbers[name]) and numbers[name].width < 1e-9 for name in names)


def _at_most(less: str, more: str) -> partial[bool]:
    return partial(lambda one, other, numbers: numbers[one].upper <= numbers[other].lower, less, more)


def _response(truth: float) -> tuple[tuple[float, float], tuple[float, float]]:
    return (truth, 1.0 - truth), (1.0 - truth, truth)


def _adaptive() -> Mechanism:
    """A response with 3/4; what it answers chooses the next one, with 5/8 or 11/16: all four outputs, exactly."""
    (first, second), likely = _response(0.75), (0.625, 0.6875)
    p, q = [], []
    for index in (0, 1):
        stay, leave = _response(likely[index])
        p += [first[index] * mass for mass in stay]
        q += [second[index] * mass for mass in leave]
    return Finite(p=p, q=q)


def _bit() -> Mechanism:
    """A response with 3/4 to a bit that is computed of all the data."""
    return RandomizedResponse(p=0.75, neighbours="add_remove")


def _sampled_by_hand() -> Mechanism:
    """A response with 3/4 on a Poisson sample: with the record 1/4 of its law and 3/4 of the other."""
    p, q = _response(0.75)
    return Finite(p=[RATE * a + (1.0 - RATE) * b for a, b in zip(p, q, strict=True)], q=q)


def _drawn_by_hand() -> Mechanism:
    """A response with 3/4 on one of two bits drawn at random; the second is 0, the first 1 or not there."""
    p, q = _response(0.75)
    return Finite(p=[0.5 * (a + b) for a, b in zip(p, q, strict=True)], q=q)


def _glued(epsilon: float) -> Bound:
    """rate H(1 + (alpha - 1)/rate) of a response with odds e: its H is (e - alpha)/(1 + e)."""
    inner = 1.0 + math.expm1(epsilon) / RATE
    value = RATE * (math.e - inner) / (1.0 + math.e)
    return Bound(value * (1.0 - TINY), value * (1.0 + TINY))


def _corners() -> Bound:
    """How far H lies above the least that lemma 9 allows: least of H - (1 - alpha), of falls, and of bends."""
    found = [Gaussian(sigma=1.0).delta(math.log(alpha)) for alpha in ALPHAS]
    above = min(bound.lower - max(1.0 - alpha, 0.0) for alpha, bound in zip(ALPHAS, found, strict=True))
    falls = min(one.lower - other.upper for one, other in pairwise(found))
    bends = min(
        ((c - b) * left.lower + (b - a) * right.lower) / (c - a) - middle.upper
        for a, b, c, left, middle, right in zip(
            ALPHAS, ALPHAS[1:], ALPHAS[2:], found, found[1:], found[2:], strict=False
        )
    )
    return _one(min(above, falls, bends))


def _rebuilt() -> Mechanism:
    """The pair of a profile that is known at some points, here those of Gaussian noise."""
    epsilons = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
    deltas = [bound.upper for bound in Gaussian(sigma=1.0).delta(epsilons)]
    return PrivacyCurve(epsilons=epsilons, deltas=deltas)


def _off(mechanism: Mechanism, formula: complex, t: float) -> Bound:
    return _one(abs(complex(mechanism.phi(t)) - formula))


def _laplace_phi(t: float) -> complex:
    """As table 2 prints it, at scale 1."""
    up, down = cmath.exp(1j * t), cmath.exp(-(1j * t + 1.0))
    return 0.5 * (up + down + (up - down) / (2j * t + 1.0))


def _phis() -> dict[str, partial[Bound]]:
    odds = math.log(3.0)
    return {
        "randomized response, off by": partial(
            _off, RandomizedResponse(p=0.75), 0.75 * cmath.exp(1j * odds) + 0.25 * cmath.exp(-1j * odds), 1.0
        ),
        "Laplace, off by": partial(_off, Laplace(scale=1.0), _laplace_phi(2.0), 2.0),
        "Gaussian, off by": partial(_off, Gaussian(sigma=1.0), cmath.exp(-(9.0 - 3.0j) / 2.0), 3.0),
    }


def _error_at_five_per_cent() -> Bound:
    """Phi(Phi^-1(0.95) - 1): that of Gaussian noise of sigma 1."""
    normal = NormalDist()
    value = normal.cdf(normal.inv_cdf(0.95) - 1.0)
    return Bound(value * (1.0 - TINY), value * (1.0 + TINY))


STATEMENTS = (
    Claim(
        "definition-7",
        "talk, def. 7",
        "a dominating pair lies above at every alpha, also below 1: randomized response above Laplace noise, epsilon 1",
        {
            f"{name}, delta at {epsilon:g}": partial(run.delta, epsilon)
            for epsilon in (-0.5, 0.5)
            for name, run in (("Laplace", Laplace(scale=1.0)), ("response", PureDP(epsilon=1.0)))
        },
        lambda n: all(n[f"Laplace, delta at {e:g}"].upper <= n[f"response, delta at {e:g}"].lower for e in (-0.5, 0.5)),
        "it is the pair of all mechanisms that are 1-DP",
    ),
    Claim(
        "proposition-8",
        "talk, prop. 8",
        "every mechanism has a tightly dominating pair, also where no two data sets are the worst (that of ex. 16)",
        {
            "delta at 0.5": lambda: parallel(talk_figure_1.response(), talk_figure_1.gauss()).delta(0.5),
            "response": lambda: talk_figure_1.response().delta(0.5),
            "delta at 2": lambda: parallel(talk_figure_1.response(), talk_figure_1.gauss()).delta(2.0),
            "Gaussian": lambda: talk_figure_1.gauss().delta(2.0),
        },
        lambda n: _agree(("delta at 0.5", "response"), n) and _agree(("delta at 2", "Gaussian"), n),
        "the pair of the largest profile: each of the two data sets attains it at one of these",
    ),
    Claim(
        "lemma-9-necessary",
        "talk, lemma 9",
        "a profile is convex, falls, and is at least 1 - alpha (Gaussian noise, sigma 1)",
        {"least slack at seven alphas": _corners},
        lambda n: n["least slack at seven alphas"].lower > 0.0,
        "one number for all three: the least that remains",
    ),
    Claim(
        "lemma-9-sufficient",
        "talk, lemma 9",
        "from a profile a pair is built that has it (from six points of Gaussian noise, sigma 1)",
        {
            "rebuilt, delta at 0.5": lambda: _rebuilt().delta(0.5),
            "Gaussian, delta at 0.5": lambda: Gaussian(sigma=1.0).delta(0.5),
            "rebuilt, between the points, at 0.7": lambda: _rebuilt().delta(0.7),
            "Gaussian, at 0.7": lambda: Gaussian(sigma=1.0).delta(0.7),
        },
        lambda n: (
            _agree(("rebuilt, delta at 0.5", "Gaussian, delta at 0.5"), n)
            and n["rebuilt, between the points, at 0.7"].lower > n["Gaussian, at 0.7"].upper
        ),
        "at its points exactly; between them the chord, the best that the points allow",
    ),
    Claim(
        "lemma-9-conjugate",
        "talk, lemma 9",
        "P has the cdf 1 + H*(x - 1) and Q is uniform: the trade-off that this is has the profile it came from",
        {
            "from the trade-off": lambda: TradeoffCurve(fprs=[0, 0.25, 1], fnrs=[1, 0.25, 0]).delta(0.5),
            "randomized response, p = 3/4": lambda: RandomizedResponse(p=0.75).delta(0.5),
        },
        _same("from the trade-off", "randomized response, p = 3/4"),
        "the conjugate of randomized response's profile has one corner",
    ),
    Claim(
        "corollary-26",
        "talk, cor. 26",
        "projecting an upper bound to the profiles may improve it (deltas 0.01, 0.3, 1e-4 at epsilons 0.5, 1, 2)",
        {
            "delta at 1, of the given 0.3": lambda: PrivacyCurve(
                epsilons=[0.5, 1.0, 2.0], deltas=[0.01, 0.3, 0.0001]
            ).delta(1.0)
        },
        lambda n: n["delta at 1, of the given 0.3"].upper < 0.3,
        "the chord between its neighbours lies below",
    ),
    Claim(
        "theorem-10",
        "talk, thm 10",
        "dominating pairs compose, also where the second mechanism depends on what the first answers",
        {
            "adaptive, by its four outputs, delta at 1": lambda: _adaptive().delta(1.0, direction="remove"),
            "product of the pairs": lambda: (RandomizedResponse(p=0.75) + RandomizedResponse(p=0.6875)).delta(1.0),
        },
        _at_most("adaptive, by its four outputs, delta at 1", "product of the pairs"),
        "responses with 3/4, then 5/8 or 11/16 (ours): the product takes the worse each time",
    ),
    Claim(
        "theorem-11-poisson",
        "talk, thm 11 (1)",
        "((1 - rate) Q + rate P, Q) dominates a Poisson sample when a record is removed, (P, (1 - rate) P + rate Q) "
        "when one is added",
        {
            "removed": lambda: _bit().poisson(rate=RATE).delta(0.1, direction="remove"),
            "by hand": lambda: _sampled_by_hand().delta(0.1, direction="remove"),
            "added": lambda: _bit().poisson(rate=RATE).delta(0.1, direction="add"),
            "by hand, reversed": lambda: _sampled_by_hand().delta(0.1, direction="add"),
        },
        lambda n: _agree(("removed", "by hand"), n) and _agree(("added", "by hand, reversed"), n),
        "attained: a response with 3/4 on a sample at rate 1/4 (ours), its two outputs listed",
    ),
    Claim(
        "theorem-11-subset",
        "talk, thm 11 (2)",
        "((1 - rate) P + rate Q, P) dominates a random subset when a record is removed, (P, Q) being about replacing",
        {
            "theorem": lambda: (
                RandomizedResponse(p=0.75)
                .without_replacement(batch=1, records=2, neighbours="add_remove")
                .delta(0.1, direction="remove")
            ),
            "by hand": lambda: _drawn_by_hand().delta(0.1, direction="remove"),
        },
        _same("theorem", "by hand"),
        "attained: a response with 3/4 on one of two bits (ours)",
    ),
    Claim(
        "theorem-11-maximum",
        "talk, thm 11",
        "after k uses the larger of both directions is the answer (Laplace noise of scale 1, rate 0.1, ten uses)",
        {
            name: partial((Laplace(scale=1.0).poisson(rate=0.1) * 10).delta, 0.3, direction=direction)
            for name, direction in (("removed", "remove"), ("added", "add"), ("either", None))
        },
        lambda n: _meet(n["either"], n["removed"]) and n["added"].upper < n["removed"].lower,
        "above epsilon 0 removal decides",
    ),
    Claim(
        "proposition-30",
        "talk, prop. 30",
        "for alpha >= 1 the profile of a random subset under replacing is rate H(1 + (alpha - 1)/rate)",
        {
            "delta at 0.2": lambda: RandomizedResponse(epsilon=1.0).without_replacement(batch=1, records=4).delta(0.2),
            "formula": lambda: _glued(0.2),
        },
        _same("delta at 0.2", "formula"),
        "a response with odds e, one of four records (ours); below 1 it is the mirror image",
    ),
    Claim(
        "table-2",
        "talk, table 2",
        "the phi-functions of randomized response, Laplace and Gaussian noise",
        _phis(),
        lambda n: all(bound.upper < TINY for bound in n.values()),
        "at p = 3/4, scale 1, sigma 1, and t = 1, 2, 3; the formulas are those of the paper",
    ),
    Claim(
        "table-2-others",
        "talk, after table 2",
        "randomized response dominates pure DP, its leaky form (epsilon, delta)-DP, two logistic laws the exponential "
        "mechanism",
        {
            "PureDP(1), delta at 0.5": lambda: PureDP(epsilon=1.0).delta(0.5),
            "response with odds e": lambda: RandomizedResponse(epsilon=1.0).delta(0.5),
            "ApproximateDP(1, 0.01), delta at 1": lambda: ApproximateDP(epsilon=1.0, delta=0.01).delta(1.0),
            "Exponential(1), delta at 0": lambda: Exponential(epsilon=1.0).delta(0.0),
        },
        lambda n: (
            _agree(("PureDP(1), delta at 0.5", "response with odds e"), n)
            and _meet(n["ApproximateDP(1, 0.01), delta at 1"], Bound(0.01, 0.01))
            and n["Exponential(1), delta at 0"].upper < PureDP(epsilon=1.0).delta(0.0).lower
        ),
        "the exponential mechanism leaks less than its epsilon says: its losses span epsilon, not 2 epsilon",
    ),
    Claim(
        "definition-15",
        "talk, def. 15",
        "phi and phi' are two functions: they differ where the directions do (Gaussian noise in a sample, rate 1/2)",
        {
            "|phi(1) - phi'(1)|": lambda: _one(
                abs(
                    complex(Gaussian(sigma=1.0).poisson(rate=0.5).phi(1.0))
                    - complex(Gaussian(sigma=1.0).poisson(rate=0.5).phi(1.0, direction="add"))
                )
            )
        },
        lambda n: n["|phi(1) - phi'(1)|"].lower > 0.01,
        "so an accountant keeps both",
    ),
    Claim(
        "figure-2",
        "talk, fig. 2",
        "from phi to the cdf of the loss by Levy's formula, from the profile to the trade-off by duality",
        {
            "cdf at 0.5, one Gaussian": lambda: Gaussian(sigma=1.0).loss_cdf(0.5),
            "type II error at 0.05": lambda: Gaussian(sigma=1.0).tradeoff(0.05),
            "its formula": _error_at_five_per_cent,
        },
        lambda n: (
            _meet(n["cdf at 0.5, one Gaussian"], Bound(0.5, 0.5))
            and _meet(n["type II error at 0.05"], n["its formula"])
        ),
        "both arrows lose nothing; there is no arrow back from Renyi divergences without loss",
    ),
    Claim(
        "experiment-2",
        "talk, exp. 2",
        "for mechanisms of different kinds it improves on Renyi divergences (16 rounds, ours)",
        {
            "certified": lambda: experiment_2.round_of(16).epsilon(experiment_2.DELTA),
            "Renyi, upper bound": lambda: _one(renyi.renyi_epsilon(experiment_2.round_of(16), experiment_2.DELTA)),
        },
        _at_most("certified", "Renyi, upper bound"),
        "by six per cent",
    ),
)
