"""Everything that Tightrope raises on purpose.

    TightropeError
    ├── InvalidParameter (ValueError)     a number outside its domain
    ├── UnsupportedMechanism              no engine can prove a bound; .mechanism .hint
    ├── ExpressionError (ValueError)      text that is no mechanism; .text .column
    ├── AccuracyNotReached                .bound is the one reached, .wanted the accuracy
    ├── DataError (ValueError)            a file or array that cannot be read; .path .line
    └── BracketNotFound                   a calibration without a solution; .parameter

Messages are one line: what was given, what is allowed, what to try.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bound import Bound


class TightropeError(Exception):
    """Base class of every deliberate error."""


class InvalidParameter(TightropeError, ValueError):
    """A parameter outside its domain."""


class UnsupportedMechanism(TightropeError):
    """No engine can prove a bound for this question."""

    def __init__(self, mechanism: str, hint: str) -> None:
        super().__init__(f"no engine can answer for {mechanism}: {hint}")
        self.mechanism = mechanism
        self.hint = hint


class ExpressionError(TightropeError, ValueError):
    """Text that does not describe a mechanism; column counts from 1."""

    def __init__(self, message: str, text: str, column: int) -> None:
        super().__init__(f"{message} (column {column})")
        self.text = text
        self.column = column


class AccuracyNotReached(TightropeError):
    """The bound is right, but wider than what was asked for."""

    def __init__(self, bound: Bound, wanted: float) -> None:
        super().__init__(
            f"reached [{bound.lower!r}, {bound.upper!r}], wider than the accuracy {wanted:g} "
            "that was asked for: ask for less, or use proof"
        )
        self.bound = bound
        self.wanted = wanted


class DataError(TightropeError, ValueError):
    """Data that cannot be read as probabilities or counts."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)
        self.path = path
        self.line = line


class BracketNotFound(TightropeError):
    """No value of the parameter meets the target."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter
