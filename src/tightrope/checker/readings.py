"""Every reading as one number that is enclosed: what delta at one point, or at several, says of it.

epsilon(delta) <= u says delta(u) <= delta, and epsilon(delta) >= l follows from delta(l) > delta: so delta at the end
is what is enclosed, and of a quantile the chance of a loss above the end. Of all others the number itself is.
Proof: docs/proofs/checker.md, sections 1 and 8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from types import MappingProxyType

from flint import arb

from .law import NotCheckable, Term, cgf, exact, infinite, precision
from .laws.finite import LeakyResponseLaw
from .laws.gaussian import GaussianLaw, SampledGaussianLaw
from .laws.laplace import LaplaceLaw
from .profile import FORMULA_BITS, Enclosures, Profile
from .secants import chance_above, least_value

TINY = Fraction(1, 2**300)  # of an order beyond 1

Range = tuple[float, float]


@dataclass(frozen=True)
class AskedReading:
    """The arguments, the end that is looked at, and the level with which the number is compared."""

    given: tuple[float, ...]
    value: float
    level: arb


@dataclass(frozen=True)
class CheckedReading:
    """arguments and what they may be, all that the reading may be, and whether it is a place where a chance falls."""

    enclosures: Callable[[Profile, AskedReading], Enclosures]
    range: Range = (0, 1)
    arguments: tuple[str, ...] = ()
    allowed: tuple[Range, ...] = ()
    falls: bool = False
    level: Callable[[float], arb] = arb
    has_atoms: bool = False  # where the chance jumps a level may be passed without being met


def _epsilon(profile: Profile, question: AskedReading) -> Enclosures:
    return profile.at(arb(question.value), question.level)


def _delta(profile: Profile, question: AskedReading) -> Enclosures:
    return profile.at(arb(question.given[0]), question.level)


def _advantage(profile: Profile, question: AskedReading) -> Enclosures:
    return profile.at(arb(0), question.level)


def _bayes(profile: Profile, question: AskedReading) -> Enclosures:
    """(1 - p) + p H((1 - p)/p); to be sure of either law is to be right."""
    prior = exact(Fraction(question.given[0]))
    if not 0 < prior < 1:
        yield arb(1), arb(1)
        return
    for low, high in profile.at(((1 - prior) / prior).log(), arb(0)):
        yield 1 - prior + prior * low, 1 - prior + prior * high


def _tpr(profile: Profile, question: AskedReading) -> Enclosures:
    return least_value(profile, exact(Fraction(question.given[-1])))


def _tradeoff(profile: Profile, question: AskedReading) -> Enclosures:
    for low, high in _tpr(profile, question):
        yield 1 - high, 1 - low


def _posterior(profile: Profile, question: AskedReading) -> Enclosures:
    """p g/(p g + (1 - p) x), which rises with g."""
    prior, rate = (exact(Fraction(number)) for number in question.given)
    for low, high in _tpr(profile, question):
        if low > 0:
            yield tuple(prior * g / (prior * g + (1 - prior) * rate) for g in (low, high))  # type: ignore[misc]


def _reconstruction(profile: Profile, question: AskedReading) -> Enclosures:
    """The power of "remove" at the best chance without the output."""
    if profile.only == "add":
        raise NotCheckable("reconstruction has one direction")
    return least_value(Profile(profile.run, "remove", False, profile.hinted, profile.until), _rate(question))


def _rate(question: AskedReading) -> arb:
    return exact(Fraction(question.given[0]))


def _largest(profile: Profile, number: Callable[[tuple[Term, ...]], tuple[arb, arb]]) -> tuple[arb, arb]:
    """Of the directions; where real neighbours show less there is no lower end."""
    low, high = arb("-inf"), arb("-inf")
    for terms in profile.directions():
        if any(law.witnesses() != (law,) for law, _ in terms):
            raise NotCheckable("of this law the checker knows delta alone")
        least, most = number(terms)
        low, high = low.max(least.lower()), high.max(most.upper())
    return low, high


def _renyi(profile: Profile, question: AskedReading) -> Enclosures:
    """log of the moment over order - 1; the limit at order 1 is the mean."""
    order = exact(Fraction(question.given[0])) if question.given[0] < inf else arb("inf")
    if order == 1:
        yield from _mean(profile, question)
        return
    if not order.is_finite():
        raise NotCheckable("of order infinity the checker knows nothing")
    for bits in FORMULA_BITS:
        with precision(bits):
            yield _largest(profile, lambda terms: (_divergence(terms, order),) * 2)


def _divergence(terms: tuple[Term, ...], order: arb) -> arb:
    if not terms or infinite(terms) > 0:
        return arb("inf") if terms else arb(0)
    return _known(terms, order - 1) / (order - 1)


def _known(terms: tuple[Term, ...], tilt: arb) -> arb:
    """K(tilt) of losses that are finite; infinity stands for what is not known."""
    value = cgf(terms, tilt)
    if not value.is_finite() or not infinite(terms).is_zero():
        raise NotCheckable("the checker has no moments of these laws together")
    return value


def _mean(profile: Profile, question: AskedReading) -> Enclosures:
    """K is convex with K(0) = 0: its slope there is between -K(-c)/c and K(c)/c."""

    def slopes(terms: tuple[Term, ...]) -> tuple[arb, arb]:
        if not terms or infinite(terms) > 0:
            return (arb("inf") if terms else arb(0),) * 2
        near = exact(TINY)
        return -_known(terms, -near) / near, _known(terms, near) / near

    with precision(FORMULA_BITS[-1]):
        yield _largest(profile, slopes)


def _zcdp(profile: Profile, question: AskedReading) -> Enclosures:
    """Gaussian noise has D_o/o at every order, and what else is named here has its supremum at order 1.

    Proof: docs/proofs/zcdp.md, theorems 1, 2 and 3; a sum of such suprema at one place is the supremum of the sum.
    """
    kinds = {type(law) for terms in profile.directions() for law, _ in terms}
    if kinds <= {GaussianLaw, LaplaceLaw, LeakyResponseLaw} and all(
        law.categories == 2 and not law.delta for law, _ in profile.run.terms if isinstance(law, LeakyResponseLaw)
    ):
        yield from _mean(profile, question)
    elif kinds <= {GaussianLaw, SampledGaussianLaw} and question.given[0] == inf and profile.only != "add":
        half = Fraction(0)
        for law, uses in profile.run.terms:
            half += law.square * uses / 2  # type: ignore[attr-defined]
        yield exact(half), exact(half)
    else:
        raise NotCheckable("the checker knows zCDP of Gaussian, Laplace and pure mechanisms")


def _gdp(profile: Profile, question: AskedReading) -> Enclosures:
    """Of Gaussian noise mu itself, where some epsilon of 0 or more has a delta that is looked at, else 0."""
    terms = profile.run.terms
    if all(isinstance(law, GaussianLaw) for law, _ in terms):
        mu = exact(sum((law.square * uses for law, uses in terms if isinstance(law, GaussianLaw)), Fraction(0))).sqrt()
        most, least = (mu / arb(8).sqrt()).erf(), exact(Fraction(question.given[0]))
        yield (mu, mu) if least <= most else (arb(0), arb(0)) if least > most else (arb(0), mu)
        return
    raise NotCheckable("the checker knows GDP of Gaussian noise")


def _pdp(profile: Profile, question: AskedReading) -> Enclosures:
    return chance_above(profile, arb(question.given[0]))


def _quantile(profile: Profile, question: AskedReading) -> Enclosures:
    return chance_above(profile, arb(question.value))


def _cdf(profile: Profile, question: AskedReading) -> Enclosures:
    for low, high in chance_above(profile, arb(question.given[0])):
        yield 1 - high, 1 - low


def found_of(quantity: object) -> str:
    """What is enclosed and compared with a level: delta, by whatever name, or the reading itself."""
    deltas = ("epsilon", "delta", "advantage", "total_variation")
    return "delta" if quantity in deltas else f"{quantity!s:.40}" if quantity != "loss_quantile" else "P[loss above]"


SHARE, ANY, POSITIVE = (0, 1), (-inf, inf), (0, inf)
READINGS: Mapping[str, CheckedReading] = MappingProxyType(
    {
        "epsilon": CheckedReading(_epsilon, POSITIVE, ("delta",), (SHARE,), falls=True),
        "delta": CheckedReading(_delta, SHARE, ("epsilon",), (ANY,)),
        "advantage": CheckedReading(_advantage),
        "total_variation": CheckedReading(_advantage),
        "bayes_accuracy": CheckedReading(_bayes, SHARE, ("prior",), (SHARE,)),
        "tradeoff": CheckedReading(_tradeoff, SHARE, ("fpr",), (SHARE,)),
        "tpr": CheckedReading(_tpr, SHARE, ("fpr",), (SHARE,)),
        "posterior": CheckedReading(_posterior, SHARE, ("prior", "fpr"), (SHARE, SHARE)),
        "reconstruction": CheckedReading(_reconstruction, SHARE, ("baseline",), (SHARE,)),
        "renyi": CheckedReading(_renyi, POSITIVE, ("order",), ((1, inf),)),
        "mean_loss": CheckedReading(_mean, POSITIVE),
        "zcdp": CheckedReading(_zcdp, POSITIVE, ("order_most",), ((1, inf),)),
        "gdp": CheckedReading(_gdp, POSITIVE, ("delta_least",), (SHARE,)),
        "pdp": CheckedReading(_pdp, SHARE, ("epsilon",), (ANY,)),
        "loss_cdf": CheckedReading(_cdf, SHARE, ("t",), (ANY,)),
        "loss_quantile": CheckedReading(
            _quantile, ANY, ("p",), (SHARE,), falls=True, level=lambda p: 1 - arb(p), has_atoms=True
        ),
    }
)
