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

from .clock import now
from .law import NotCheckable, Term, cgf, exact, infinite, precision
from .laws.finite import LeakyResponseLaw
from .laws.gaussian import GaussianLaw, SampledGaussianLaw
from .laws.laplace import LaplaceLaw
from .profile import FORMULA_BITS, Enclosures, Profile, enclosures

POWER_POINTS = 48
TINY = Fraction(1, 2**300)  # of an order beyond 1
SECANT_BITS = (24, 40, 56)  # of the two points beside one, relative

Range = tuple[float, float]
Level = tuple[arb, arb, arb]  # a place, and both ends of the profile there


@dataclass(frozen=True)
class Question:
    """The arguments, the end that is looked at, and the level with which the number is compared."""

    given: tuple[float, ...]
    value: float
    level: arb


@dataclass(frozen=True)
class Reading:
    """arguments and what they may be, all that the reading may be, and whether it is a place where a chance falls."""

    enclosures: Callable[[Profile, Question], Enclosures]
    range: Range = (0, 1)
    arguments: tuple[str, ...] = ()
    allowed: tuple[Range, ...] = ()
    falls: bool = False
    level: Callable[[float], arb] = arb
    has_atoms: bool = False  # where the chance jumps a level may be passed without being met


def _point(number: float) -> arb:
    return arb(number)


def _epsilon(profile: Profile, question: Question) -> Enclosures:
    return profile.at(_point(question.value), question.level)


def _delta(profile: Profile, question: Question) -> Enclosures:
    return profile.at(_point(question.given[0]), question.level)


def _advantage(profile: Profile, question: Question) -> Enclosures:
    return profile.at(arb(0), question.level)


def _bayes(profile: Profile, question: Question) -> Enclosures:
    """(1 - p) + p H((1 - p)/p); to be sure of either law is to be right."""
    prior = exact(Fraction(question.given[0]))
    if not 0 < prior < 1:
        yield arb(1), arb(1)
        return
    for low, high in profile.at(((1 - prior) / prior).log(), arb(0)):
        yield 1 - prior + prior * low, 1 - prior + prior * high


def _tpr(profile: Profile, question: Question) -> Enclosures:
    return _power(profile, exact(Fraction(question.given[-1])))


def _tradeoff(profile: Profile, question: Question) -> Enclosures:
    for low, high in _tpr(profile, question):
        yield 1 - high, 1 - low


def _posterior(profile: Profile, question: Question) -> Enclosures:
    """p g/(p g + (1 - p) x), which rises with g."""
    prior, rate = (exact(Fraction(number)) for number in question.given)
    for low, high in _tpr(profile, question):
        if low > 0:
            yield tuple(prior * g / (prior * g + (1 - prior) * rate) for g in (low, high))  # type: ignore[misc]


def _reconstruction(profile: Profile, question: Question) -> Enclosures:
    """The power of "remove" at the best chance without the output."""
    if profile.only == "add":
        raise NotCheckable("reconstruction has one direction")
    return _power(Profile(profile.run, "remove", False, profile.hinted, profile.until), _rate(question))


def _rate(question: Question) -> arb:
    return exact(Fraction(question.given[0]))


def _power(profile: Profile, x: arb) -> Enclosures:
    """The least H(a) + a x over all a >= 0: at points from above, by secants between and beyond them from below.

    Points are added where the secants meet, which is a choice.
    """
    if x == 0:
        yield profile.never()
        return
    if x == 1:
        yield arb(1), arb(1)
        return
    levels: list[Level] = [(arb(0), arb(1), arb(1))]
    rest, place = arb(0), arb(1)
    for _ in range(POWER_POINTS):
        with precision(FORMULA_BITS[-1]):
            where = place.log().mid()
            low, high = profile.narrow(where)
            levels = sorted([*levels, (where.exp(), low, high)], key=lambda level: level[0].mid())
            least, place = _least(levels, rest, x)
            most = arb(1)
            for a, _, high in levels:
                most = most.min(high + a * x)
            yield least.max(x), most
        if now() > profile.until or any(abs(place - a) < a * arb(2) ** -200 for a, _, _ in levels):
            return


def _least(levels: list[Level], rest: arb, x: arb) -> tuple[arb, arb]:
    """A lower bound of H(a) + a x over all a, and a place in the interval where it is least.

    On [a, b] the profile is above the secant of two points up to a, and above that of two points from b on, and so is
    any mean of the two; the last interval has no end, and a mean that does not fall.
    """
    worst, place = arb("inf"), arb(1)
    for i, (a, low, _) in enumerate(levels):
        left = arb(-1) if i == 0 else (low - levels[i - 1][2]) / (a - levels[i - 1][0])
        if i + 1 == len(levels):
            share = arb(1) if left + x >= 0 else (x / -left).lower() * (1 - arb(2) ** -60)
            value, other = share * low + (1 - share) * rest + a * x, a * 8
        else:
            b, low_b, _ = levels[i + 1]
            right = arb(0)
            if i + 2 < len(levels):
                right = ((levels[i + 2][2] - low_b) / (levels[i + 2][0] - b)).min(arb(0))
            share = ((right + x) / (right - left)).mid() if right > left else arb(0)
            share = share.max(arb(0)).min(arb(1)).mid()
            at_a = share * low + (1 - share) * (low_b - right * (b - a)) + a * x
            at_b = share * (low + left * (b - a)) + (1 - share) * low_b + b * x
            value = at_a.min(at_b)
            meeting = a + (low_b - right * (b - a) - low) / (left - right) if right > left else (a + b) / 2
            other = meeting if a < meeting < b else (a * b).sqrt() if a > 0 else b / 8
        if value.lower() < worst:
            worst, place = value.lower(), other.mid()
    return worst, place


def _largest(profile: Profile, number: Callable[[tuple[Term, ...]], tuple[arb, arb]]) -> tuple[arb, arb]:
    """Of the directions; where real neighbours show less there is no lower end."""
    low, high = arb("-inf"), arb("-inf")
    for terms in profile.directions():
        if any(law.witnesses() != (law,) for law, _ in terms):
            raise NotCheckable("of this law the checker knows delta alone")
        least, most = number(terms)
        low, high = low.max(least.lower()), high.max(most.upper())
    return low, high


def _renyi(profile: Profile, question: Question) -> Enclosures:
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
    if not terms:
        return arb(0)
    if not infinite(terms).is_zero():
        raise NotCheckable("a loss is infinite")
    return cgf(terms, order - 1) / (order - 1)


def _mean(profile: Profile, question: Question) -> Enclosures:
    """K is convex with K(0) = 0: its slope there is between -K(-c)/c and K(c)/c."""

    def slopes(terms: tuple[Term, ...]) -> tuple[arb, arb]:
        if not terms:
            return arb(0), arb(0)
        if not infinite(terms).is_zero():
            raise NotCheckable("a loss is infinite")
        near = exact(TINY)
        return -cgf(terms, -near) / near, cgf(terms, near) / near

    with precision(FORMULA_BITS[-1]):
        yield _largest(profile, slopes)


def _zcdp(profile: Profile, question: Question) -> Enclosures:
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


def _gdp(profile: Profile, question: Question) -> Enclosures:
    """Of Gaussian noise mu itself; of others the mu of one point, which is no more than the largest of all."""
    terms = profile.run.terms
    if all(isinstance(law, GaussianLaw) for law, _ in terms):
        square = sum((law.square * uses for law, uses in terms if isinstance(law, GaussianLaw)), Fraction(0))
        yield exact(square).sqrt(), exact(square).sqrt()
        return
    raise NotCheckable("the checker knows GDP of Gaussian noise")


def _beyond(profile: Profile, question: Question, place: float) -> Enclosures:
    """The chance of a loss above a place under P: H(a) + a Q[l > log a], Q between two secants of the convex H."""
    routes = [_above(terms, _point(place), profile) for terms in profile.directions()]
    found = [(arb(0), arb(1))] * len(routes)
    for several in zip(*routes, strict=False):
        found = [
            (low.max(more.lower()), high.min(less.upper()))
            for (low, high), (more, less) in zip(found, several, strict=True)
        ]
        low, high = arb(0), arb(0)
        for least, most in found:
            low, high = low.max(least), high.max(most)
        yield low, high


def _above(terms: tuple[Term, ...], point: arb, profile: Profile) -> Enclosures:
    if any(law.witnesses() != (law,) for law, _ in terms):
        raise NotCheckable("of this law the checker knows delta alone")
    if sum(uses for _, uses in terms) == 1:
        tails = terms[0][0].tails(point)
        if tails is not None:
            both = infinite(terms) + tails[0]
            yield both, both
            return
    a = point.exp()
    here = _narrow(terms, point, profile)
    for bits in SECANT_BITS:
        step = arb(2) ** -bits
        before, after = (_narrow(terms, point + way * step, profile) for way in (-1, 1))
        least = ((here[0] - after[1]) / (a * step.expm1())).max(arb(0))
        most = ((before[1] - here[0]) / (a * -((-step).expm1()))).min(arb(1))
        yield here[0] + a * least, here[1] + a * most


def _narrow(terms: tuple[Term, ...], point: arb, profile: Profile) -> tuple[arb, arb]:
    low, high = arb(0), arb(1)
    for least, most in enclosures(terms, point, arb(0), profile.hinted, profile.until):
        if least.is_finite() and most.is_finite():
            low, high = low.max(least.lower()), high.min(most.upper())
        if high - low < arb(2) ** -150 or now() > profile.until:
            break
    return low, high


def _pdp(profile: Profile, question: Question) -> Enclosures:
    return _beyond(profile, question, question.given[0])


def _quantile(profile: Profile, question: Question) -> Enclosures:
    return _beyond(profile, question, question.value)


def _cdf(profile: Profile, question: Question) -> Enclosures:
    for low, high in _beyond(profile, question, question.given[0]):
        yield 1 - high, 1 - low


SHARE, ANY, POSITIVE = (0, 1), (-inf, inf), (0, inf)
READINGS: Mapping[str, Reading] = MappingProxyType(
    {
        "epsilon": Reading(_epsilon, POSITIVE, ("delta",), (SHARE,), falls=True),
        "delta": Reading(_delta, SHARE, ("epsilon",), (ANY,)),
        "advantage": Reading(_advantage),
        "total_variation": Reading(_advantage),
        "bayes_accuracy": Reading(_bayes, SHARE, ("prior",), (SHARE,)),
        "tradeoff": Reading(_tradeoff, SHARE, ("fpr",), (SHARE,)),
        "tpr": Reading(_tpr, SHARE, ("fpr",), (SHARE,)),
        "posterior": Reading(_posterior, SHARE, ("prior", "fpr"), (SHARE, SHARE)),
        "reconstruction": Reading(_reconstruction, SHARE, ("baseline",), (SHARE,)),
        "renyi": Reading(_renyi, POSITIVE, ("order",), ((1, inf),)),
        "mean_loss": Reading(_mean, POSITIVE),
        "zcdp": Reading(_zcdp, POSITIVE, ("order_most",), ((1, inf),)),
        "gdp": Reading(_gdp, POSITIVE, ("delta_least",), (SHARE,)),
        "pdp": Reading(_pdp, SHARE, ("epsilon",), (ANY,)),
        "loss_cdf": Reading(_cdf, SHARE, ("t",), (ANY,)),
        "loss_quantile": Reading(
            _quantile, ANY, ("p",), (SHARE,), falls=True, level=lambda p: 1 - arb(p), has_atoms=True
        ),
    }
)
