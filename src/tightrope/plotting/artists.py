"""What some pictures are made of beside axes: patches, colours, dates; imported late, as it needs matplotlib."""

from __future__ import annotations

from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import PercentFormatter

__all__ = [
    "AutoDateLocator",
    "ConciseDateFormatter",
    "Line2D",
    "LogNorm",
    "Normalize",
    "Patch",
    "PercentFormatter",
    "Rectangle",
    "ScalarMappable",
]
