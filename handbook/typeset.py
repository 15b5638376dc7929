"""What Sphinx has read is made fit to be looked at: blocks have colours, tables keep their columns, pictures a size.

Called by handbook/conf.py for each page. Nothing that is said changes.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any

from docutils import nodes  # type: ignore[import-untyped]

COLUMNS = 101  # of a block beside the sidebar, as site.css has it
GUESSED = (("console", "$ "), ("python", "import "), ("python", "from "), ("sh", "make "), ("sh", "tightrope "))
IN_COLUMNS = re.compile(r"\S {3,}\S")
OPENING, CLOSING = re.compile(r"[(\[“‘]+$"), re.compile(r"[,.;:!?)\]’”]+")
SVG = re.compile(r'<svg[^>]*?\swidth="([\d.]+)pt"', re.DOTALL)
WORD = 24  # letters that are never broken
PER_INCH = 96  # pixels of a style sheet


def typeset(app: Any, page: nodes.document) -> None:
    for block in page.findall(nodes.literal_block):
        color(block)
        keep_columns(block)
    for code in page.findall(nodes.literal):
        if max(map(len, code.astext().split()), default=0) <= WORD:
            code["classes"].append("whole")
    for picture in page.findall(nodes.image):
        measure(Path(app.srcdir), picture)
    for formula in list(page.findall(nodes.math)):
        keep_punctuation(formula)


def color(block: nodes.literal_block) -> None:
    """An indented block has no language: that of its first words."""
    if block.get("language", "none") != "none" or "output" in block["classes"]:
        return
    for language, words in GUESSED:
        if block.astext().startswith(words):
            block["language"] = language


def keep_columns(block: nodes.literal_block) -> None:
    """A table is moved sideways where it is too wide; lines of anything else are broken."""
    long = [line for line in block.astext().splitlines() if len(line) > COLUMNS]
    if any(IN_COLUMNS.search(line.strip()) for line in long) and block.get("language") not in ("python", "ipython3"):
        block["classes"].append("wide")


def measure(folder: Path, picture: nodes.image) -> None:
    """As wide as it was drawn, and a link to itself, for whoever wants it larger."""
    file = next((path for path in (folder / picture["uri"], Path(picture["uri"])) if path.is_file()), None)
    width = {".svg": svg_width, ".png": png_width}[file.suffix](file) if file and file.suffix in (".svg", ".png") else 0
    if width and "width" not in picture:
        picture["width"] = f"{width:.0f}px"


def svg_width(file: Path) -> float:
    found = SVG.search(file.read_text("utf-8")[:4000])
    return float(found.group(1)) * PER_INCH / 72 if found else 0.0


def png_width(file: Path) -> float:
    """By its dots per inch, if it has any; never more than one dot for a pixel."""
    data = file.read_bytes()
    width = float(struct.unpack(">I", data[16:20])[0])
    place = data.find(b"pHYs", 0, 4096)
    if place < 0:
        return width
    per_metre, _, unit = struct.unpack(">IIB", data[place + 4 : place + 13])
    return min(width, width / (per_metre * 0.0254) * PER_INCH) if unit == 1 and per_metre else width


def keep_punctuation(formula: nodes.math) -> None:
    """A line does not begin with the comma that follows a formula, nor end with the bracket that opens before it."""
    parent, place = formula.parent, formula.parent.index(formula)
    before, after = beside(parent, place - 1), beside(parent, place + 1)
    opens, closes = OPENING.search(before), CLOSING.match(after)
    if opens or closes:
        first, last = opens.group() if opens else "", closes.group() if closes else ""
        kept = nodes.inline("", "", nodes.Text(first), formula.deepcopy(), nodes.Text(last), classes=["kept"])
        left = [nodes.Text(before.removesuffix(first))] if before else []
        right = [nodes.Text(after.removeprefix(last))] if after else []
        parent[place - len(left) : place + 1 + len(right)] = [*left, kept, *right]


def beside(parent: nodes.Element, place: int) -> str:
    """The words at this place, if it has nothing but words."""
    found = parent[place] if 0 <= place < len(parent) else None
    return str(found.astext()) if isinstance(found, nodes.Text) else ""
