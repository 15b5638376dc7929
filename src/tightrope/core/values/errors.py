"""Everything that Tightrope raises on purpose.

    TightropeError
    ├── InvalidParameter (ValueError)     a number outside its domain
    ├── UnsupportedMechanism              no bound can be proven; .mechanism .engine .hint .kind
    ├── ExpressionError (ValueError)      text that is no mechanism; .text .column
    ├── AccuracyNotReached                .bound is the one reached, .wanted the accuracy
    ├── WorkExhausted                     the time or memory of a call is used up; .resource
    ├── DataError (ValueError)            a file or array that cannot be read; .path .line
    ├── BracketNotFound                   a calibration without a solution; .parameter
    └── InternalContradiction             two proven bounds that cross, a fault of this package; .lower .upper

Messages are one line: what was given, what is allowed, what to try.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bound import Bound


class TightropeError(Exception):
    """Base class of every deliberate error; each crosses processes with its attributes."""

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[TightropeError], arguments: tuple[object, ...], attributes: dict[str, object]) -> TightropeError:
    """An error as it was, without asking its constructor."""
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class InvalidParameter(TightropeError, ValueError):
    """A parameter outside its domain."""


class Refusal(Enum):
    """Why an engine says no: what is asked next depends on it, never on the words."""

    NOT_KNOWN = "not_known"  # a formula or a proof is missing: more digits or time do not help
    NEEDS_BALLS = "needs_balls"  # float64 ends here, balls go on
    TOO_MUCH_WORK = "too_much_work"  # it could be done with more time or memory


class UnsupportedMechanism(TightropeError):
    """No engine, or not the engine insisted on, can prove a bound for this question.

    Who refuses knows why; whoever was asked names the mechanism as it was written.
    """

    def __init__(self, hint: str, kind: Refusal = Refusal.NOT_KNOWN, mechanism: str = "this mechanism") -> None:
        super().__init__()
        self.hint = hint
        self.kind = kind
        self.mechanism = mechanism
        self.engine: str | None = None
        self.rename()

    def rename(self, mechanism: str | None = None, engine: str | None = None) -> None:
        """Speaks of the mechanism, or of the engine insisted on, by this name from now on."""
        self.mechanism, self.engine = mechanism or self.mechanism, engine or self.engine
        who = "no engine can" if self.engine is None else f"the engine {self.engine} cannot"
        self.args = (f"{who} answer for {self.mechanism}: {self.hint}",)


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
            f"reached {bound}, wider than the accuracy {wanted:g} that was asked for: "
            f"{bound.wide or 'doubles or engines end here; ask for less'}"
        )
        self.bound = bound
        self.wanted = wanted


class WorkExhausted(TightropeError):
    """The next piece of work does not fit what is left; whoever has an answer already gives that."""

    def __init__(self, resource: str) -> None:
        super().__init__(f"{resource} ran out before anything could be proven: give more seconds, or ask for less")
        self.resource = resource


class InternalContradiction(TightropeError):
    """Two bounds of one number, each with a proof, that exclude each other: one proof or its code is wrong.

    No interval is an answer then, and none is made: to take one of both would be to guess. asked is the question.
    """

    def __init__(self, lower: float, upper: float, below: str, above: str) -> None:
        super().__init__()
        self.lower, self.upper, self.below, self.above = lower, upper, below, above
        self.question("")

    def question(self, asked: str) -> None:
        """Names what was asked, from now on."""
        self.asked = asked
        of = f" for {asked}" if asked else ""
        crossed = f"at least {self.lower!r} by {self.below}, at most {self.upper!r} by {self.above}"
        self.args = (
            f"two bounds contradict each other{of}: {crossed}; a fault of tightrope, and no answer: please report it",
        )


def agreed(lower: float, upper: float, below: str = "one bound", above: str = "another") -> tuple[float, float]:
    """Both ends of one number, by two proofs; InternalContradiction where they cross. Nothing is clipped or rounded."""
    if lower > upper:
        raise InternalContradiction(lower, upper, below, above)
    return lower, upper


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
