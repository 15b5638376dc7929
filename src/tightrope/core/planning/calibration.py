"""The least noise, the largest rate or count that meets a target.

A value is returned only if its own upper bound meets the target; the value named as missed is one whose own lower
bound shows that it does not. The two lie within the tolerance of one another (one apart for whole numbers), or `ended`
says why not.
Guarantee: value meets the target, missed does not; both by certified bounds, of the dominating pair where the
mechanism itself may lose less (the certificate says so). That nothing better lies elsewhere
rests on privacy being monotone in the unknown; where a value that was tried contradicts that, nothing is returned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict, Unpack, cast

from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import nonnegative, positive, probability, real
from ..values import compute_budget
from ..values.bound import Bound, FrozenMapping, MaybeNone
from ..values.calls import checked, checked_class, short
from ..values.errors import InvalidParameter
from ..values.question import AUTO, Direction, Manner, Question, parsed
from .domain import Domain

# What a calibration is to meet: one reading of a guarantee, and the most that it may be.
#
# Target(tpr=0.05, fpr=0.01) says: tpr(fpr=0.01) <= 0.05. A limit that every run meets, or that guessing alone exceeds,
# is refused.


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


TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Missed:
    """A value that does not meet the target, what the target's reading is of it, and the mechanism with it."""

    value: float
    bound: Bound
    mechanism: Mechanism


@dataclass(frozen=True, slots=True)
class Calibration:
    """The best value found, what the target's reading is of it, and the nearest value shown to miss the target.

    mechanism is the one with the value put in; bound is its reading: epsilon at the target's delta, its tpr at the
    target's fpr, and so on. missed is None where no value was shown to miss the target. ended says
    why missed is None or further away than the tolerance: the unknown ends there, time ran out, or the bounds are too
    wide. direction is the one asked for, None for the worse of both.
    """

    parameter: str
    value: float
    target: Target
    mechanism: Mechanism
    bound: Bound
    missed: Missed | MaybeNone
    ended: str | None
    direction: Direction | None = None

    def __str__(self) -> str:
        label = "" if self.bound.certificate is None else self.bound.certificate.label
        title = self.target.title
        lines = [f"{self.parameter} = {self.value!r}{f' of {label}' if label else ''}: {title} in {self.bound}"]
        if self.missed is not None:
            lines.append(f"{self.parameter} = {self.missed.value!r} misses the target: {title} in {self.missed.bound}")
        return "\n".join([*lines, *([self.ended] if self.ended else [])])


class SearchOptions(Manner, total=False):
    """The keywords of calibrate that tell of the unknown, and those that every question takes."""

    parameter: str | None
    integer: bool
    least: float | None
    most: float | None


@checked
def calibrate(
    make: Callable[[float], Mechanism],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    target: Target | None = None,
    tolerance: float = TOLERANCE,
    **options: Unpack[SearchOptions],
) -> Calibration:
    """The value closest to the target from the safe side: epsilon and delta, or any other reading as a Target.

    make builds the mechanism from the unknown, a number above 0; a value that it refuses (InvalidParameter, or another
    ValueError) lies outside of what the unknown may be. Privacy must depend on it monotonically, either way; what is
    seen not to is refused. target: such as Target(advantage=0.1) or Target(tpr=0.05, fpr=0.01); epsilon and delta are
    Target(epsilon=..., delta=...). parameter: what messages call the unknown. integer: it is a whole number. least,
    most: values beyond are not looked at. tolerance: relative distance to the value that is shown to miss the target.
    seconds: what the whole search may take; then the best value so far is the answer. The others are those of
    Mechanism.epsilon.
    """
    from .goal import Goal  # late: it brings the engines along
    from .least import RootSearch

    parameter = options.get("parameter") or _first_argument(make)
    wanted = _target(epsilon, delta, target)
    if not positive("tolerance", tolerance) < 1.0:
        raise InvalidParameter(f"tolerance must lie between 0 and 1, not {tolerance!r}")
    if not callable(make):
        raise InvalidParameter(
            f"calibrate takes a function of the unknown, such as lambda sigma: ..., not {make!r:.60}; "
            "text with a ? is for the command line"
        )
    domain = Domain(make, parameter, options.get("integer", False), options.get("least"), options.get("most"))
    manner = cast(Manner, {name: value for name, value in options.items() if name in Manner.__annotations__})
    question = Question(wanted.quantity, **manner)
    if question.engine != AUTO and FORMS[wanted.name].moments:
        raise InvalidParameter(f"{wanted.title} is read off the moments, and no engine is chosen: leave out engine")
    tolerance = max(tolerance, 1e-14)
    goal = Goal(wanted, question, tolerance)
    with compute_budget.allowance(question.seconds) as meter:
        found = RootSearch(domain, goal, tolerance, meter).run()
    good, bad = found.good, found.bad
    missed = None if bad is None else Missed(bad.value, goal.shown(bad), bad.mechanism)
    asked = parsed(question.direction)
    return Calibration(parameter, good.value, wanted, good.mechanism, goal.shown(good), missed, found.ended, asked)


def _target(epsilon: float | None, delta: float | None, target: Target | None) -> Target:
    """The target, however it was given."""
    pair = {name: value for name, value in (("epsilon", epsilon), ("delta", delta)) if value is not None}
    if target is None:
        if not pair:
            raise InvalidParameter(f"calibrate needs epsilon and delta, or target, such as {EXAMPLE}")
        return Target(**pair)
    if pair:
        raise InvalidParameter(f"calibrate takes target, or epsilon and delta: leave out {' and '.join(pair)}")
    if not isinstance(target, Target):
        raise InvalidParameter(f"target must be one such as {EXAMPLE}, not {target!r:.60}")
    return target


def _first_argument(make: object) -> str:
    """The name that the caller gave to the unknown."""
    code = getattr(make, "__code__", None)
    return str(code.co_varnames[0]) if code is not None and code.co_argcount else "value"
