"""Texts that are mechanisms, never evaluated: templates with a ?, their trees, and the names they may use."""

from __future__ import annotations

from ..core.mechanisms.composition import REFUSED
from ..core.numerics.search import FUNCTIONS
from ..core.text.expressions import LENGTH_MAX, Reader, Template, has_unknown, line_of, parse_template, scan, tree_of
from ..core.text.registry import (
    JOINS,
    MECHANISMS,
    SECTIONS,
    TRANSFORMS,
    find_mechanism,
    find_transform,
    keywords,
    usage,
)

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
