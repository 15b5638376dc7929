"""Pages as Sphinx reads them, in build/pages: blocks become cells that MyST-NB executes, names of pages links.

docs/ and the pages beside it stay plain Markdown, as a reader finds them in the tree.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

from handbook.blocks import FENCE, Block, PageFault, blocks, line_of, unread

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
STAGED = ROOT / "build" / "pages"
KERNELS = ROOT / "build" / "kernels"
FAULTS = "HANDBOOK_FAULTS"  # in the environment of kernels: the file into which they write what goes wrong
BESIDE = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}  # where pages of the root go
QUIET = ["--log-level=40", "--InteractiveShell.colors=nocolor", "--InteractiveShell.xmode=Minimal"]
KERNEL = "page"
APART = re.compile(r"`[^`\n]*`|\[[^\]\n]*\]\([^)\n]*\)|\]\([^)\n]*\)")  # code, and links that are links already
NAMED = re.compile(r"(?<![\w/.-])([\w/]+\.md)\b(?![/(#])")
BY_PATH = re.compile(r"\[([\w/]+\.md)\](?=\()")  # a link whose words are a path
SPECIAL = re.compile(r"__(\w+?)__")
TITLE_LONG = 30
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+\.md)(#[^)\s]*)?\)")


def stage(made: Mapping[str, str]) -> None:
    """Writes all pages, and those that were made of the package."""
    shutil.rmtree(STAGED, ignore_errors=True)
    shutil.copytree(DOCS, STAGED, ignore=shutil.ignore_patterns("*.md"))
    pages = {str(path.relative_to(DOCS)): path.read_text("utf-8") for path in sorted(DOCS.rglob("*.md"))}
    for source, name in BESIDE.items():
        pages[name] = (ROOT / source).read_text("utf-8").replace("](docs/", "](")
    wrong = [f"{source_of(name)}, line {line}: {why}" for name in pages for line, why in unread(pages[name])]
    if wrong:
        raise PageFault("\n".join(wrong))
    pages |= made
    titles = {name: title(text) for name, text in pages.items()}
    for name, text in pages.items():
        place = STAGED / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(cells(linked(text, name, titles), name), "utf-8")
    write_kernel()


def write_kernel() -> None:
    """What runs pages, found by JUPYTER_PATH; quiet about a socket that lives as long as the page is run."""
    place = KERNELS / "kernels" / KERNEL / "kernel.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", *QUIET, "-f", "{connection_file}"]
    place.write_text(json.dumps({"argv": argv, "display_name": KERNEL, "language": "python"}), "utf-8")


def title(text: str) -> str:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    if found is None:
        raise PageFault("a page without a title: " + text[:60])
    return found.group(1)


def source_of(name: str) -> str:
    """Where a page stands in the tree."""
    return next((source for source, place in BESIDE.items() if place == name), f"docs/{name}")


def cells(text: str, name: str) -> str:
    """A page with its blocks as cells; one without blocks that run here is no notebook."""
    found = list(blocks(text))
    lines = [line_of(text, block.start) for block in found if block.runs and not block.needs]
    if not lines:
        return replaced(text, found, partial(cell, text))
    top = f"---\nfile_format: mystnb\nkernelspec:\n  name: {KERNEL}\n---\n\n"
    begun = f"_page = _Running({source_of(name)!r}, {lines})"
    opening = hidden(f"from handbook.kernel import Running as _Running\n{begun}")
    return top + opening + "\n" + replaced(text, found, partial(cell, text))


def replaced(text: str, found: list[Block], by: Callable[[Block], str]) -> str:
    last = 0
    parts: list[str] = []
    for block in found:
        parts += [text[last : block.start], text[block.start : block.end] if block.directs else by(block)]
        last = block.end
    return "".join([*parts, text[last:]])


def plain(block: Block) -> str:
    """A block that is shown: what heads it, if anything does, is its caption."""
    language = block.language or "text"
    caption = f':caption: "`{block.heading}`"\n' if block.heading else ""
    return f"```{{code-block}} {language}\n{caption}\n{block.body}```"


def cell(text: str, block: Block) -> str:
    if not block.runs:
        return plain(block)
    if block.needs:
        return as_if_run(block)
    if block.language == "console":
        return hidden(f"_page.console({block.body!r})", "remove-input")
    image = json.dumps({"image": {"alt": f"Drawn by this code: {heading_above(text, block.start)}"}})  # if it draws
    code = f"```{{code-cell}} ipython3\n:mystnb: {image}\n{block.shown}```\n\n"
    return code + hidden(f"_page.said(*{block.printed!r})")


def as_if_run(block: Block) -> str:
    """What needs other libraries looks like a cell with its output: what its page says, as make test-interop proves."""
    code = f"```{{code-block}} ipython3\n{block.shown}```\n"
    output = "\n".join(["```{code-block} text", ":class: output stream", "", *block.printed, "```", ""])
    return f":::{{container}} cell\n{code}{output if block.printed else ''}:::"


def heading_above(text: str, place: int) -> str:
    """In plain words."""
    found = re.findall(r"^#+ (.+)$", FENCE.sub("", text[:place]), re.MULTILINE)
    return re.sub(r"[`$*\\]", "", found[-1]) if found else ""


def hidden(code: str, tag: str = "remove-cell") -> str:
    return f"```{{code-cell}} ipython3\n:tags: [{tag}]\n{code}\n```\n"


def linked(text: str, name: str, titles: Mapping[str, str]) -> str:
    """Pages that are named in sentences are links, by their titles; links lead to where pages are on the site."""
    found = list(blocks(text))
    edges = [0, *(edge for block in found for edge in (block.start, block.end)), len(text)]
    parts = [text[start:end] for start, end in pairwise(edges)]
    parts[::2] = [in_prose(part, name, titles) for part in parts[::2]]
    return "".join(parts)


def in_prose(text: str, name: str, titles: Mapping[str, str]) -> str:
    lines = [
        line if line.startswith("    ") else in_line(line, name, titles) for line in text.splitlines(keepends=True)
    ]
    return "".join(lines)


def in_line(line: str, name: str, titles: Mapping[str, str]) -> str:
    def link(found: re.Match[str]) -> str:
        target = resolved(found.group(1), name, titles)
        return found.group() if target is None or target == name else f"[{called(target)}]({relative(target, name)})"

    def worded(found: re.Match[str]) -> str:
        target = resolved(found.group(1), name, titles)
        return found.group() if target is None else f"[{called(target)}]"

    def called(target: str) -> str:
        return short(titles[target], titles.values())

    def moved(found: re.Match[str]) -> str:
        target = resolved(found.group(1), name, titles)
        return found.group() if target is None else f"]({relative(target, name)}{found.group(2) or ''})"

    apart = list(APART.finditer(line))
    edges = [0, *(edge for part in apart for edge in part.span()), len(line)]
    parts = [line[start:end] for start, end in pairwise(edges)]
    parts[::2] = [SPECIAL.sub(r"\\_\\_\1\\_\\_", NAMED.sub(link, part)) for part in parts[::2]]
    return LINK.sub(moved, BY_PATH.sub(worded, "".join(parts)))


def short(title: str, all_titles: Iterable[str]) -> str:
    """What a sentence can hold: of a long title the part before its colon, if no other page begins so."""
    head = title.partition(":")[0]
    alone = sum(each.partition(":")[0] == head for each in all_titles) == 1
    return head if len(title) > TITLE_LONG and alone else title


def resolved(named: str, name: str, titles: Mapping[str, str]) -> str | None:
    """The page that is meant, as a path below docs/; None for other files."""
    candidates = (
        os.path.normpath(os.path.join(os.path.dirname(name), named)),
        named.removeprefix("docs/"),
        BESIDE.get(os.path.basename(named), ""),
    )
    return next((each for each in candidates if each in titles), None)


def relative(target: str, name: str) -> str:
    return os.path.relpath(target, os.path.dirname(name) or ".")
