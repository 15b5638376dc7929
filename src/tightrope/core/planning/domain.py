"""Which values an unknown may take: those that the mechanism accepts, in one piece.

Nothing is known of the unknown but what happens when it is put in: a value that is refused (a rate above 1, a sigma of
0) lies outside. An end is found by bisection, to twelve digits or to the whole number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ..mechanisms.base import Mechanism
from ..mechanisms.parameters import real
from ..values.errors import BracketNotFound, InvalidParameter

REAL_MIN, REAL_MAX = 1e-15, 1e15
PARAMETER_MAX = 10**30
END_DIGITS = 12
GIVE_ENDS = "give least and most"
NEAR_STEPS = 10**6  # times: an end within is where to start, since most of what ends there is easy there
POWERS = (0, 1, -1, 2, -2, 4, -4, 7, -7, 10, -10, 14, -14, 20, -20, 30, -30, 40, -40)  # of two: where to start


class Domain:
    """The values from least to most that make accepts."""

    def __init__(
        self,
        make: Callable[[float], Mechanism],
        parameter: str,
        integer: bool,
        least: float | None,
        most: float | None,
    ) -> None:
        self.make = make
        self.parameter = parameter
        self.integer = integer
        first, last = (1, PARAMETER_MAX) if integer else (REAL_MIN, REAL_MAX)
        self.least = first if least is None else self._limit("least", least, math.ceil, first, last)
        self.most = last if most is None else self._limit("most", most, math.floor, first, last)
        if not self.least <= self.most:
            raise InvalidParameter(f"least must lie below most, not {least!r} and {most!r}")
        self._made: dict[float, Mechanism | Exception] = {}
        self._ends: list[tuple[float, float]] = []  # an accepted value, and the refused one that was wanted

    def _limit(self, name: str, value: float, rounded: Callable[[float], int], first: float, last: float) -> float:
        if not real(name, value) >= 0.0:
            raise InvalidParameter(f"{name} must be a number, 0 or above, not {value!r}")
        within = min(max(value, first), last)
        return rounded(within) if self.integer else float(within)

    def start(self) -> float:
        """A value that is accepted; the largest one if there is one at all near."""
        for value in self._candidates():
            if self.mechanism(value) is not None:
                top = self.reach(value, self.fit(NEAR_STEPS * value))
                return top if top < NEAR_STEPS * value else value
        refused = next(iter(self._made.values()))
        assert isinstance(refused, Exception)
        raise refused

    def _candidates(self) -> Iterator[float]:
        yield from (2**power if self.integer else 2.0**power for power in POWERS if power >= 0 or not self.integer)
        yield from (self.fit(math.sqrt(self.least) * math.sqrt(self.most)), self.most, self.least)

    def fit(self, value: float) -> float:
        """The value brought between least and most."""
        if not value < self.most:
            return self.most
        return max(int(value) if self.integer else value, self.least)

    def mechanism(self, value: float) -> Mechanism | None:
        """The mechanism of a value, None where it is refused."""
        if not self.least <= value <= self.most:
            return None
        if value not in self._made:
            try:
                made = self.make(value)
                if not isinstance(made, Mechanism):
                    raise InvalidParameter(f"a function that returns a mechanism is needed, not {type(made).__name__}")
                self._made[value] = made
            except (ValueError, ArithmeticError) as error:  # InvalidParameter and ExpressionError are among them
                self._made[value] = error
            self._check(value)
        found = self._made[value]
        return found if isinstance(found, Mechanism) else None

    def _check(self, value: float) -> None:
        """One piece only: no refused value lies between two that are accepted."""
        good = [each for each, found in self._made.items() if isinstance(found, Mechanism)]
        bad = [each for each, found in self._made.items() if not isinstance(found, Mechanism)]
        for each in bad if value in good else [value] if good else []:
            if good and min(good) < each < max(good):
                whole = not self.integer and not each.is_integer() and all(value.is_integer() for value in good)
                remedy = "say integer=True" if whole else f"{GIVE_ENDS} such that all between are"
                raise BracketNotFound(
                    f"{self.parameter} = {each:.6g} is refused ({self._made[each]}), but values on both sides are "
                    f"accepted: {remedy}",
                    self.parameter,
                )

    def reach(self, inside: float, wanted: float) -> float:
        """The accepted value nearest to the wanted one, coming from one that is accepted."""
        for good, bad in self._ends:
            if (inside <= good < wanted) if good < bad else (wanted < good <= inside):
                return good
        if self.mechanism(wanted) is not None:
            return wanted
        good, bad = inside, wanted
        while (middle := self._between(good, bad)) is not None:
            good, bad = (middle, bad) if self.mechanism(middle) is not None else (good, middle)
        if not self.integer:
            short = float(f"{good:.{END_DIGITS}g}")
            if abs(short - good) <= 10.0**-END_DIGITS * good and self.mechanism(short) is not None:
                good = short
        for factor in (2, 3, 5, 10, 64):  # nothing may be accepted further out
            self.mechanism(self.fit(good * factor if bad > good else good / factor))
        self._ends.append((good, wanted))
        return good

    def _between(self, good: float, bad: float) -> float | None:
        if self.integer:
            middle: float = (int(good) + int(bad)) // 2
            return middle if middle not in (good, bad) else None
        low, high = min(good, bad), max(good, bad)
        middle = math.sqrt(low) * math.sqrt(high) if low > 0.0 and high > 2.0 * low else low + (high - low) / 2.0
        return middle if high - low > 0.1**END_DIGITS * high and low < middle < high else None

    def end(self, value: float) -> str:
        """Why nothing lies beyond an end."""
        for good, bad in self._ends:
            if good == value:
                return f"nothing beyond is accepted: {self._made[bad]}"
        return f"the search ends at {self.parameter} = {value:.6g}"
