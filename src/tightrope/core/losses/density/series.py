"""Two log densities, taken apart into cells on which the loss rises or falls and everything is a short polynomial.

The formulas are evaluated on real power series with ball coefficients: coefficient j at a ball of points encloses the
j-th derivative over j! at each of them. So f(a + y) = sum_{j<n} f_j(a) y^j + f_n(cell) y^n is an enclosure on a cell,
masses are its integrals, and a sign of l' on a cell is a proof that the loss l = log p - log q is monotone there.
Around a zero of l' that a sign of l'' makes unique, at most 2^-BITS of the line is left out; what is left out of the
support, there and beyond its ends, is `outside`.
Guarantee: every ball contains the truth. Proof: docs/proofs/density.md, sections 1 and 2.
Reference: Tucker 2011, Validated Numerics, Sec. 5 (Taylor enclosures).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, NoReturn

from flint import arb, arb_poly, arb_series, ctx, fmpq, fmpz

from ...numerics.balls import working_precision
from ...values.compute_budget import spend
from ...values.errors import InvalidParameter, Refusal, UnsupportedMechanism

# A user's function, recorded as one formula by an argument that has no value.
#
# The function is called once, with a stand-in for x that only knows how to write down what is done to it: + - * / **
# and the functions of a flint arb_series. It holds no number, so nothing can branch on one: comparisons, float(x),
# x[0],
# loops over x and the like are refused. What was recorded is evaluated ever after: a variable that the function uses
# may
# change, the formula does not.
# Guarantee: every evaluation is of the same formula. Proof: docs/proofs/density.md, section 2.

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


BITS = 256  # of every ball here: masses are known to some 1e-70, whatever the working precision outside
DEGREE = 40  # of the polynomials in balls
FLOAT_DEGREE = 24  # of those in float64
# What a cell may leave uncertain of its masses, and how many cells are looked at for it: where a formula is wild, as
# around a spike, what lies outside of the support is known to fewer digits.
FINENESS = ((2.0**-228, 2500), (2.0**-120, 5000))
LOOK = 6e5  # units of work, about
RELATIVE = 2.0**-56  # what the polynomials in float64 may miss, relative to the size of what they describe
TAME = 12.0  # how much larger the sum of moduli of a mass polynomial may be than the mass
UNEVEN = 0.46875  # where a cell is cut
HALVINGS_MAX = 50


class Piece(NamedTuple):
    """Two log densities on [low, high]."""

    log_p: Formula
    log_q: Formula
    low: float
    high: float


class Logs(NamedTuple):
    """Series of log p and of the loss log p - log q."""

    log_p: arb_series
    loss: arb_series


class Expansion(NamedTuple):
    """Series at a point, or at the ball of all points of a cell: of the logs, and of both densities."""

    logs: Logs
    p: arb_series
    q: arb_series


@contextmanager
def series_arithmetic(length: int) -> Iterator[None]:
    """Balls of BITS bits and series of so many terms; the lock of `working_precision` guards both settings."""
    with working_precision(BITS):
        before = ctx.cap
        ctx.cap = length
        try:
            yield
        finally:
            ctx.cap = before


def piece_of(log_p: Function, log_q: Function, low: float, high: float) -> Piece:
    """Both functions as formulas, with their constants to all bits."""
    with series_arithmetic(DEGREE + 1):
        return Piece(recorded("log_p", log_p), recorded("log_q", log_q), low, high)


def logs(piece: Piece, x: arb, length: int) -> Logs:
    """Both series at a point or a ball of points, inside `series_arithmetic`."""
    log_p = _series(piece.log_p, x, length)
    return Logs(log_p, log_p - _series(piece.log_q, x, length))


def _series(formula: Formula, x: arb, length: int) -> arb_series:
    """One formula on a series; not finite where a denominator may be 0 at some of the points."""
    try:
        series = formula(arb_series([x, 1], length))
    except (ValueError, ArithmeticError):
        return arb_series([arb.nan()] * length, length)
    return series if isinstance(series, arb_series) else arb_series([series], length)


@dataclass(frozen=True, slots=True)
class End:
    """A cell as seen from one of its ends, y the distance from it."""

    loss: arb  # at the end
    rise: arb_poly  # how far the loss is from that at y: 0 at 0, and growing
    p: arb_poly  # P-mass between the end and y
    q: arb_poly


@dataclass(frozen=True, slots=True)
class DensityCell:
    """[low, high], on which the loss rises, or falls, strictly."""

    piece: int
    low: arb
    high: arb
    rising: bool
    left: End
    right: End
    whole: Logs  # series at the ball of all points

    @property
    def width(self) -> arb:
        """At or above, by a rounding at most."""
        return (self.high - self.low).upper()

    def mass(self, of: str) -> arb:
        """p or q: two halves, each from its own end."""
        half = (self.high - self.low) / 2
        value: arb = getattr(self.left, of)(half) + getattr(self.right, of)(half)
        return value


@dataclass(frozen=True)
class Analysis:
    """Runs of neighbouring cells in which the loss keeps its direction, and the masses outside of all."""

    runs: tuple[tuple[DensityCell, ...], ...]
    outside_p: arb
    outside_q: arb


def analyse(pieces: Sequence[Piece]) -> Analysis:
    """Takes the densities apart, or says why they cannot be."""
    with series_arithmetic(DEGREE + 1):
        cells = _taken_apart(pieces)
        runs = tuple(_runs(cells))
        return Analysis(
            runs,
            _outside("log_p", sum((cell.mass("p") for cell in cells), arb(0))),
            _outside("log_q", sum((cell.mass("q") for cell in cells), arb(0))),
        )


def _taken_apart(pieces: Sequence[Piece]) -> list[DensityCell]:
    """The cells of all pieces, as fine as can be paid for."""
    for absolute, most in FINENESS:
        found: list[DensityCell] = []
        try:
            for index, piece in enumerate(pieces):
                cells, used = _cells(index, piece, absolute, most)
                found += cells
                most -= used
        except UnsupportedMechanism as refusal:
            if refusal.kind is not Refusal.TOO_MUCH_WORK or absolute == FINENESS[-1][0]:
                raise
        else:
            return found
    raise AssertionError("the last one returns or raises")


def _outside(name: str, inside: arb) -> arb:
    """1 - inside, and not below 0."""
    missing = 1 - inside
    if missing < 0:
        raise InvalidParameter(
            f"{name} is not the log of a density: it integrates to {float(inside.mid())!r} over the support, "
            f"{float(-missing.mid()):.3g} above 1; give logarithms, with constants as flint.arb and not rounded"
        )
    if not missing < 0.5:
        raise InvalidParameter(
            f"{name} integrates to {float(inside.mid())!r} over the support: at least half of a density must lie "
            "there; widen the support, or normalise it"
        )
    return missing if missing > 0 else arb(0).union(missing.upper())


def _runs(cells: Sequence[DensityCell]) -> Iterator[tuple[DensityCell, ...]]:
    """Neighbours in one direction together."""
    start = 0
    for index in range(1, len(cells) + 1):
        if index < len(cells):
            before, here = cells[index - 1], cells[index]
            if (before.piece, before.rising) == (here.piece, here.rising) and (before.high - here.low).is_zero():
                continue
        yield tuple(cells[start:index])
        start = index


def _cells(index: int, piece: Piece, absolute: float, most: int) -> tuple[list[DensityCell], int]:
    """Cells from left to right, halved until each is monotone and its polynomials are good; how many were looked at."""
    found: list[DensityCell] = []
    looks = 0
    waiting = [(arb(piece.low), arb(piece.high), 0, 0)]
    known: tuple[arb, Expansion] | None = None  # where the last cell ends, the next one mostly begins
    while waiting:
        low, high, depth, sign = waiting.pop()
        looks += 1
        if depth > HALVINGS_MAX or looks > most:
            kind = Refusal.NOT_KNOWN if depth > HALVINGS_MAX else Refusal.TOO_MUCH_WORK
            raise UnsupportedMechanism(_trouble(piece, low, high), kind, "Density")
        whole = everywhere(partial(logs, piece), low, high, DEGREE)
        sign = sign or _sign(whole.loss[1])
        good = _good(whole, high - low, absolute)
        if sign and good is not None:
            left = known[1] if known is not None and known[0] is low else expanded(logs(piece, low, DEGREE + 1))
            right = expanded(logs(piece, high, DEGREE + 1))
            ends = _end(left, good, 1, sign > 0), _end(right, good, -1, sign > 0)
            cell = DensityCell(index, low, high, sign > 0, *ends, whole)
            if _tame(cell, good):
                found.append(cell)
                known = high, right
                continue
        turn = _turn(piece, low, high, whole) if good is not None and not sign else None
        if turn is not None:
            (first, last), direction = turn
            waiting += [(last, high, depth + 1, direction), (low, first, depth + 1, -direction)]
        else:
            # Not in the middle: symmetric densities turn there, and a boundary on a zero of l' is no cell's end.
            middle = (low + (high - low) * UNEVEN).mid()
            waiting += [(middle, high, depth + 1, sign), (low, middle, depth + 1, sign)]
    return found, looks


def everywhere(at: Callable[[arb, int], Logs], low: arb, high: arb, degree: int) -> Logs:
    """Series at the ball of all points of the cell: from its middle, with the plain ones as remainders.

    With f_j the coefficients in the middle, coefficient k at distance y is sum_j binomial(j, k) f_j y^(j-k): far
    narrower than a formula evaluated on the ball, which forgets that its parts move together.
    """
    spend(LOOK)
    plain, middle = at(low.union(high), degree + 1), ((low + high) / 2).mid()
    shift = arb_poly([low.union(high) - middle, 1])
    centred = (
        arb_poly([*(here[j] for j in range(degree)), over[degree]])(shift)
        for here, over in zip(at(middle, degree + 1), plain, strict=True)
    )
    return Logs(*(arb_series(poly.coeffs(), degree + 1) for poly in centred))


def _sign(ball: arb) -> int:
    return 1 if ball > 0 else -1 if ball < 0 else 0


def _turn(piece: Piece, low: arb, high: arb, whole: Logs) -> tuple[tuple[arb, arb], int] | None:
    """Exact points around the only zero of l' in the cell, and the sign of l' after it; None if there is no such."""
    bend = _sign(whole.loss[2])
    if not bend or _slope_sign(piece, low) != -bend or _slope_sign(piece, high) != bend:
        return None
    while high - low > arb(2) ** -BITS:
        middle = ((low + high) / 2).mid()
        sign = _slope_sign(piece, middle)
        if not sign:
            # The slope is too close to 0 to tell: a little to either side it is not.
            step = (high - low) / 1024
            left, right = (middle - step).mid(), (middle + step).mid()
            if _slope_sign(piece, left) == -bend and _slope_sign(piece, right) == bend:
                low, high = left, right
                continue
            break
        low, high = (middle, high) if sign == -bend else (low, middle)
    return (low, high), bend


def _slope_sign(piece: Piece, x: arb) -> int:
    return _sign(logs(piece, x, 2).loss[1])


def expanded(given: Logs) -> Expansion:
    """With both densities."""
    return Expansion(given, given.log_p.exp(), (given.log_p - given.loss).exp())


def _good(whole: Logs, width: arb, absolute: float) -> Expansion | None:
    """The cell with its densities, where what the polynomials leave out is small enough, for both and for the loss."""
    if not all(series[index].is_finite() for series in whole for index in range(DEGREE + 1)):
        return None
    slope = abs(whole.loss[1]) + abs(whole.loss[2]) * width
    for degree in (FLOAT_DEGREE, DEGREE):
        if not abs(whole.loss[degree]) * width ** (degree - 1) <= RELATIVE * slope.abs_upper():
            return None
    found = expanded(whole)
    for density in (found.p, found.q):
        least = density[0].lower()
        if not all(abs(density[n]) * width**n <= RELATIVE * least for n in (FLOAT_DEGREE, DEGREE)):
            return None
        if not abs(density[DEGREE]) * width ** (DEGREE + 1) <= absolute:
            return None
    return found


def _tame(cell: DensityCell, whole: Expansion) -> bool:
    """Whether the terms of the mass polynomials are not much larger than their sums, so that float64 can add them."""
    width = cell.width
    for density, masses in ((whole.p, (cell.left.p, cell.right.p)), (whole.q, (cell.left.q, cell.right.q))):
        most = TAME * density[0].lower() * width
        for mass in masses:
            if not arb_poly([abs(c) for c in mass.coeffs()[: FLOAT_DEGREE + 1]])(width) <= most:
                return False
    return True


def _end(here: Expansion, whole: Expansion, way: int, rising: bool) -> End:
    """Polynomials in the distance y from an end, x = end + way y; the last coefficient covers the cell."""
    seen = _seen(here.logs.loss, whole.logs.loss, way)[1:]
    rise = [arb(0), *(seen if (way > 0) == rising else (-c for c in seen))]
    masses = [
        arb_poly([arb(0), *(c / (j + 1) for j, c in enumerate(_seen(density, over, way)))])
        for density, over in ((here.p, whole.p), (here.q, whole.q))
    ]
    return End(here.logs.loss[0], arb_poly(rise), *masses)


def _seen(here: arb_series, whole: arb_series, way: int) -> list[arb]:
    """Taylor coefficients at the end, walking into the cell, with the remainder as the last."""
    values = [*(here[j] for j in range(DEGREE)), whole[DEGREE]]
    return values if way > 0 else [-c if j % 2 else c for j, c in enumerate(values)]


def _trouble(piece: Piece, low: arb, high: arb) -> str:
    """Why the cells became too small or too many."""
    place = f"near x = {float(low.mid()):.6g}"
    whole = everywhere(partial(logs, piece), low, high, DEGREE)
    if not all(series[0].is_finite() for series in whole):
        return f"its log densities are not finite {place}; choose a support on which both are smooth and positive"
    if whole.loss[1].contains(0) and whole.loss[2].contains(0):
        return (
            f"the loss log p - log q cannot be shown to rise or fall {place}; where it is constant it has an atom "
            "that this mechanism cannot hold: leave such a place out of the support, or use Finite"
        )
    return f"its log densities are not smooth enough {place}; end a piece of the support there"
