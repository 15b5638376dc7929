"""A user's function, recorded as one formula by an argument that has no value.

The function is called once, with a stand-in for x that only knows how to write down what is done to it: + - * / **
and the functions of a flint arb_series. It holds no number, so nothing can branch on one: comparisons, float(x), x[0],
loops over x and the like are refused. What was recorded is evaluated ever after: a variable that the function uses may
change, the formula does not.
Guarantee: every evaluation is of the same formula. Proof: docs/proofs/density.md, section 2.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from flint import arb, arb_series, fmpq, fmpz

from ...errors import InvalidParameter

Function = Callable[[Any], Any]

STEPS_MOST = 100_000
GRAMMAR = (
    "write it as one smooth formula of its argument x: + - * / **, x.exp(), x.log(), x.sqrt(), x.lgamma() and so on, "
    "with numbers or flint.arb (no abs, no comparison, no x[0], no acb, and no function of math or numpy)"
)
# Each is a smooth function of the point; derivative, integral or reversion of a series are not.
ELEMENTARY = ("exp", "log", "sqrt", "rsqrt", "inv", "sin", "cos", "tan", "sin_pi", "cos_pi", "cot_pi")
INVERSE = ("asin", "acos", "atan", "lambertw")
SPECIAL = ("gamma", "rgamma", "lgamma", "erf", "erfc", "erfi", "ei", "si", "ci", "shi", "chi", "li", "zeta")
FURTHER = ("fresnel_s", "fresnel_c", "airy_ai", "airy_bi", "airy_ai_prime", "airy_bi_prime")
FUNCTIONS = frozenset((*ELEMENTARY, *INVERSE, *SPECIAL, *FURTHER))


@dataclass(frozen=True, slots=True)
class FormulaStep:
    """One operation; operands are numbers, or Places of earlier results."""

    do: Callable[..., Any]
    operands: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """The result of a step by its number; 0 is x."""

    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """Steps one after the other; the result is the last one that the function gave back, or a number."""

    steps: tuple[FormulaStep, ...]
    result: Any

    def __call__(self, x: arb_series) -> Any:
        """The formula at x."""
        found = [x]
        for step in self.steps:
            values = (found[each.index] if isinstance(each, Place) else each for each in step.operands)
            found.append(step.do(*values))
        return found[self.result.index] if isinstance(self.result, Place) else self.result


def recorded(name: str, function: Function) -> Formula:
    """The formula that the function writes; InvalidParameter for anything but a formula."""
    steps: list[FormulaStep] = []
    try:
        found = function(Unknown(steps, 0))
    except (TypeError, AttributeError, ValueError, NotImplementedError, ArithmeticError) as error:
        raise InvalidParameter(f"{name} cannot be evaluated ({error}): {GRAMMAR}") from error
    if isinstance(found, Unknown) and found._steps is steps:
        return Formula(tuple(steps), Place(found._index))
    number = None if isinstance(found, Unknown) else _number(found)
    if number is None:
        raise InvalidParameter(f"{name} gave {type(found).__name__} instead of a formula of x: {GRAMMAR}")
    return Formula((), number)


def _number(value: object) -> Any:
    """A constant as flint takes it; None for what is no real number."""
    if isinstance(value, arb | fmpz | fmpq | int):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if hasattr(value, "__index__"):  # whole numbers of numpy
        return operator.index(value)
    return None


def _refusing(what: str) -> Callable[..., NoReturn]:
    def refuse(self: Unknown, *_: object) -> NoReturn:
        raise InvalidParameter(f"{what} asks for the value of x")

    return refuse


class Unknown:
    """x, or a formula of it, while it is written down."""

    __slots__ = ("_index", "_steps")
    __array_ufunc__ = None  # numpy leaves its operators to this class, and has no functions of it

    def __init__(self, steps: list[FormulaStep], index: int) -> None:
        self._steps = steps
        self._index = index

    def _then(self, do: Callable[..., Any], *operands: object) -> Unknown:
        taken: list[Any] = []
        for each in operands:
            if isinstance(each, Unknown):
                if each._steps is not self._steps:
                    raise InvalidParameter("x of another call is used")
                taken.append(Place(each._index))
                continue
            number = _number(each)
            if number is None:
                raise InvalidParameter(f"{type(each).__name__} is no real number")
            taken.append(number)
        if len(self._steps) == STEPS_MOST:
            raise InvalidParameter(f"more than {STEPS_MOST} operations")
        self._steps.append(FormulaStep(do, tuple(taken)))
        return Unknown(self._steps, len(self._steps))

    def __getattr__(self, name: str) -> Callable[[], Unknown]:
        if name not in FUNCTIONS:
            raise AttributeError(f"x.{name} is no function that can be used here")
        return lambda: self._then(operator.methodcaller(name), self)

    def __add__(self, other: object) -> Unknown:
        return self._then(operator.add, self, other)

    def __radd__(self, other: object) -> Unknown:
        return self._then(operator.add, other, self)

    def __sub__(self, other: object) -> Unknown:
        return self._then(operator.sub, self, other)

    def __rsub__(self, other: object) -> Unknown:
        return self._then(operator.sub, other, self)

    def __mul__(self, other: object) -> Unknown:
        return self._then(operator.mul, self, other)

    def __rmul__(self, other: object) -> Unknown:
        return self._then(operator.mul, other, self)

    def __truediv__(self, other: object) -> Unknown:
        return self._then(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> Unknown:
        return self._then(operator.truediv, other, self)

    def __pow__(self, other: object) -> Unknown:
        return self._then(operator.pow, self, other)

    def __rpow__(self, other: object) -> Unknown:
        return self._then(operator.pow, other, self)

    def __neg__(self) -> Unknown:
        return self._then(operator.neg, self)

    def __pos__(self) -> Unknown:
        return self

    def __repr__(self) -> str:
        return "<x, without a value>"

    __eq__ = _refusing("a comparison")
    __ne__ = _refusing("a comparison")
    __lt__ = _refusing("a comparison")
    __le__ = _refusing("a comparison")
    __gt__ = _refusing("a comparison")
    __ge__ = _refusing("a comparison")
    __hash__ = _refusing("hash(x)")
    __bool__ = _refusing("a condition")
    __float__ = _refusing("float(x)")
    __int__ = _refusing("int(x)")
    __index__ = _refusing("an index")
    __complex__ = _refusing("complex(x)")
    __abs__ = _refusing("abs(x)")
    __round__ = _refusing("round(x)")
    __floor__ = _refusing("floor(x)")
    __ceil__ = _refusing("ceil(x)")
    __trunc__ = _refusing("trunc(x)")
    __floordiv__ = __rfloordiv__ = _refusing("x // y")
    __mod__ = __rmod__ = _refusing("x % y")
    __divmod__ = __rdivmod__ = _refusing("divmod")
    __getitem__ = _refusing("x[i]")
    __iter__ = _refusing("a loop over x")
    __len__ = _refusing("len(x)")
    __contains__ = _refusing("in")
    __call__ = _refusing("x(y)")
    __str__ = _refusing("str(x)")
    __format__ = _refusing("a text of x")
