"""Text to mechanism: a small language that looks like Python and is never evaluated.

    sum      := product ("+" product)*
    product  := mechanism ("*" count)* | count "*" product
    mechanism:= Name(keyword=number, ...) | mechanism.transformation(keyword=number, ...) | "(" sum ")"
              | mechanism.named("text")

Numbers are literals, `inf`, `pi`, + - * / ** of numbers, sqrt, exp or log of a number; lists of numbers stand for
masses, bounds and counts, quoted words for a choice, a name (name="GM1") or, where the caller allows it, for a file,
True and False for themselves. A linear scan bounds length, nesting and alphabet before Python's parser sees the text;
its syntax tree is read against the registry, and what is not in the registry does not exist. A decimal means the double
nearest to it, and so do pi, ** and the functions: each gives the double nearest to the exact value for the numbers that
it is given. repr(mechanism) is an expression.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import add, mul, sub, truediv
from types import MappingProxyType
from typing import Any

from ..mechanisms.base import Mechanism
from ..mechanisms.composition import compose
from ..mechanisms.samples import DataFile, Folder, allowed_file
from ..numerics.search import FUNCTIONS, nearest_power
from ..planning.domain import POWERS
from ..values.calls import checked, quoted
from ..values.errors import ExpressionError, InvalidParameter, TightropeError
from .registry import JOINS, check_arguments, find_mechanism, find_transform, is_matrix, keywords, usage

# The linear scan that bounds what Python's parser will have to work on, and the syntax tree that it makes.

UNKNOWN = "_"  # what ? becomes for Python's parser
LENGTH_MAX = 100_000
DEPTH_MAX = 100
SIGNS_MAX = 20
CHAIN = "too long a chain of operators; JSON has no such limit"

# Between quotes, a backslash stands before a quote or another backslash only.
_TEXT = r"""'(?:[^'\\\n]|\\[\\'"])*'|"(?:[^"\\\n]|\\[\\'"])*\""""
_TOKEN = re.compile(_TEXT + r"|\d\w*|[A-Za-z_]\w*|\s+|[-+]|.", re.ASCII | re.DOTALL)
_DIGITS = re.compile(r"\d[\d_]*([eE]\d*)?", re.ASCII)
_CHANGES = re.compile(r"\?|[^\S ]")  # what line_of may change
_WORD = re.compile(r"[\w?]", re.ASCII)
_CLOSES = {")": "(", "]": "["}
_ALPHABET = frozenset("()[].,=*/")


def tree_of(text: str) -> ast.expr:
    """The syntax tree of a text that was scanned."""
    start = len(text) - len(text.lstrip())
    try:
        return ast.parse(line_of(text).strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"cannot be read: {error.msg}", text, start + (error.offset or 1)) from None
    except (RecursionError, MemoryError):
        raise ExpressionError(CHAIN, text, start + 1) from None
    except ValueError:
        raise ExpressionError("a number has too many digits", text, start + 1) from None


def line_of(text: str) -> str:
    """The text as Python's parser gets it: on one line, with a name for the unknown, as many characters."""
    if not _CHANGES.search(text):
        return text
    return _TOKEN.sub(lambda match: UNKNOWN if match[0] == "?" else re.sub(r"\s", " ", match[0]), text)


def has_unknown(text: str) -> bool:
    """Whether a ? stands in the text, other than between quotes."""
    return any(match[0] == "?" for match in _TOKEN.finditer(text))


def scan(text: str, unknown: bool) -> None:
    """Bounds what Python's parser will have to work on, in one pass."""
    if not isinstance(text, str):
        raise InvalidParameter(f"an expression is a text, not {type(text).__name__}")
    if len(text) > LENGTH_MAX:
        raise ExpressionError(
            f"longer than {LENGTH_MAX} characters; use counts (* 1000) for repeated mechanisms",
            text[:LENGTH_MAX],
            LENGTH_MAX + 1,
        )
    if not text.strip():
        raise ExpressionError("the expression is empty; try Gaussian(sigma=2) * 10", text, 1)
    opened: list[tuple[str, int]] = []
    signs = 0
    for match in _TOKEN.finditer(text):
        token, column = match.group(), match.start() + 1
        if token.isspace():
            continue
        if token[0] in "'\"":
            _check_text(token, text, column)
            signs = 0
            continue
        signs = signs + 1 if token in "+-" else 0
        if signs > SIGNS_MAX:
            raise ExpressionError(f"more than {SIGNS_MAX} signs in a row", text, column)
        if token[0].isalnum() or token[0] == "_":
            _check_word(token, text, column)
        elif token == "?" and unknown:
            if _WORD.fullmatch(text[match.end() : match.end() + 1]) or _WORD.fullmatch(text[column - 2 : column - 1]):
                raise ExpressionError("? stands for a number, with no digit, letter or ? beside it", text, column)
            continue
        elif token == "?":
            raise ExpressionError("? marks the unknown of a calibration; give a number here", text, column)
        elif token not in _ALPHABET and token not in "+-":
            raise ExpressionError(f"the character {token!r} has no meaning in an expression", text, column)
        if token in "([":
            opened.append((token, column))
            if len(opened) > DEPTH_MAX:
                raise ExpressionError(f"brackets nested more than {DEPTH_MAX} deep", text, column)
        elif token in _CLOSES and (not opened or opened.pop()[0] != _CLOSES[token]):
            raise ExpressionError(f"unbalanced bracket: {token!r} closes nothing", text, column)
    if opened:
        raise ExpressionError(f"unbalanced bracket: {opened[-1][0]!r} is never closed", text, opened[-1][1])


def _check_text(token: str, text: str, column: int) -> None:
    if len(token) == 1:
        raise ExpressionError(
            "a quote that is never closed, or a backslash that stands before neither a quote nor a backslash",
            text,
            column,
        )
    if not token.isprintable():
        raise ExpressionError("only printable characters may stand between quotes", text, column)
    if _WORD.fullmatch(text[column - 2 : column - 1]):
        raise ExpressionError("a quote stands for itself, with no letter or digit before it", text, column)


def _check_word(word: str, text: str, column: int) -> None:
    if word == UNKNOWN:
        raise ExpressionError("'_' has no meaning in an expression; the unknown of a calibration is ?", text, column)
    if not word.isascii():
        raise ExpressionError(f"the character {word[0]!r} has no meaning in an expression", text, column)
    if word[0].isdigit() and not _DIGITS.fullmatch(word):
        raise ExpressionError(f"{quoted(word)} is not a decimal number", text, column)
    if keyword.iskeyword(word) and word not in ("True", "False"):
        raise ExpressionError(f"{word!r} has no meaning in an expression", text, column)


# Reads a syntax tree against the registry: what is not in the registry does not exist.

POWER_BITS_MAX = 1023  # whole numbers stay within the range of a double

Number = int | float
Measured = dict[ast.expr, Mechanism]  # what was read from files, by the call that names them
Row = tuple[Number, ...]
Value = Number | Row | tuple[Row, ...] | str | Mechanism


class Reader:
    """Reads a syntax tree; knows the text only to tell columns."""

    def __init__(
        self, text: str, unknown: float | None, files: Folder | None = None, measured: Measured | None = None
    ) -> None:
        self.text = text
        self.files = files  # the folder whose files may be named
        self.measured = {} if measured is None else measured
        self.start = len(text) - len(text.lstrip())
        self.unknown = unknown
        self.asks = "?" in text
        self.places: list[str] = []  # what the unknown stands for
        self.whole = False  # whether one of them takes whole numbers only

    def mechanism(self, tree: ast.expr) -> Mechanism:
        """The mechanism that the whole text describes."""
        try:
            value = self.value(tree)
        except (RecursionError, MemoryError):
            raise ExpressionError(CHAIN, self.text, self.start + 1) from None
        if not isinstance(value, Mechanism):
            raise ExpressionError(
                f"this is {_kind(value)}, not a mechanism; try Gaussian(sigma=2) * 10", self.text, self.start + 1
            )
        return value

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant(value=bool() | str() as word):
                return word
            case ast.Constant(value=int() | float() as number):
                return self.bounded(number, node)
            case ast.Name(id=name) if name == UNKNOWN and self.unknown is not None:
                return self.unknown
            case ast.Name(id="inf" | "pi" as name):
                return math.inf if name == "inf" else math.pi
            case ast.Name(id="nan"):
                raise self.error("nan is not a value", node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.number(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.number(operand)
            case ast.BinOp(op=ast.Add()):
                return self.sum(node)
            case ast.BinOp(op=ast.Mult()):
                return self.product(node)
            case ast.BinOp(op=ast.Div()):
                return self.quotient(node)
            case ast.BinOp(op=operator, left=left, right=right):
                return self.arithmetic(operator, self.number(left), self.number(right), node)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self.listed(items)
            case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                return self.function(name, node)
            case ast.Call(func=ast.Name(id=name)) if name in JOINS:
                return self.joined(name, node)
            case ast.Call(func=ast.Name(id=name) as called):
                if node in self.measured:
                    return self.measured[node]
                with self.at(called):
                    mechanism = find_mechanism(name)
                given = self.arguments(name, mechanism, node)
                made = mechanism(**given)
                if any(isinstance(value, DataFile) for value in given.values()) and not _has_unknown(node):
                    self.measured[node] = made
                return made
            case ast.Call(func=ast.Attribute(value=inner, attr="named")):
                return self.named(inner, node)
            case ast.Call(func=ast.Attribute(value=inner, attr=name) as called):
                if _calls_before(inner) >= DEPTH_MAX:  # what is written of it would nest as deep
                    raise self.error(f"more than {DEPTH_MAX} transformations in a row", node)
                with self.at(called):
                    transform = find_transform(name)
                base = self.value(inner)
                if not isinstance(base, Mechanism):
                    raise self.error(f"{name} transforms a mechanism, not {_kind(base)}", inner)
                return transform.of(base, **self.arguments(name, transform, node))
            case ast.Attribute(attr=name):
                raise self.error(
                    f"{quoted(name)} is an attribute; only calls such as .poisson(rate=0.01) are read", node
                )
            case ast.Name(id=name):
                with self.at(node):
                    raise InvalidParameter(_alone(name))
        raise self.error("neither a mechanism, a number, a list of numbers nor a quoted word", node)

    def joined(self, name: str, call: ast.Call) -> Mechanism:
        """A function of several mechanisms."""
        cells = [self.value(item) for item in call.args]
        for cell, item in zip(cells, call.args, strict=True):
            if not isinstance(cell, Mechanism):
                raise self.error(f"{name} takes mechanisms, as in {JOINS[name].example}, not {_kind(cell)}", item)
        if any(item.arg != "name" for item in call.keywords) or len(call.keywords) > 1:
            raise self.error(f"{name} takes mechanisms and a name, as in {JOINS[name].example}", call)
        given = {str(item.arg): self.argument("name", item.value) for item in call.keywords}
        with self.at(call):
            return JOINS[name](cells=tuple(cells), **given)  # type: ignore[arg-type]

    def named(self, inner: ast.expr, call: ast.Call) -> Mechanism:
        """A mechanism by another name."""
        mechanism = self.value(inner)
        if not isinstance(mechanism, Mechanism):
            raise self.error(f"named is for a mechanism, not for {_kind(mechanism)}", inner)
        given = [*call.args, *(item.value for item in call.keywords if item.arg == "name")]
        if len(given) != 1 or len(call.args) + len(call.keywords) != 1:
            raise self.error("named takes one text, as in .named('training')", call)
        with self.at(call):
            return mechanism.named(self.argument("name", given[0]))  # type: ignore[arg-type]

    def listed(self, items: list[ast.expr]) -> Row | tuple[Row, ...]:
        """Numbers, or lists of numbers."""
        rows = [item.elts for item in items if isinstance(item, (ast.List, ast.Tuple))]
        if rows and len(rows) == len(items):
            return tuple(tuple(map(self.number, row)) for row in rows)
        return tuple(map(self.number, items))

    def number(self, node: ast.expr) -> Number:
        return self.as_number(self.value(node), node)

    def as_number(self, value: Value, node: ast.expr) -> Number:
        if isinstance(value, (tuple, str, bool, Mechanism)):
            raise self.error(f"a number is needed here, not {_kind(value)}", node)
        return value

    def sum(self, node: ast.BinOp) -> Value:
        """The whole chain at once: a sum of many mechanisms is grouped once, and takes no recursion."""
        chain: list[ast.expr] = []
        rest: ast.expr = node
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Add):
            chain.append(rest.right)
            rest = rest.left
        chain.append(rest)
        items = [(self.value(item), item) for item in reversed(chain)]
        mechanisms = [value for value, _ in items if isinstance(value, Mechanism)]
        if len(mechanisms) == len(items):
            return compose(mechanisms)
        if mechanisms:
            value, place = next((value, place) for value, place in items if not isinstance(value, Mechanism))
            raise self.error(f"only a mechanism can be added to a mechanism, not {_kind(value)}", place)
        total, *others = (self.as_number(value, place) for value, place in items)  # each was read once: brackets nest
        for other in others:
            total = self.arithmetic(node.op, total, other, node)
        return total

    def product(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(left, (tuple, str, bool)) or isinstance(right, (tuple, str, bool)):
            raise self.error(
                f"{_kind(left if isinstance(left, (tuple, str, bool)) else right)} cannot be multiplied", node
            )
        if isinstance(left, Mechanism) and isinstance(right, Mechanism):
            raise self.error("a mechanism can be multiplied by a count only; use + to compose two mechanisms", node)
        if isinstance(left, Mechanism) or isinstance(right, Mechanism):
            self.note("count", node.right if isinstance(left, Mechanism) else node.left, whole=True)
            return left * right  # type: ignore[operator]
        return self.arithmetic(node.op, left, right, node)

    def quotient(self, node: ast.BinOp) -> Number:
        left, divisor = self.value(node.left), self.number(node.right)
        if not isinstance(left, Mechanism):
            return self.arithmetic(node.op, self.as_number(left, node.left), divisor, node)
        # mechanism * 15*60000/256 divides the mechanism: what was meant is a count in brackets.
        factors: list[ast.expr] = []
        rest = node.left
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mult):
            factors.insert(0, rest.right)
            rest = rest.left
        message = "a mechanism cannot be divided; a count stands in brackets, as in * (15*60000/256)"
        if factors and isinstance(self.value(rest), Mechanism) and divisor > 0:
            written = " * ".join(map(ast.unparse, factors)) + f" / {ast.unparse(node.right)}"
            message = f"a mechanism cannot be divided; write the count in brackets, * ({written:.60})"
            count = math.prod(self.number(factor) for factor in factors) / divisor
            if count != math.floor(count):
                message += f", and whole: {count:.10g} rounds up to {math.ceil(count):,}"
        raise self.error(message.replace(UNKNOWN, "?"), node.right)

    def function(self, name: str, call: ast.Call) -> Number:
        """sqrt, exp or log: the double nearest to the exact value at the number given."""
        if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
            raise self.error(f"{name} takes one number, as in {name}(2)", call)
        given = self.number(call.args[0])
        return self.computed(FUNCTIONS[name], (given,), f"{name} of {given!r:.40}", call)

    def arithmetic(self, operator: ast.operator, left: Number, right: Number, node: ast.expr) -> Number:
        """Exact for whole numbers, in doubles otherwise."""
        if type(operator) not in OPERATORS:
            raise self.error("only + - * / ** are read", node)
        return self.computed(OPERATORS[type(operator)], (left, right), "the result", node)

    def computed(self, function: Callable[..., Number], given: tuple[Number, ...], what: str, node: ast.expr) -> Number:
        try:
            number = function(*given)
        except ZeroDivisionError:
            raise self.error("division by zero", node) from None
        except (OverflowError, ValueError):
            raise self.error(f"{what} is not a number within the range of a double", node) from None
        return self.bounded(number, node)

    def bounded(self, number: Number, node: ast.expr) -> Number:
        if isinstance(number, int):
            if not isinstance(number, bool) and number.bit_length() <= POWER_BITS_MAX:
                return number
        elif math.isfinite(number):
            return number
        raise self.error("not a number within the range of a double (infinity is written inf)", node)

    def arguments(self, name: str, make: type[Mechanism], call: ast.Call) -> dict[str, Any]:
        """Positional and keyword arguments by name, each exactly once."""
        allowed = [item.name for item in keywords(make)]
        if len(call.args) > len(allowed):
            raise self.error(
                f"{name} takes at most {len(allowed)} values: {usage(name, make)}", call.args[len(allowed)]
            )
        given: dict[str, Any] = {}
        whole = {item.name for item in keywords(make) if str(item.annotation).startswith("int")}
        words = {item.name for item in keywords(make) if item.annotation == "str"} | {"name"}
        by_place = [ast.keyword(key, node) for key, node in zip(allowed, call.args, strict=False)]
        for item in (*by_place, *call.keywords):
            if item.arg is None:
                raise self.error("** unpacks nothing here; write keyword=value", item)
            if item.arg in given:
                raise self.error(f"{quoted(item.arg)} is given twice", item)
            if item.arg in words and isinstance(item.value, ast.Name) and item.value.id != UNKNOWN:
                raise self.error(f"a word stands in quotes: {item.arg}='{item.value.id:.40}'", item.value)
            given[item.arg] = self.argument(item.arg, item.value)
            self.note(item.arg, item.value, item.arg in whole)
        with self.at(call):
            check_arguments(name, make, given.keys() - {"name"})
            for known in keywords(make):
                # Annotations are texts here: "bool", "str", or an alias that admits paths.
                value, takes = given.get(known.name), str(known.annotation)
                if isinstance(value, bool) and takes not in ("bool", "bool | None"):
                    raise InvalidParameter(f"{known.name} takes no {value!r}")
                if isinstance(value, tuple) and any(isinstance(row, tuple) for row in value) and not is_matrix(known):
                    raise InvalidParameter(f"{known.name} takes no list of lists")
                if isinstance(value, str) and takes == "Source":
                    given[known.name] = allowed_file(value, self.files)
                elif isinstance(value, str) and takes != "str":
                    raise InvalidParameter(f"{known.name} takes {_taken(takes)}, no text such as {quoted(value)}")
        return given

    def argument(self, name: str, node: ast.expr) -> Number | Row | tuple[Row, ...] | str:
        value = self.value(node)
        if isinstance(value, Mechanism):
            raise self.error(f"{name} must be a number or a list of numbers, not a mechanism", node)
        return value

    def note(self, place: str, node: ast.expr, whole: bool) -> None:
        """Remembers what the unknown stands for."""
        if self.asks and _has_unknown(node):
            self.places.append(place if isinstance(node, ast.Name) else "?")
            self.whole |= whole

    @contextmanager
    def at(self, node: ast.expr) -> Iterator[None]:
        """What the registry refuses inside gets the column of the node."""
        try:
            yield
        except InvalidParameter as error:
            raise self.error(str(error), node) from None

    def error(self, message: str, node: ast.expr | ast.keyword) -> ExpressionError:
        before = line_of(self.text).strip().encode()[: node.col_offset]  # Python counts bytes
        return ExpressionError(message, self.text, self.start + len(before.decode()) + 1)


def _power(left: Number, right: Number) -> Number:
    """A power is sized before it is computed."""
    if isinstance(left, float) or isinstance(right, float) or right < 0:
        return nearest_power(left, right)
    if abs(left) > 1 and abs(left).bit_length() * right > 2 * POWER_BITS_MAX:
        raise OverflowError
    power: int = left**right
    return power


OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Number]] = MappingProxyType(
    {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv, ast.Pow: _power}
)


def _alone(name: str) -> str:
    """What is missing where a name stands by itself."""
    if name.lower() in ("true", "false"):
        return f"write {name.capitalize()} for {name}"
    if name in FUNCTIONS:
        return f"{name} needs a number in brackets, as in {name}(2)"
    return f"{name} needs its parameters: {usage(name, find_mechanism(name))}"


def _taken(annotation: str) -> str:
    """What is written for a parameter of this type, in words."""
    for part, words in ("bool", "True or False"), ("Matrix", "a list of rows"), ("Sequence", "a list of numbers"):
        if part in annotation:
            return words
    return "a number"


def _calls_before(node: ast.expr) -> int:
    """How many methods were called on what stands there, one after the other; no more than the limit are counted."""
    count = 0
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and count < DEPTH_MAX:
        node, count = node.func.value, count + 1
    return count


def _has_unknown(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == UNKNOWN for part in ast.walk(node))


def _kind(value: Value) -> str:
    if isinstance(value, Mechanism):
        return "a mechanism"
    if isinstance(value, (str, bool)):
        return f"the text {quoted(value)}" if isinstance(value, str) else repr(value)
    return "a list" if isinstance(value, tuple) else f"the number {value!r}"


TRIED_LENGTH_MAX = 10_000  # of a text with an unknown, for which more than a few values are tried


@dataclass(frozen=True, slots=True)
class Template:
    """A text with one unknown, written ?; parameter is what it stands for, integer whether it must be whole.

    Where ? is a part of a value (1/?), it stands for itself only.
    """

    text: str
    parameter: str
    integer: bool
    tree: ast.expr = field(compare=False, repr=False)
    files: Folder | None = None
    measured: Measured = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, value: float) -> Mechanism:
        """The mechanism with the unknown filled in; files were read when the text was."""
        return Reader(self.text, value, self.files, self.measured).mechanism(self.tree)


@checked
def parse(text: str, files: Folder | None = None) -> Mechanism:
    """The mechanism that the text describes; ExpressionError, InvalidParameter or DataError if it describes none.

    files: the folder whose files the text may name; without it, it may name none.
    """
    scan(text, unknown=False)
    return Reader(text, None, files).mechanism(tree_of(text))


def parse_template(text: str, files: Folder | None = None) -> Template:
    """A text in which ? stands for the number that is wanted; every ? is the same one. files as for `parse`."""
    scan(text, unknown=True)
    if not has_unknown(text):
        raise ExpressionError("nothing to calibrate: write ? for the unknown, as in Gaussian(sigma=?)", text, 1)
    tree = tree_of(text)
    refused: TightropeError | None = None
    measured: Measured = {}
    # A value that is accepted: only then has all of the text been read.
    for power in POWERS if len(text) <= TRIED_LENGTH_MAX else POWERS[:3]:
        reader = Reader(text, 2**power, files, measured)
        try:
            reader.mechanism(tree)
        except (ExpressionError, InvalidParameter) as error:
            refused = refused or error
            continue
        places = dict.fromkeys(reader.places)
        return Template(
            text, "?" if "?" in places else " and ".join(places) or "?", reader.whole, tree, files, measured
        )
    assert refused is not None
    raise refused
