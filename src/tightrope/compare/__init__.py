"""Why two accountants differ: every method on the same run, beside the certified interval."""

from __future__ import annotations

from .comparison import Comparison as Comparison
from .comparison import Row as Row
from .comparison import compare as compare
from .comparison import growth as growth
