"""The risk of one person in sentences that need no other knowledge; every number is rounded towards more risk.

A sentence is about one person, whatever all others' records are: the record is in the data or it is not, or it is one
of two, A and B. docs/risk.md derives each of them, with the condition under which it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import NamedTuple

from flint import arb

from ..mechanisms.base import Mechanism, leaves
from ..mechanisms.composition import terms_of
from ..mechanisms.groups import group_sizes
from ..numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..values.bound import Bound
from ..values.calls import EXACT, shortened
from ..values.question import Direction, Relation

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


# How the sentences on the risk of one person are meant, what they assume, and what they do not cover.

AVERAGES = (
    "Counts are averages over the random choices of the algorithm, where {wrong} with the same chance.",
    "The chance that a person {case} is the attacker's own, from all that was known before the release.",
    (
        "Where a record is guessed, the attacker knows how likely each record is, and not which one it is. A guess "
        "that comes close may count as right, if both chances count it so."
    ),
)
SHARP = (
    "The number for a guessed record is a limit. The others are sharp: in the worst case that the description of the "
    "run allows, an attacker reaches each of them but for two in its last digit."
)
BLUNT = "The numbers are limits. Real attackers may reach less; how much less is not known of all of them."
LATE = "Time ran out: the numbers hold, and more time may lower them."
TAKEN = "Counts that were measured are taken for the true chances; how far they mislead is not known."

KNOWS = (
    "The attacker knows the algorithm with all settings, the records of all other people, and {case}: all but the "
    "random choices that were made, and {unknown}. An attacker who knows less does no better."
)
ONE_IN = "A person has one record, which is in the data or not; whoever has more of them risks more: group(size)."
GROUP_IN = "A person has up to {size} records, which are all in the data or all not."
ONE_OF_TWO = (
    "A person has one record in the data, which is A or B: any two that a person may have. Whoever has more of them "
    "risks more: group(size)."
)
GROUP_OF_TWO = "A person has up to {size} records in the data, which are those of A or those of B: any two such sets."
PARTS_DIFFER = "A person has as many records as each part of the run says with group(size)."
OPEN = (
    "The run is described for a record that is in the data or not. If its parameters are those for a record that is "
    "replaced by another, read 'is in the data' as 'has the record A' and 'is not' as 'has the record B'."
)
AS_DESCRIBED = "The algorithm does what the run describes, and nothing else is told to anybody."

ELSEWHERE = (
    "Other releases from the same data: together they tell more. They belong into the same run.",
    (
        "What the release tells about people in general, or about a person through the records of others, such as "
        "relatives: that is told whether or not the person takes part."
    ),
    "What is found out about a person without the release.",
)
RARER = "An attacker who {accuses} fewer people than the sentences say may be surer of each of them."


def local(mechanism: Mechanism) -> bool:
    """Whether it is what people report of themselves: about one of two values, whoever takes part."""
    law = mechanism.nameless
    if law.relation is Relation.ADD_REMOVE or law.sizes or any(leaf.section != "local" for leaf in leaves(law)):
        return False
    return terms_of(law, Direction.REMOVE) == terms_of(law, Direction.ADD)


def of_values(text: str) -> str:
    """What is said of a replaced record, of a value that its owner reports: there are no data that it is in."""
    return text.replace("record", "value").replace(" in the data", "")


def meant(bounds: Sequence[Bound], replaced: bool, sharp: bool) -> tuple[str, ...]:
    """How to read counts and chances, and how sure they are."""
    wrong = (
        "A is said of each person, if the record is B," if replaced else "each person, if not in the data, is accused"
    )
    case = "has the record A" if replaced else "is in the data"
    notes = [note.format(wrong=wrong, case=case) for note in AVERAGES] + [SHARP if sharp else BLUNT]
    told = [bound.certificate for bound in bounds if bound.certificate is not None]
    if any(each.exhausted is not None for each in told):
        notes.append(LATE)
    if told and told[0].confidence is not None:
        notes.append(TAKEN if told[0].confidence == 0.0 else f"The run was measured, and this {told[0].assurance}.")
    if told and "claimed" in told[0].parameters:
        notes.append(f"All of this rests on {shortened(str(told[0].parameters['claimed']))}.")
    return tuple(notes)


def assumed(mechanism: Mechanism, replaced: bool) -> tuple[str, ...]:
    """Who the attacker is, what a person's data are, and how the run is to be understood."""
    law = mechanism.nameless
    case, unknown = "both A and B", "which of them the person has"
    if not replaced:
        case, unknown = "the person's record", "whether it is in the data"
    sizes = group_sizes(law)
    one, many = (ONE_OF_TWO, GROUP_OF_TWO) if replaced else (ONE_IN, GROUP_IN)
    records = PARTS_DIFFER if len(sizes) > 1 else one if sizes == {1} else many.format(size=max(sizes))
    notes = [KNOWS.format(case=case, unknown=unknown), records]
    if not replaced and law.relation is None and terms_of(law, Direction.REMOVE) == terms_of(law, Direction.ADD):
        notes.append(OPEN)
    return (*notes, AS_DESCRIBED)


def not_covered(fpr: float, replaced: bool) -> tuple[str, ...]:
    """What the numbers do not speak of."""
    rarer = RARER.format(accuses="says A of" if replaced else "accuses")
    return (*([rarer] if fpr else []), *ELSEWHERE)
