"""In which steps one record may take part: the parameters that say so, checked, as a value of the kernel.

participations, separation: at most so many, any two at least so many steps apart; either alone leaves the other open
(steps next to each other, as many as there is room for). epochs: once in each of so many, all in the same order, so
that a record of step t is in t, t + n/epochs, ... patterns: one of these lists of steps, or a part of it. None of
them: one step.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from ..calls import cut
from ..errors import InvalidParameter
from .parameters import Matrix, in_order, whole

if TYPE_CHECKING:
    from ..bound import Bound
    from ..kernels.participation import Use

Patterns = tuple[tuple[int, ...], ...]


def use_of(
    steps: int, participations: int | None, separation: int | None, epochs: int | None, patterns: Matrix | None
) -> Use | None:
    """What the checked parameters allow; None for one step."""
    from ..kernels.participation import Apart, InOrder, Listed

    ways = {"participations or separation": participations or separation, "epochs": epochs, "patterns": patterns}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) > 1:
        raise InvalidParameter(
            f"give {' or '.join(given)}, not both: participations and separation allow every order, epochs the same "
            "order in each, patterns those that are listed"
        )
    if patterns is not None:
        return Listed(tuple(tuple(map(int, pattern)) for pattern in patterns))
    if epochs is not None:
        if steps % epochs:
            raise InvalidParameter(
                f"epochs of one order need as many steps each, and {steps:,} steps are not {epochs:,} times as many: "
                "give participations and separation, the least number of steps between two uses of a record"
            )
        return InOrder(epochs) if epochs > 1 else None
    if given:
        gap = 1 if separation is None else separation
        return Apart(-(-steps // gap) if participations is None else participations, gap)
    return None


def patterns_of(values: object, steps: int) -> Patterns:
    """Lists of different steps from 0 on, the first of each one the least."""
    in_order("patterns", values)
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidParameter(f"patterns must be a list of lists of steps, not {cut(values, 60)}")
    found = []
    for index, pattern in enumerate(values):
        name = f"patterns[{index}]"
        in_order(name, pattern)
        if isinstance(pattern, (str, bytes)) or not isinstance(pattern, Iterable):
            raise InvalidParameter(f"{name} must be a list of steps, not {cut(pattern, 60)}")
        held = sorted(whole(f"{name}[{place}]", step, least=0) for place, step in enumerate(pattern))
        if not held or held[-1] >= steps:
            raise InvalidParameter(f"{name} must have steps from 0 to {steps - 1:,}, not {cut(held, 60)}")
        if len(set(held)) < len(held):
            raise InvalidParameter(f"{name} has a step twice: {cut(held, 60)}")
        found.append(tuple(held))
    if not found:
        raise InvalidParameter("patterns must have at least one list of steps")
    return tuple(found)


def root_bound(lower: Fraction, upper: Fraction) -> Bound:
    """Around the square roots of both, in doubles."""
    from flint import arb

    from ..bound import Bound
    from ..kernels.ball import enclose

    def root(square: Fraction) -> tuple[float, float]:
        return enclose(lambda: (arb(square.numerator) / arb(square.denominator)).sqrt())

    return Bound(root(lower)[0], root(upper)[1])
