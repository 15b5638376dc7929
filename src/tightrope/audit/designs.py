"""What was randomised decides what may be concluded: from scores or counts of each design to tests fixed before them.

runs           many runs, one canary, in some of them: M1 at ranks 1, 2, 4, ... from both ends, M2 of counts
one-run        one run, each of m canaries in by its own coin: guesses at 10, 20, 40, ... ranks
random-split   members are a uniformly random part of one pool: pairs, one of which is the member
members        members and others of one model, without a coin: nothing about epsilon
Reference: docs/proofs/audit.md, sections 5, 9, 11 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

import numpy as np

from ..core.mechanisms.parameters import whole
from ..core.values.calls import cut
from ..core.values.errors import DataError, InvalidParameter
from .betting import CoinBets, RoundBets
from .events import AuditEvent
from .evidence import Evidence, WeightedEvent, equal_weight
from .many_runs import CountEvent, RankEvent
from .one_run import BOTH, IN, OUT, GuessEvent
from .scores import BoolArray, Scored

RUNS, ONE_RUN, RANDOM_SPLIT, MEMBERS = DESIGNS = ("runs", "one-run", "random-split", "members")
TAILS = ("high", "low", "both")
FIRST_GUESSES = 10  # of the grid of guesses
OWN_STREAM = 0x7469_6573  # what a seed is joined with
COIN_DOUBT = 1e-6  # two-sided: counts of members that are rarer do not look like coins

EXPLAINED = (
    'design says what was decided by chance: "runs" (many runs, with and without one canary), "one-run" (each canary '
    'of one run in by its own coin), "random-split" (the members are a uniformly random part of one pool); '
    '"members" (a list without any coin) bounds no epsilon'
)
NO_COIN = (
    "These scores show how well this attack tells these members from these non-members. They bound no epsilon: who is "
    "a member was not decided by chance, so the two groups may differ without the model. Decide membership by a coin "
    "per record before training (tightrope audit --one-run), or state that the members are a uniformly random part of "
    "one pool (--random-split)."
)


@dataclass(frozen=True)
class Settings:
    """How the tests are made, all of it fixed before the data."""

    coin: float = 0.5
    sides: str = IN
    tail: str = "high"
    ranks: tuple[int, ...] = ()
    stopping: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.coin < 1.0:
            raise InvalidParameter(f"coin must lie strictly between 0 and 1, not {self.coin!r}")
        if self.sides == BOTH and self.coin != 0.5:
            raise InvalidParameter("guesses of both kinds need fair coins: say sides='in' or sides='out', or coin=0.5")

    def draw(self) -> np.random.Generator:
        """Ties and pairs: with numbers that no default_rng(seed) has, by which the coins may have been tossed."""
        return np.random.Generator(np.random.PCG64((OWN_STREAM, self.seed)))


def evidence_of_scores(design: str, data: Scored, settings: Settings) -> Evidence:
    """The tests of a design, and what each saw."""
    if data.member.all() or not data.member.any():
        raise DataError("all are members, or none is: both kinds are needed")
    return SCORED[design](data, settings)


def runs(data: Scored, settings: Settings) -> Evidence:
    """M1 and M1', or E1."""
    if data.canary is not None and len(set(data.canary)) > 1:
        raise DataError("these are many runs of one canary: audit each canary by itself, or one run with all of them")
    if data.run is not None and len(set(data.run)) < len(data.run):
        raise DataError("the same run is there twice: many runs have one score each, or say design='one-run'")
    sides = _sides(data, settings.tail)
    if settings.stopping:
        bets = [RoundBets.of(side.inside, side.outside) for side in sides]
        return Evidence((tuple(WeightedEvent(bet, equal_weight(len(bets))) for bet in bets),))
    found: list[RankEvent] = []
    for side in sides:
        inside, outside = np.sort(side.inside), np.sort(side.outside)
        n1, n0 = len(inside), len(outside)
        for k in _ranks(settings.ranks, n0, 1, n0 // 2):
            count = n1 - int(np.searchsorted(inside, outside[n0 - k], side="right"))
            found.append(RankEvent(n1, n0, k, count))
        for k in _ranks(settings.ranks, n1, 1, n1 // 2):
            count = int(np.searchsorted(outside, inside[k - 1], side="left"))
            found.append(RankEvent(n0, n1, k, count, reverse=True))
    return Evidence((tuple(WeightedEvent(event, equal_weight(len(found))) for event in found),))


def one_run(data: Scored, settings: Settings) -> Evidence:
    """Guesses by rank, of each run by itself; or E2."""
    groups = []
    parts = data.parts()
    for before, after in pairwise(parts):
        check_apart(before, after, settings.coin)
    for part in parts:
        check_once(part)
        check_coins(len(part.scores), int(part.member.sum()), settings.coin)
        groups.append(_guessed(part, settings))
    return Evidence(tuple(groups))


def random_split(data: Scored, settings: Settings) -> Evidence:
    """Each member is matched with one other at random: which of the two is the member is a fair coin."""
    if data.run is not None and len(set(data.run)) > 1:
        raise DataError("a random split is of one run: audit each run by itself")
    check_pairs(settings)
    check_once(data)
    draw = settings.draw()
    inside, outside = draw.permutation(data.inside), draw.permutation(data.outside)
    pairs = min(len(inside), len(outside))
    inside, outside = inside[:pairs], outside[:pairs]
    gaps = np.zeros(pairs)  # of equal scores, of which two infinite ones may be
    np.subtract(inside, outside, out=gaps, where=inside != outside)
    tossed = draw.random(pairs) < 0.5
    order = np.argsort(-np.abs(gaps), kind="stable")
    rows = []
    for sign in _signs(settings.tail):
        right = np.where(gaps == 0.0, tossed, sign * gaps > 0.0)[order]
        rows.append((right, pairs))
    return Evidence((_tests(rows, settings, pairs),))


def _guessed(part: Scored, settings: Settings) -> tuple[WeightedEvent, ...]:
    """Ties in an order that is drawn by the seed, never by membership or by the place in the file."""
    m = len(part.scores)
    shuffled = settings.draw().permutation(m)
    rows = []
    for sign in _signs(settings.tail):
        order = shuffled[np.argsort(-sign * part.scores[shuffled], kind="stable")]
        member = part.member[order]
        if settings.sides == IN:
            right = member
        elif settings.sides == OUT:
            right = ~member[::-1]
        else:  # the highest, the lowest, the next highest, ...
            right = np.empty(m, dtype=bool)
            right[0::2], right[1::2] = member[: (m + 1) // 2], ~member[::-1][: m // 2]
        rows.append((right, m))
    return _tests(rows, settings, m if settings.sides == BOTH else m // 2)


def _tests(rows: Sequence[tuple[BoolArray, int]], settings: Settings, most: int) -> tuple[WeightedEvent, ...]:
    """Of each order of guesses: at the grid of ranks, or bets on all of them."""
    events: list[AuditEvent] = []
    for right, m in rows:
        if settings.stopping:
            events.append(
                CoinBets.of(right, GuessEvent(m, len(right), int(right.sum()), settings.sides, settings.coin))
            )
            continue
        events += [
            GuessEvent(m, r, int(right[:r].sum()), settings.sides, settings.coin)
            for r in _ranks(settings.ranks, m, FIRST_GUESSES, max(most, 1))
        ]
    return tuple(WeightedEvent(event, equal_weight(len(events))) for event in events)


SCORED: Mapping[str, Callable[[Scored, Settings], Evidence]] = MappingProxyType(
    {RUNS: runs, ONE_RUN: one_run, RANDOM_SPLIT: random_split}
)


def evidence_of_table(design: str, table: Sequence[int], settings: Settings) -> Evidence:
    """TP, FP, FN, TN at a threshold that was fixed before the data."""
    if len(table) != 4:
        raise InvalidParameter(
            "table holds four counts: true positives, false positives, false negatives, true negatives"
        )
    tp, fp, fn, tn = (whole("a count of the table", value, least=0) for value in table)
    if tp + fn == 0 or fp + tn == 0:
        raise DataError("all are members, or none is: both kinds are needed")
    if design == RUNS:
        return Evidence(((WeightedEvent(CountEvent(tp + fn, fp + tn, fp, tp), 1.0),),))
    if design == ONE_RUN:
        if settings.coin != 0.5:
            raise InvalidParameter("a table has guesses of both kinds, which need fair coins: give guesses=(m, r, v)")
        total = tp + fp + fn + tn
        check_coins(total, tp + fn, settings.coin)
        return Evidence(((WeightedEvent(GuessEvent(total, total, tp + tn), 1.0),),))
    raise InvalidParameter("a table tells nothing of pairs: a random split is audited by its scores")


def evidence_of_guesses(design: str, guesses: Sequence[int], settings: Settings) -> Evidence:
    """m canaries, r guesses, a number that was fixed before the run, and v of them right."""
    if len(guesses) != 3:
        raise InvalidParameter("guesses holds three counts: m canaries, r guesses, v of them right")
    if design == RUNS:
        raise InvalidParameter(
            "guesses are about canaries of one run: say design='one-run', or give table= for many runs"
        )
    if design == RANDOM_SPLIT:
        check_pairs(settings)
    m, r = whole("the canaries of guesses", guesses[0], least=1), whole("the guesses", guesses[1], least=1)
    v = whole("the right ones of guesses", guesses[2], least=0)
    if not v <= r <= m:
        raise InvalidParameter(f"guesses=(m, r, v) needs v <= r <= m, not {m}, {r}, {v}")
    return Evidence(((WeightedEvent(GuessEvent(m, r, v, settings.sides, settings.coin), 1.0),),))


def check_pairs(settings: Settings) -> None:
    """Whether nothing is said of pairs that would make their bound another one."""
    if settings.coin != 0.5 or settings.sides != BOTH:
        raise InvalidParameter(
            "a random split has fair coins, and guesses which of two is the member: no coin, no sides"
        )


def check_once(data: Scored) -> None:
    """Whether each name of a canary, or of a record, is there once."""
    if data.canary is not None and len(set(data.canary)) < len(data.canary):
        raise DataError("the same canary is there twice: records inserted together are one canary, a group of them")


def check_coins(count: int, members: int, coin: float) -> None:
    """Whether so many members are what coins give."""
    if _rare(members, count, coin):
        raise DataError(
            f"{members} of {count} canaries are in, and coins with probability {coin:g} give that less than once in a "
            "million times: the coins do not look like coins; give the right coin, or say what was decided by chance"
        )


def check_apart(one: Scored, other: Scored, coin: float) -> None:
    """Whether the coins of two runs look as if they had been tossed for each: that of a canary, or of a place, is the
    same in both with the probability coin^2 + (1 - coin)^2."""
    if one.canary is not None and other.canary is not None:
        known = dict(zip(one.canary, one.member.tolist(), strict=True))
        tossed = zip(other.canary, other.member.tolist(), strict=True)
        both = [(known[name], inside) for name, inside in tossed if name in known]
    elif len(one.scores) == len(other.scores):
        both = list(zip(one.member.tolist(), other.member.tolist(), strict=True))
    else:
        return
    alike = sum(first is second for first, second in both)
    if _rare(alike, len(both), coin**2 + (1.0 - coin) ** 2):
        names = [cut(scored.run[0] if scored.run else "") for scored in (one, other)]
        raise DataError(
            f"the runs {names[0]} and {names[1]} put {alike} of {len(both)} canaries to the same side, which coins of "
            "their own do less than once in a million times: toss new coins for each run, or audit one of them"
        )


def _rare(hits: int, count: int, chance: float) -> bool:
    """Whether so many hits are rarer than coins give, on either side."""
    from scipy import special

    if not count:
        return False
    low, high = special.bdtr(hits, count, chance), special.bdtrc(hits - 1, count, chance) if hits else 1.0
    return bool(min(low, high) < COIN_DOUBT / 2.0)


def _sides(data: Scored, tail: str) -> list[Scored]:
    return {"high": [data], "low": [data.negated()], "both": [data, data.negated()]}[tail]


def _signs(tail: str) -> tuple[float, ...]:
    return {"high": (1.0,), "low": (-1.0,), "both": (1.0, -1.0)}[tail]


def _ranks(given: tuple[int, ...], total: int, first: int, most: int) -> tuple[int, ...]:
    """Those given; or first, twice as many, and so on."""
    if given:
        for rank in given:
            if rank > total:
                raise InvalidParameter(f"there is no rank {rank} among {total}")
        return given
    found, rank = [], first
    while rank <= most:
        found.append(rank)
        rank *= 2
    return tuple(found) or (max(most, 1),)
