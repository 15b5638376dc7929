"""What a calibration is to meet: one reading of a guarantee, and the most that it may be.

Target(tpr=0.05, fpr=0.01) says: tpr(fpr=0.01) <= 0.05. A limit that every run meets, or that guessing alone exceeds,
is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict, Unpack, cast

from ..bound import FrozenMapping
from ..calls import checked_class
from ..digits import short
from ..errors import InvalidParameter
from ..mechanisms.parameters import nonnegative, positive, probability, real


@dataclass(frozen=True, slots=True)
class Form:
    """A limit's reading, by the name of its method, and the arguments of that; None for those that must be given."""

    quantity: str
    arguments: Mapping[str, float | None]
    chance: bool = False  # whether it is a probability
    guess: str | None = None  # what guessing alone reaches, in words, where that is not 0
    moments: bool = False  # whether it is read off the moments, and no engine is chosen


# By the name of the limit.
FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "epsilon": Form("epsilon", {"delta": None}),
        "advantage": Form("advantage", {}, chance=True),
        "total_variation": Form("total_variation", {}, chance=True),
        "tpr": Form("tpr", {"fpr": None}, chance=True, guess="fpr"),
        "mu": Form("gdp", {"delta_least": 0.0}),
        "rho": Form("zcdp", {"order_most": math.inf}, moments=True),
        "bayes_accuracy": Form("bayes_accuracy", {"prior": None}, chance=True, guess="prior and 1 - prior"),
        "posterior": Form("posterior", {"prior": None, "fpr": None}, chance=True, guess="prior"),
        "reconstruction": Form("reconstruction", {"baseline": None}, chance=True, guess="baseline"),
        "mean_loss": Form("mean_loss", {}, moments=True),
        "renyi": Form("renyi", {"order": None}, moments=True),
    }
)
GIVEN_WORDS = MappingProxyType({"delta_least": "where delta is at least", "order_most": "up to order"})
EXAMPLE = "Target(epsilon=1, delta=1e-6) or Target(advantage=0.1)"


class Limits(TypedDict, total=False):
    """The keywords of Target: one limit, and the arguments of its reading."""

    epsilon: float
    delta: float
    advantage: float
    total_variation: float
    tpr: float
    fpr: float
    mu: float
    delta_least: float
    rho: float
    order_most: float
    bayes_accuracy: float
    prior: float
    posterior: float
    reconstruction: float
    baseline: float
    mean_loss: float
    renyi: float
    order: float


@checked_class
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Target:
    """One reading of a guarantee and the most that it may be; a call gives one of these forms.

    epsilon and delta: epsilon at delta. advantage, total_variation: of the best attacker. tpr and fpr: the true
    positive rate at a false positive rate. mu (and delta_least): Gaussian DP. rho (and order_most): zCDP.
    bayes_accuracy and prior: how often the best guess is right. posterior, prior and fpr: belief after a positive.
    reconstruction and baseline: success of guessing a record. mean_loss: the Kullback-Leibler divergence. renyi and
    order: the Renyi divergence.
    """

    name: str
    limit: float
    arguments: Mapping[str, float]

    def __init__(self, **given: Unpack[Limits]) -> None:
        values = {name: value for name, value in cast(dict[str, float | None], given).items() if value is not None}
        name = _limit_among(values)
        form = FORMS[name]
        for extra in values:
            if extra != name and extra not in form.arguments:
                takes = " and ".join(form.arguments) or "nothing else"
                raise InvalidParameter(f"a target for {name} takes {takes}: leave out {extra}")
        arguments = {}
        for text, default in form.arguments.items():
            value = values.get(text, default)
            if value is None:
                raise InvalidParameter(f"a target for {name} needs {text}: Target({_example(name)})")
            arguments[text] = _argument(name, text, value)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "limit", _limit(name, values[name], arguments))
        object.__setattr__(self, "arguments", FrozenMapping(arguments))

    @property
    def quantity(self) -> str:
        """The reading, by the name of its method."""
        return FORMS[self.name].quantity

    @property
    def given(self) -> Mapping[str, float]:
        """The keywords that make this, defaults left out."""
        defaults = FORMS[self.name].arguments
        told = {text: value for text, value in self.arguments.items() if value != defaults[text]}
        return FrozenMapping({self.name: self.limit, **told})

    @property
    def guess(self) -> float:
        """What the reading is where nothing is lost, and attackers can only guess."""
        return _guess(self.name, self.arguments)

    @property
    def title(self) -> str:
        """What is limited, in words."""
        return self.name.replace("_", " ")

    @property
    def where(self) -> str:
        """The arguments in words, to follow a number; empty without such."""
        told = [
            f"{GIVEN_WORDS.get(name) or name} {short(value)}" for name, value in self.given.items() if name != self.name
        ]
        return f"{'' if self.name in ('mu', 'rho') else 'at '}{' and '.join(told)}" if told else ""

    def __str__(self) -> str:
        return f"{self.title} {short(self.limit)} {self.where}".rstrip()

    def __repr__(self) -> str:
        return f"Target({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"


def _limit_among(values: Mapping[str, object]) -> str:
    """The one keyword that is a limit."""
    limits = [value for value in values if value in FORMS]
    if len(limits) > 1:
        told = f"{', '.join(limits[:-1])} and {limits[-1]}"
        raise InvalidParameter(f"a target limits one reading, not {told}: leave out all but one")
    if limits:
        return limits[0]
    for text in values:
        owners = [name for name, form in FORMS.items() if text in form.arguments]
        raise InvalidParameter(
            f"a target with {text} needs a limit for {' or '.join(owners)}: Target({_example(owners[0])})"
        )
    raise InvalidParameter(f"a target needs a reading and its limit, such as {EXAMPLE}")


def _example(name: str) -> str:
    words = {"delta": "1e-6", "fpr": "0.01", "prior": "0.5", "baseline": "1e-4", "order": "8"}
    return ", ".join(
        [f"{name}=...", *(f"{argument}={words.get(argument, '...')}" for argument in FORMS[name].arguments)]
    )


def _argument(name: str, argument: str, value: float) -> float:
    """An argument of the reading, checked."""
    if argument in ("order", "order_most"):
        least = 0.0 if argument == "order" else 1.0
        number = real(argument, value)
        if not number > least:
            raise InvalidParameter(f"{argument} must be a number above {least:g}, inf included, not {value!r}")
        return number
    number = probability(argument, value)
    if argument == "delta" and number == 1.0:
        raise InvalidParameter("delta 1 promises nothing: every value meets it")
    open_below = argument == "prior" or (name == "posterior" and argument == "fpr")
    if argument != "delta" and (number == 1.0 or (open_below and number == 0.0)):
        ends = "strictly between 0 and 1" if open_below else "in [0, 1)"
        raise InvalidParameter(f"{argument} must lie {ends}, not {value!r}")
    return number


def _guess(name: str, arguments: Mapping[str, float]) -> float:
    if FORMS[name].guess is None:
        return 0.0
    first = next(iter(arguments.values()))
    return max(first, 1.0 - first) if name == "bayes_accuracy" else first


def _limit(name: str, value: float, arguments: Mapping[str, float]) -> float:
    """The limit, checked: something that can be met, and not by every run."""
    form = FORMS[name]
    if name == "epsilon":
        return nonnegative(name, value)
    if not form.chance:
        return positive(name, value)
    number = probability(name, value)
    if not number > _guess(name, arguments):
        why = "guessing alone reaches that" if form.guess else "only what tells nothing has 0"
        raise InvalidParameter(f"{name} must lie above {form.guess or 0}, not be {value!r}: {why}")
    most = 1.0
    if name == "posterior":
        prior, fpr = arguments["prior"], arguments["fpr"]
        most = prior / (prior + (1.0 - prior) * fpr)
    if number >= most:
        told = "" if most == 1.0 else f" at prior {short(arguments['prior'])} and fpr {short(arguments['fpr'])}"
        raise InvalidParameter(f"{name} {short(number)}{told} promises nothing: every value meets it")
    return number
