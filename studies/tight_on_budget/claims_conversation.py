"""Claims of sections 2.3 and 7.3, on the conversation protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from studies.claim import Claim, delta_at, orders_below
from studies.tight_on_budget.claims_dialing import CLAMPED, CUT, meets
from studies.tight_on_budget.vuvuzela import (
    HIGH,
    LOW,
    LP_37K,
    LP_112K,
    NEW_1,
    NEW_2,
    TALK_FEW,
    TALK_MANY,
    TARGET,
    Noise,
    conversation,
    conversation_cut,
    one_component,
    original_conversation,
)
from tightrope import Bound, Mechanism

BOTH, ONE = "delta, both components", "delta, one component"
WIDER_1, WIDER_2 = Noise("GS", 15_000, 3_200), Noise("GS", 45_000, 9_200)


def _orders(run: Mechanism, noise: Noise, rounds: int) -> Bound:
    original = original_conversation(noise, rounds)
    return orders_below(delta_at(run, original.factor), original.delta)


def _both_and_one(noise: Noise, rounds: int) -> Mapping[str, Callable[[], Bound]]:
    return {
        BOTH: lambda: delta_at(conversation(noise, rounds), TARGET[0]),
        ONE: lambda: delta_at(one_component(noise, rounds), TARGET[0]),
    }


CLAIMS = (
    Claim(
        "talk-lp-high",
        "2.3, 7.3",
        "LP-high is almost 4 orders below the original analysis after 524,288 rounds",
        {
            CLAMPED: lambda: _orders(conversation(HIGH, TALK_MANY), HIGH, TALK_MANY),
            CUT: lambda: _orders(conversation_cut(HIGH, TALK_MANY), HIGH, TALK_MANY),
        },
        lambda n: n[CLAMPED].lower >= 3.7 and n[CUT].lower >= 3.7,
        "the printed figure matches cut noise, which levels out at the mass below 0; clamped noise has no such floor",
    ),
    Claim(
        "talk-gs-high",
        "2.3, 7.3",
        "GS-high is more than 6 orders below after 524,288 rounds",
        {CLAMPED: lambda: _orders(conversation(HIGH.gaussian(), TALK_MANY), HIGH, TALK_MANY)},
        lambda n: n[CLAMPED].lower > 6.0,
        "far more: the Gaussian has no mass to speak of below 0",
    ),
    Claim(
        "talk-gs-low",
        "7.3",
        "GS-low is more than 7 orders below after 65,536 rounds",
        {CLAMPED: lambda: _orders(conversation(LOW.gaussian(), TALK_FEW), LOW, TALK_FEW)},
        lambda n: n[CLAMPED].lower > 7.0,
        "far more",
    ),
    Claim(
        "talk-new1-few",
        "2.3, fig. 19a",
        "GS-new1 (15k, 2.5k) meets the target after 65,536 rounds",
        _both_and_one(NEW_1, TALK_FEW),
        meets,
        "true of one component; the product of both, which the protocol shows, misses it by a factor of 11",
    ),
    Claim(
        "talk-new2-many",
        "2.3, fig. 19b",
        "GS-new2 (45k, 7.5k) meets the target after 524,288 rounds",
        _both_and_one(NEW_2, TALK_MANY),
        meets,
        "true of one component; the product misses it by a factor of 7",
    ),
    Claim(
        "talk-new1-many",
        "7.3",
        "GS-new1 meets the target after 524,288 rounds",
        _both_and_one(NEW_1, TALK_MANY),
        meets,
        "neither with both components nor with one: the text of 7.3 exchanges new1 and new2, section 2.3 and figure "
        "19 have them right",
    ),
    Claim(
        "talk-new2-few",
        "7.3",
        "GS-new2 meets the target after 65,536 rounds",
        _both_and_one(NEW_2, TALK_FEW),
        meets,
        "by ten orders, so that new1 is likely meant here",
    ),
    Claim(
        "talk-tenth",
        "2.3, 7",
        "ten times less noise suffices",
        {
            "delta, GS(15k, 3.2k), 65,536": lambda: delta_at(conversation(WIDER_1, TALK_FEW), TARGET[0]),
            "delta, GS(45k, 9.2k), 524,288": lambda: delta_at(conversation(WIDER_2, TALK_MANY), TARGET[0]),
        },
        meets,
        "with both components too, if the deviation (ours) is 3.2k for 2.5k and 9.2k for 7.5k at the same mean",
    ),
    Claim(
        "talk-lp-quarter",
        "7.3, fig. 20",
        "a quarter of the Laplace noise suffices: LP(37.5k, 2.3k) for 65,536 rounds, LP(112.5k, 6.9k) for 524,288",
        {
            "LP(37.5k, 2.3k), both": lambda: delta_at(conversation(LP_37K, TALK_FEW), TARGET[0]),
            "LP(37.5k, 2.3k), one": lambda: delta_at(one_component(LP_37K, TALK_FEW), TARGET[0]),
            "LP(112.5k, 6.9k), both": lambda: delta_at(conversation(LP_112K, TALK_MANY), TARGET[0]),
            "LP(112.5k, 6.9k), one": lambda: delta_at(one_component(LP_112K, TALK_MANY), TARGET[0]),
        },
        meets,
        "true of one component, not of both",
    ),
    Claim(
        "talk-new2-growth",
        "7.3, fig. 18",
        "GS-new2 stays below the original bounds of LP-high up to 524,288 rounds",
        {
            "orders, both components": lambda: _orders(conversation(NEW_2, TALK_MANY), HIGH, TALK_MANY),
            "orders, one component": lambda: _orders(one_component(NEW_2, TALK_MANY), HIGH, TALK_MANY),
        },
        lambda n: all(bound.lower >= 0.0 for bound in n.values()),
        "true of one component; with both it lies above them",
    ),
)
