"""Texts that are mechanisms, never evaluated: templates with a ?, their trees, and the names they may use."""

from __future__ import annotations

from ..expression import LENGTH_MAX, Template, parse_template
from ..expression.reader import Reader
from ..expression.scan import has_unknown, line_of, scan, tree_of
from ..kernels.nearest import FUNCTIONS
from ..registry import JOINS, MECHANISMS, SECTIONS, TRANSFORMS, find_mechanism, find_transform, keywords, usage
from ..transforms.refused import REFUSED

__all__ = [
    "find_mechanism",
    "find_transform",
    "FUNCTIONS",
    "has_unknown",
    "JOINS",
    "keywords",
    "LENGTH_MAX",
    "line_of",
    "MECHANISMS",
    "parse_template",
    "Reader",
    "REFUSED",
    "scan",
    "SECTIONS",
    "Template",
    "TRANSFORMS",
    "tree_of",
    "usage",
]
