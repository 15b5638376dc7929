"""The linear scan that bounds what Python's parser will have to work on, and the syntax tree that it makes."""

from __future__ import annotations

import ast
import keyword
import re

from ..calls import quoted
from ..errors import ExpressionError, InvalidParameter

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
