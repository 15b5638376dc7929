"""README.md as an index of packages shows it: hatchling takes the long description from here.

There is no folder docs/ beside it there: a picture with a relative address would be broken, and so would a link. So
pictures are left out, a link becomes its text with the address in brackets, and a last line says where the files are.
Blocks of code stay as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

FENCED = re.compile(r"(^(```+|~~~+).*?^\2\s*?$)", re.DOTALL | re.MULTILINE)
ELSEWHERE = r"(?:https?|mailto):"
PICTURE = re.compile(rf"!\[[^\]]*\]\((?!{ELSEWHERE})[^)]*\)\n*")
LINK = re.compile(rf"\[([^\[\]]*)\]\((?!{ELSEWHERE})([^)\s]*)[^)]*\)")
CLOSING = "Files and figures that are named here are in the source distribution.\n"


class IndexReadme(MetadataHookInterface):
    """What hatchling asks: sets the field readme, which pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """The long description, from the README.md of the tree that is built."""
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": for_index(text)}


def for_index(text: str) -> str:
    """The text without relative pictures and links, whatever stands in blocks of code."""
    pieces = FENCED.split(text)  # between blocks, a block, its fence, and so on
    for place in range(0, len(pieces), 3):
        pieces[place] = LINK.sub(_told, PICTURE.sub("", pieces[place]))
    return "".join(piece for place, piece in enumerate(pieces) if place % 3 != 2).rstrip() + "\n\n" + CLOSING


def _told(link: re.Match[str]) -> str:
    text, address = link.groups()
    return text if not text or address.startswith("#") or address in text else f"{text} ({address})"
