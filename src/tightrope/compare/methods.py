"""The methods that are compared: what each claims, and why it is off, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from ..convert import advanced, basic, concentrated, normal_limit, one_order, optimal, renyi
from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism
from ..relation import Direction
from ..transforms.terms import terms_of


class Kind(Enum):
    """What kind of statement a number is."""

    INTERVAL = "certified interval"
    UPPER = "upper bound"
    APPROXIMATION = "approximation, no bound"


@dataclass(frozen=True, slots=True)
class Method:
    """epsilon(run, delta) and delta(run, epsilon), inf and 1 where nothing can be said."""

    name: str
    why: str
    epsilon: Callable[[Mechanism, float], float]
    delta: Callable[[Mechanism, float], float]
    kind: Kind = Kind.UPPER


KNOWN_ORDER = 2.0  # any will do
CERTIFIED_WHY = "the law of the summed loss itself, with every error inside the interval"
OPTIMAL_WHY = "the worst of all mechanisms with these Renyi divergences, so that no conversion of them can say less"

METHODS = (
    Method(
        "naive composition",
        "adds up epsilons as if the worst outcome came every time",
        basic.naive_epsilon,
        basic.naive_delta,
    ),
    Method(
        "adaptive composition",
        "adds up epsilons too, and only spares the overlap of the deltas",
        basic.adaptive_epsilon,
        basic.adaptive_delta,
    ),
    Method(
        "advanced composition",
        "grows with the root of the count, but by a tail inequality with generous constants",
        advanced.advanced_epsilon,
        advanced.advanced_delta,
    ),
    Method(
        "advanced composition, as printed",
        "the same tail with log(e + spread/delta) for log(1/delta), which is less while the spread is below 1",
        advanced.printed_epsilon,
        advanced.printed_delta,
    ),
    Method(
        "optimal, one point",
        "exact for randomized response with the same (epsilon, delta), so blind to the rest of the curve",
        optimal.one_point_epsilon,
        optimal.one_point_delta,
    ),
    Method(
        "optimal, best point",
        "tries every point of the curve, yet each try still knows only that one point",
        optimal.curve_epsilon,
        optimal.curve_delta,
    ),
    Method(
        "moments accountant (Mironov 2017)",
        "knows all moments of the loss, but turns them into delta by Markov's inequality",
        renyi.markov_epsilon,
        renyi.markov_delta,
    ),
    Method(
        "Renyi, best conversion (Balle et al. 2020)",
        "the same moments with the sharpest factor that depends on the order, and one exponential in place of a tail",
        renyi.renyi_epsilon,
        renyi.renyi_delta,
    ),
    Method(
        "Renyi, exact at one order (Asoodeh et al. 2021)",
        "the worst mechanism with the divergence of the best order, which knows nothing of the other orders",
        one_order.one_order_epsilon,
        one_order.one_order_delta,
    ),
    Method(
        "zCDP (Bun, Steinke 2016)",
        "puts one parabola above all moments, which sampling hardly lowers, and Markov's inequality on top",
        concentrated.classical_epsilon,
        concentrated.classical_delta,
    ),
    Method(
        "zCDP, best conversion (Canonne et al. 2020)",
        "the same parabola, turned into delta with the sharpest factor that depends on the order",
        concentrated.zcdp_epsilon,
        concentrated.zcdp_delta,
    ),
    Method(
        "subgaussian fit",
        "a parabola with the true mean, and a spread that only the range of the loss decides",
        concentrated.fitted_epsilon,
        concentrated.fitted_delta,
    ),
    Method(
        "(xi, rho)-CDP",
        "the line of the subgaussian fit, with the classical Gaussian tail for its delta",
        concentrated.cdp_epsilon,
        concentrated.cdp_delta,
    ),
    Method(
        "Gaussian limit (CLT)",
        "takes the summed loss as normal, which its tail is not: it may err on either side",
        normal_limit.limit_epsilon,
        normal_limit.limit_delta,
        Kind.APPROXIMATION,
    ),
)


def why_certified(run: Mechanism) -> str:
    """What the certified interval knows: the law of a run, or only bounds on its Renyi divergences."""
    terms = terms_of(run.nameless, Direction.REMOVE)
    only_bounds = len(terms) == 1 == terms[0][1] and terms[0][0].moments().divergence(KNOWN_ORDER) is not None
    return OPTIMAL_WHY if only_bounds else CERTIFIED_WHY


def find_methods(names: str | Iterable[str] | None) -> tuple[Method, ...]:
    """The methods that have one of the names, whole or in part, in any case; all but those of libraries for None."""
    from .accountants import ACCOUNTANTS

    if names is None:
        return METHODS
    known = (*METHODS, *ACCOUNTANTS)
    words = [names] if isinstance(names, str) else list(names)
    for word in words:
        if not isinstance(word, str) or not any(_named(method, word) for method in known):
            listed = "; ".join(method.name for method in known)
            raise InvalidParameter(f"no method has {word!r:.40} in its name; known: {listed}")
    if not words:
        raise InvalidParameter("methods must name at least one method; leave it out for all")
    return tuple(method for method in known if any(_named(method, word) for word in words))


def _named(method: Method, word: str) -> bool:
    return bool(word.strip()) and word.strip().lower() in method.name.lower()
