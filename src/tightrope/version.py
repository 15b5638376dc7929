"""The version: documents tell it, and they may import nothing that is above them."""

from __future__ import annotations

__version__ = "0.1.0"
