"""The one line that somebody reads whose environment lacks a library."""

from __future__ import annotations


def missing(library: str, requirement: str) -> ImportError:
    """The error to raise from an `except ImportError`: what is needed, and what to install."""
    return ImportError(f"tightrope.interop.{library} needs {library}: pip install '{requirement}'", name=library)
