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

OPERATIONS_MAX = 100_000
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


# One operation and its operands: numbers, or Earlier results.
FormulaStep = tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Earlier:
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
        for do, operands in self.steps:
            found.append(
                do(*(found[operand.index] if isinstance(operand, Earlier) else operand for operand in operands))
            )
        return found[self.result.index] if isinstance(self.result, Earlier) else self.result


def recorded(name: str, function: Function) -> Formula:
    """The formula that the function writes; InvalidParameter for anything but a formula."""
    steps: list[FormulaStep] = []
    try:
        unknown = function(Unknown(steps, 0))
    except (TypeError, AttributeError, ValueError, NotImplementedError, ArithmeticError) as error:
        raise InvalidParameter(f"{name} cannot be evaluated ({error}): {GRAMMAR}") from error
    if isinstance(unknown, Unknown) and unknown._steps is steps:
        return Formula(tuple(steps), Earlier(unknown._index))
    number = None if isinstance(unknown, Unknown) else _number(unknown)
    if number is None:
        raise InvalidParameter(f"{name} gave {type(unknown).__name__} instead of a formula of x: {GRAMMAR}")
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


def _recording(do: Callable[..., Any]) -> tuple[Callable[..., Unknown], Callable[..., Unknown]]:
    """An operator with x on its left, and on its right."""
    return lambda x, other: x._then(do, x, other), lambda x, other: x._then(do, other, x)


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
        for operand in operands:
            if isinstance(operand, Unknown):
                if operand._steps is not self._steps:
                    raise InvalidParameter("x of another call is used")
                taken.append(Earlier(operand._index))
                continue
            number = _number(operand)
            if number is None:
                raise InvalidParameter(f"{type(operand).__name__} is no real number")
            taken.append(number)
        if len(self._steps) == OPERATIONS_MAX:
            raise InvalidParameter(f"more than {OPERATIONS_MAX} operations")
        self._steps.append((do, tuple(taken)))
        return Unknown(self._steps, len(self._steps))

    def __getattr__(self, name: str) -> Callable[[], Unknown]:
        if name not in FUNCTIONS:
            raise AttributeError(f"x.{name} is no function that can be used here")
        return lambda: self._then(operator.methodcaller(name), self)

    __add__, __radd__ = _recording(operator.add)
    __sub__, __rsub__ = _recording(operator.sub)
    __mul__, __rmul__ = _recording(operator.mul)
    __truediv__, __rtruediv__ = _recording(operator.truediv)
    __pow__, __rpow__ = _recording(operator.pow)

    def __neg__(self) -> Unknown:
        return self._then(operator.neg, self)

    def __pos__(self) -> Unknown:
        return self

    def __repr__(self) -> str:
        return "<x, without a value>"

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refusing("a comparison")
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
