"""Numbers that are rounded in a stated direction, so that a bound made of them stays one."""

from __future__ import annotations

from ..core.answers.tradeoff_curve import complement
from ..core.numerics.balls import BITS_START, lower_float, upper_float, working_precision
from ..core.numerics.normal import level as normal_level
from ..core.numerics.normal import normal_above, shift_above, shift_below
from ..core.numerics.search import nearest_exp, nearest_log

__all__ = [
    "BITS_START",
    "complement",
    "lower_float",
    "nearest_exp",
    "nearest_log",
    "normal_above",
    "normal_level",
    "shift_above",
    "shift_below",
    "upper_float",
    "working_precision",
]
