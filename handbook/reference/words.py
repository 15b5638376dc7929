"""Docstrings and signatures as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import groupby

from handbook.blocks import PageFault

COLUMNS = 100
KEPT = re.compile(r"(`[^`]*`|\[[^\]]*\]\([\w/.#-]+\))")  # code, and links
MARKS = re.compile(r"([*<>$\[\]|\\]|(?<!\w)_|_(?!\w))")


def documented(thing: object) -> str:
    """The docstring as Markdown; raises where there is none, for every public name is documented."""
    words = inspect.getdoc(thing)
    if not words or words.startswith("Initialize self"):
        raise PageFault(f"{thing!r} has no docstring")
    return markdown(words)


def markdown(words: str) -> str:
    """Plain text, of which indented lines are shown as they stand; no mark of it is read as Markdown."""
    parts = groupby(told_apart(words), key=lambda line: line.startswith("    "))
    return "\n".join("\n".join(lines) if shown else escaped("\n".join(lines)) for shown, lines in parts)


def told_apart(words: str) -> Iterator[str]:
    """Lines; one that only continues the line above it, indented as in Python, is no block of its own."""
    above = ""
    for line in words.splitlines():
        above = line.strip() if line.startswith("    ") and above and not above.startswith("    ") else line
        yield above


def escaped(text: str) -> str:
    parts = KEPT.split(text)
    parts[::2] = [MARKS.sub(r"\\\1", part) for part in parts[::2]]
    return re.sub(r"^([ \t]*)([#+-]|\d+\.)", r"\1\\\2", "".join(parts), flags=re.MULTILINE)


def signature(name: str, thing: Callable[..., object], bound: bool = False) -> str:
    """As a block: on one line where it fits, else a line for each parameter."""
    found = inspect.signature(thing)
    given = list(found.parameters.values())[1 if bound else 0 :]
    texts, last = list[str](), None
    for each in given:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and last not in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            texts.append("*")
        texts.append(parameter(each))
        last = each.kind
    result = "" if found.return_annotation in (inspect.Signature.empty, "None", None) else f" -> {annotation(found)}"
    line = f"{name}({', '.join(texts)}){result}"
    if len(line) > COLUMNS:
        line = f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){result}"
    return shown(line)


def annotation(found: inspect.Signature) -> str:
    note = found.return_annotation
    return note if isinstance(note, str) else getattr(note, "__name__", str(note))


def parameter(each: inspect.Parameter) -> str:
    star = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(each.kind.name, "")
    note = each.annotation if isinstance(each.annotation, str) else getattr(each.annotation, "__name__", "")
    typed = "" if each.annotation is inspect.Parameter.empty else f": {note}"
    if each.default is inspect.Parameter.empty:
        return f"{star}{each.name}{typed}"
    default = "..." if " at 0x" in repr(each.default) or "factory" in repr(each.default) else repr(each.default)
    return f"{star}{each.name}{typed}{' = ' if typed else '='}{default}"


def shown(code: str, language: str = "python") -> str:
    """A block that is no example: nobody runs it."""
    return f"```{{code-block}} {language}\n{code}\n```\n"
