"""Writes the names that the package knows into its JSON schemas; tests/test_catalogue.py fails where they differ.

Usage: python -m benchmarks.schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from tightrope.core.text.registry import MECHANISMS, TRANSFORMS
from tightrope.core.values.bound import ERROR_SOURCES
from tightrope.core.values.question import Direction, Relation

FOLDER = Path(__file__).resolve().parent.parent / "src" / "tightrope" / "schema"

# File, the text before the list, and the names in it.
LISTS: tuple[tuple[str, str, Iterable[str]], ...] = (
    ("mechanism.json", '"mechanism": {"enum": ', MECHANISMS),
    ("mechanism.json", '"transformation": {"enum": ', TRANSFORMS),
    ("result.json", '"source": {"enum": ', ERROR_SOURCES),
    # Files of the first versions have no line for the theorem.
    ("result.json", '"propertyNames": {"$ref": "#/$defs/source"}, "required": ', ERROR_SOURCES[:-1]),
    ("result.json", '"direction": {"enum": ', [each.value for each in Direction]),
    ("result.json", '"relation": {"enum": ', [each.value for each in Relation]),
    ("sweep.json", '"relation": {"enum": ', [each.value for each in Relation]),
)


def written(name: str, text: str) -> str:
    """The text of a schema file with the names as they are now."""
    for file, before, names in LISTS:
        if file == name:
            text, count = re.subn(rf"({re.escape(before)})\[[^\]]*\]", rf"\g<1>{json.dumps(list(names))}", text)
            assert count == 1, f"{name} has no list after {before!r}"
    return text


def main() -> None:
    """Writes every file again."""
    for path in sorted(FOLDER.glob("*.json")):
        path.write_text(written(path.name, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
