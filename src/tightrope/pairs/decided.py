"""Comparisons of numbers that are known in balls, at as many bits as they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from flint import arb

from ..errors import UnsupportedMechanism
from ..kernels.ball import BITS_MAX, BITS_START, working_precision

T = TypeVar("T")


def settled(asked: Callable[[], T | None]) -> T:
    """What is answered at the first precision that tells: None is no answer. Without one at any it is refused."""
    bits = BITS_START
    while bits <= BITS_MAX:
        with working_precision(bits):
            found = asked()
        if found is not None:
            return found
        bits *= 2
    raise UnsupportedMechanism("its parameters are too far apart to be compared; take less extreme ones")


def above_zero(ball: arb) -> bool | None:
    """None where that is not known."""
    return True if ball > 0 else False if ball <= 0 else None
