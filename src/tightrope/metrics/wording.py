"""The risk of one person in sentences that need no other knowledge; every number is rounded towards more risk.

A sentence is about one person, whatever all others' records are: the record is in the data or it is not, or it is one
of two, A and B. docs/risk.md derives each of them, with the condition under which it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

from flint import arb

from ..bound import Bound
from ..digits import EXACT
from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision

PEOPLE = 1_000  # of so many at least is counted, and of more where that would be less than one
PEOPLE_MAX = 10**12
HUNDRED, MANY_DIGITS, FEW_DIGITS = 100, 4, 3  # significant digits of a count from a hundred on, and below
HALF = Decimal("0.5")
PLACES = Decimal("0.1")  # of a count that is told from another one close by
LOWEST_PLACE = -6  # smaller counts have an exponent


class Words(NamedTuple):
    """The sentences that name a person's two cases."""

    accused: str
    never: str
    nobody: str
    coin: str
    chance: str
    right: str
    odds: str
    no_limit: str


MEMBER = Words(
    accused="If an attacker wrongly accuses {x} of {n} people who are not in the data, the same attacker correctly "
    "accuses at most {most} of {n} people who are{reached}; without the release it would be {x}.",
    never="An attacker who never accuses anybody wrongly correctly accuses at most {most} of {n} people who are in the "
    "data{reached}; without the release it would be none.",
    nobody="An attacker who never accuses anybody wrongly accuses nobody rightly.",
    coin="If a coin toss decides whether a person is in the data",
    chance="If a person is in the data with a chance of {p} in {m}",
    right=", and an attacker wrongly accuses exactly {x} of {n} people who are not, at most {most} of {m} accusations "
    "are right{reached}; without the release it would be {p}.",
    odds="Whatever the release brings about with some chance if a person is not in the data, it brings about with at "
    "most {most} times that chance plus {x} in {n} if they are{reached}; and the other way round.",
    no_limit="Beyond a chance of {x} in {n}, nothing of use is known to limit how much likelier the release makes "
    "anything if a person is in the data, or if they are not.",
)
REPLACED = Words(
    accused="If an attacker wrongly says A of {x} of {n} people whose record is B, the same attacker correctly says A "
    "of at most {most} of {n} people whose record is A{reached}; without the release it would be {x}.",
    never="An attacker who never says A wrongly correctly says A of at most {most} of {n} people whose record is "
    "A{reached}; without the release it would be none.",
    nobody="An attacker who never says A wrongly says A of nobody rightly.",
    coin="If a coin toss decides whether a person's record is A or B",
    chance="If a person's record is A with a chance of {p} in {m} and B otherwise",
    right=", and an attacker wrongly says A of exactly {x} of {n} people whose record is B, at most {most} of {m} "
    "answers A are right{reached}; without the release it would be {p}.",
    odds="Whatever the release brings about with some chance if a person's record is B, it brings about with at most "
    "{most} times that chance plus {x} in {n} if it is A{reached}.",
    no_limit="Beyond a chance of {x} in {n}, nothing of use is known to limit how much likelier the release makes "
    "anything if a person's record is A than if it is B.",
)
GUESS = ", a guess that uses the release is right at most {most} times in {m}{reached}; without it, {plain} times."
NAMED = (
    "An attacker who could guess a person's record with a chance of {x} in {n} from all else can guess it with a "
    "chance of at most {most} in {n} from the release as well."
)
REACHED = " (and some attacker reaches {})"


class CountEnds(NamedTuple):
    """Both ends of a count, each rounded outward; sharp: the lower one lies within two in the last digit of most."""

    low: str
    most: str
    sharp: bool


class Worded(NamedTuple):
    """The number as the sentence has it, the sentence, and whether the lower end lies next to it."""

    number: str
    sentence: str
    sharp: bool


def worded(quantity: str, given: Mapping[str, float], bound: Bound, replaced: bool, reaches: bool) -> Worded:
    """The row of a quantity at what is given; reaches: the lower end is that of some attacker."""
    words = REPLACED if replaced else MEMBER
    ends, unit, sentence, told = _PARTS[quantity](words, bound, given)
    reached = REACHED.format(ends.low) if reaches and not ends.sharp else ""
    return Worded(
        ends.most + (unit if ends.most else "no limit"),
        sentence.format(**told, most=ends.most, reached=reached),
        ends.sharp,
    )


_Part = tuple[CountEnds, str, str, dict[str, str]]


def _tpr(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    fpr = given["fpr"]
    n = _people(fpr or bound.upper)
    sentence = words.accused if fpr else words.never if bound.upper else words.nobody
    return _ends(bound, n, _chance(fpr)), f" of {n:,}", sentence, {"x": _count(_chance(fpr), n), "n": f"{n:,}"}


def _advantage(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    low, high = (EXACT.divide(EXACT.add(1, Decimal(end)), 2) for end in (bound.lower, bound.upper))
    told = {"m": f"{PEOPLE:,}", "plain": _count(HALF, PEOPLE)}
    return _between(low, high, PEOPLE, PLACES), f" in {PEOPLE:,}", words.coin + GUESS, told


def _bayes_accuracy(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    prior = _chance(given["prior"])
    plain, m = max(prior, 1 - prior), _people(float(min(prior, 1 - prior)))
    told = {"p": _count(prior, m), "m": f"{m:,}", "plain": _count(plain, m)}
    return _ends(bound, m, plain, PLACES), f" in {m:,}", words.chance + GUESS, told


def _posterior(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    prior, fpr = _chance(given["prior"]), _chance(given["fpr"])
    m, n = _people(given["prior"]), _people(given["fpr"])
    told = {"p": _count(prior, m), "m": f"{m:,}", "x": _count(fpr, n), "n": f"{n:,}"}
    return _ends(bound, m, prior), f" of {m:,}", words.chance + words.right, told


def _reconstruction(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    baseline, n = _chance(given["baseline"]), _people(given["baseline"] or bound.upper)
    return _ends(bound, n, baseline), f" in {n:,}", NAMED, {"x": _count(baseline, n), "n": f"{n:,}"}


def _epsilon(words: Words, bound: Bound, given: Mapping[str, float]) -> _Part:
    with working_precision(BITS_START):
        low, high = lower_float(arb(bound.lower).exp()), upper_float(arb(bound.upper).exp())
    n = _people(given["delta"])
    told = {"x": _count(_chance(given["delta"]), n), "n": f"{n:,}"}
    if not Decimal(high).is_finite():
        return CountEnds("", "", not Decimal(low).is_finite()), "", words.no_limit, told
    odds = words.odds if given["delta"] > 0.0 else words.odds.replace(" plus {x} in {n}", "")
    return _between(Decimal(low), Decimal(high), 1), " times", odds, told


_PARTS = {
    "tpr": _tpr,
    "advantage": _advantage,
    "bayes_accuracy": _bayes_accuracy,
    "posterior": _posterior,
    "reconstruction": _reconstruction,
    "epsilon": _epsilon,
}


def _people(chance: float) -> int:
    """Of how many is counted, so that this chance makes one of them at least."""
    people = PEOPLE
    while chance > 0.0 and Decimal(repr(chance)) * people < 1 and people < PEOPLE_MAX:
        people *= 10
    return people


def _ends(bound: Bound, people: int, plain: Decimal, place: Decimal | None = None) -> CountEnds:
    """plain is what is reached without the release: an end that is its double is meant as it is written."""
    low, high = (plain if end == float(plain) else Decimal(end) for end in (bound.lower, bound.upper))
    return _between(max(low, min(plain, high)), high, people, place)


def _between(low: Decimal, high: Decimal, people: int, place: Decimal | None = None) -> CountEnds:
    """Exact products, rounded once: to a place, or to so many digits."""
    low, high = (EXACT.multiply(end, people) for end in (low, high))
    place = place or _place(high)
    fine = place if low >= place else min(place, _place(low))  # a small end is no 0 beside a large one
    least, most = low.quantize(fine, ROUND_FLOOR, EXACT), high.quantize(place, ROUND_CEILING, EXACT)
    return CountEnds(_written(least), _written(most), low >= most - 2 * place)


def _place(number: Decimal) -> Decimal:
    """That of the last digit that is written."""
    digits = MANY_DIGITS if number >= HUNDRED else FEW_DIGITS
    return Decimal(1).scaleb(number.adjusted() - digits + 1) if number else Decimal(1)


def _chance(given: float) -> Decimal:
    """As it was written."""
    return Decimal(repr(given))


def _count(chance: Decimal, people: int) -> str:
    return _written(EXACT.multiply(chance, people))


def _written(number: Decimal) -> str:
    """Without needless zeros, thousands set apart."""
    if not number:
        return "0"
    number = EXACT.normalize(number)
    return f"{number:,f}" if number.adjusted() >= LOWEST_PLACE else f"{number:e}"
