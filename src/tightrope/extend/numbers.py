"""Numbers that are rounded in a stated direction, so that a bound made of them stays one."""

from __future__ import annotations

from ..kernels.ball import BITS_START, lower_float, upper_float, working_precision
from ..kernels.nearest import nearest_exp, nearest_log
from ..kernels.normal_shift import level as normal_level
from ..kernels.normal_shift import normal_above, shift_above, shift_below
from ..tradeoffs import complement

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
