"""The least noise, the largest rate or count that meets a target.

A value is returned only if its own upper bound meets the target; the value named as missed is one whose own lower
bound shows that it does not. The two lie within the tolerance of one another (one apart for whole numbers), or `ended`
says why not.
Guarantee: value meets the target, missed does not; both by certified bounds, of the dominating pair where the
mechanism itself may lose less (the certificate says so). That nothing better lies elsewhere
rests on privacy being monotone in the unknown; where a value that was tried contradicts that, nothing is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack, cast

from .. import compute_budget
from ..bound import Bound, MaybeNone
from ..calls import checked
from ..errors import InvalidParameter
from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import positive
from ..question import AUTO, Manner, Question, parsed
from ..relation import Direction
from .target import EXAMPLE, FORMS, Target

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
    from .domain import Domain
    from .goal import Goal  # late: it brings the engines along
    from .search import RootSearch

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
