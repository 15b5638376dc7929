"""Every public name of the package, from its docstring: each stands on exactly one page, or the site is not built."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import tightrope as tr
from handbook.blocks import PageFault
from release import api_python
from release.api_python import INNER
from tightrope import ledger
from tightrope.cli.entries import docstring
from tightrope.core.text import catalogue
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS
from tightrope.core.values.errors import TightropeError
from tightrope.ledger.ledger import Ledger

from .words import documented, escaped, markdown, shown, signature

# Pages, and what stands on them in this order.
GROUPS: Mapping[str, list[str]] = MappingProxyType(
    {
        title: names.split()
        for title, names in {
            "Functions": "calibrate compare compose parallel parse dump load sweep frontier by_sampling report verify "
            "audit plan_audit draw_curves draw_tradeoffs",
            "Answers": "Bound Certificate ErrorBreakdown Curve Tradeoffs Risk LossLaw Epochs Concentrated",
            "Answers of many questions": "Calibration Target Comparison Frontier Samplings Sweep Report Verification "
            "AuditResult AuditPlan",
            "Pairs, neighbours and buckets": "Relation Direction TailPair Leaf Buckets BucketList",
        }.items()
    }
)
FOR_AUTHORS = sorted(INNER["Mechanism"] | {"nameless", "pair", "terms"})


def pages() -> dict[str, str]:
    everywhere = {name for names in GROUPS.values() for name in names} | {"Mechanism"}
    if everywhere != public() - mechanisms() - errors():
        raise PageFault(f"not on exactly one page: {sorted(everywhere ^ (public() - mechanisms() - errors()))}")
    made = {path_of(title): page(title, names) for title, names in GROUPS.items()}
    made["reference/mechanism.md"] = mechanism_page()
    made["reference/mechanism_classes.md"] = classes_page()
    made["reference/ledger.md"] = ledger_page()
    made["reference/index.md"] = index()
    return made


def public() -> set[str]:
    return set(api_python.public("tightrope"))


def is_public(name: str) -> bool:
    return not name.startswith("_") and name != "annotations"


def mechanisms() -> set[str]:
    return {name for name in vars(catalogue) if is_public(name)}


def errors() -> set[str]:
    classes = {name for name in public() if inspect.isclass(getattr(tr, name))}
    return {name for name in classes if issubclass(getattr(tr, name), TightropeError)}


def path_of(title: str) -> str:
    return "reference/" + title.lower().replace(",", "").replace(" ", "_") + ".md"


def page(title: str, names: list[str]) -> str:
    return f"# {title}\n\n" + "\n".join(text for name in names for text in told(f"tr.{name}", getattr(tr, name)))


def told(name: str, thing: Any, level: int = 2) -> Iterator[str]:
    """A function with its signature, or a class with what it holds and answers."""
    short = name.removeprefix("tr.")
    yield f"{'#' * level} {short}\n"
    yield choices(name, thing) if is_choice(thing) else signature(name, thing)
    yield documented(thing) + "\n"
    if inspect.isclass(thing):
        shared = set(dir(tr.Mechanism)) if issubclass(thing, tr.Mechanism) else set()  # on a page of its own
        yield from members(short, thing, [each for each in own(thing) if each not in shared], level + 1)


def is_choice(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Enum)


def choices(name: str, kind: type[Enum]) -> str:
    """Names with the texts that stand for them: nobody calls such a class."""
    return shown("\n".join(f'{name}.{each.name}  # "{each.value}"' for each in kind))


def own(kind: type) -> list[str]:
    """Public methods and properties that are ours, in alphabetical order."""
    return [
        name
        for name in sorted({*dir(kind), *vars(kind)})
        if is_public(name) and not is_field(kind, name) and from_here(inspect.getattr_static(kind, name))
    ]


def is_field(kind: type, name: str) -> bool:
    found = inspect.getattr_static(kind, name)
    return type(found).__name__ == "member_descriptor" or not (callable(getattr(kind, name)) or is_property(found))


def is_property(found: object) -> bool:
    return isinstance(found, property) or type(found).__name__ == "cached_property"


def from_here(found: Any) -> bool:
    inner = found.fget if isinstance(found, property) else getattr(found, "func", getattr(found, "__func__", found))
    return str(getattr(inner, "__module__", "")).startswith("tightrope")


def members(owner: str, kind: type, names: list[str], level: int) -> Iterator[str]:
    for name in names:
        found = inspect.getattr_static(kind, name)
        yield f"{'#' * level} {owner}.{name}\n"
        if not is_property(found):
            yield signature(name, getattr(kind, name), bound=not isinstance(found, staticmethod | classmethod))
        yield documented(found if is_property(found) else getattr(kind, name)) + "\n"


def mechanism_page() -> str:
    names = own(tr.Mechanism)
    asked = [name for name in names if name not in FOR_AUTHORS and name not in TRANSFORMS]
    parts = [
        "# What every mechanism can do\n",
        documented(tr.Mechanism) + "\n",
        "Every mechanism of [the list](../mechanisms.md), composed or transformed or single, has these methods; an",
        "expression on the command line has the same names. Mechanisms are added (`a + b`), repeated (`a * 100`),",
        "compared (`==`) and hashed; `repr` is an expression that `tr.parse` reads.\n",
        "## Questions\n",
        *members("Mechanism", tr.Mechanism, asked, 3),
        "## Transformations\n",
        "What each stands for, with theorem and picture: [transformations](../transformations.md).\n",
        *members("Mechanism", tr.Mechanism, list(TRANSFORMS), 3),
        "## For those who write mechanisms\n",
        "What a mechanism tells the accountant about itself. [Contributing](../contributing.md) has worked examples.\n",
        *members("Mechanism", tr.Mechanism, FOR_AUTHORS, 3),
    ]
    return "\n".join(parts)


def classes_page() -> str:
    shared = set(dir(tr.Mechanism)) | set(dir(tr.Leaf))
    parts = [
        "# Mechanisms in Python\n",
        "How each is made. Pair, theorem, neighbours, tightness and a picture of each are in",
        "[the mechanisms](../mechanisms.md); what all of them answer is in",
        "[what every mechanism can do](mechanism.md).\n",
    ]
    for name in sorted(mechanisms(), key=str.lower):
        thing = getattr(tr, name)
        parts += [f"## {name}\n", signature(f"tr.{name}", thing), markdown(docstring(thing)) + "\n"]
        more = f"ore in [{name}](../mechanisms.md#{name.lower()}).\n"
        parts.append(f"For example `{MECHANISMS[name].example}`; m{more}" if name in MECHANISMS else f"M{more}")
        if inspect.isclass(thing):
            parts += members(name, thing, [each for each in own(thing) if each not in shared], 3)
    return "\n".join(parts)


def ledger_page() -> str:
    functions = [
        name
        for name, value in vars(ledger).items()
        if is_public(name) and inspect.isfunction(value) and value.__module__ == ledger.__name__
    ]
    parts = ["# The ledger in Python\n", markdown(inspect.getdoc(ledger) or "") + "\n"]
    parts.append("What it promises and how it is kept: [the ledger](../ledger.md). Its errors: [errors](errors.md).\n")
    for name in functions:
        parts += told(f"tr.ledger.{name}", getattr(ledger, name))
    parts += told("tr.ledger.Ledger", Ledger)
    return "\n".join(parts)


def index() -> str:
    """All names, each with its first sentence and a link."""
    lines = [
        "# Reference",
        "",
        "Made from the package, version " + tr.__version__ + ", when this site was built. What is stable, and for how",
        "long: [stability](../stability.md).",
        "",
        "| part | what it holds |",
        "|---|---|",
        "| [mechanisms](../mechanisms.md) | each with pair, theorem, neighbours, tightness, example and picture |",
        "| [transformations](../transformations.md) | samples, groups, shuffles, the best of several runs |",
        "| [readings](readings.md) | what can be asked beside epsilon and delta |",
        "| [what every mechanism can do](mechanism.md) | its methods |",
        "| [command line](command_line.md) | every command with its options |",
        "| [JSON documents](schemas.md) | fields, and the schemas themselves |",
        "| [errors](errors.md) | what each means, and what to do |",
        "| [the ledger in Python](ledger.md) | budgets that are spent |",
        "| [for those who add to Tightrope](extend.md) | `tightrope.extend`: laws, checks, numbers, tables |",
        "",
        "## Every public name",
        "",
        "| `tr.` | |",
        "|---|---|",
    ]
    places = {name: path_of(title) for title, names in GROUPS.items() for name in names}
    places |= dict.fromkeys(mechanisms(), "reference/mechanism_classes.md") | dict.fromkeys(
        errors(), "reference/errors.md"
    )
    places["Mechanism"] = "reference/mechanism.md"
    for name in sorted(public(), key=lambda name: (name.lower(), name)):
        file = places[name].removeprefix("reference/")
        anchor = "" if name == "Mechanism" else f"#{name.lower()}"
        first = (inspect.getdoc(getattr(tr, name)) or "").split("\n\n")[0]
        lines.append(f"| [{name}]({file}{anchor}) | {escaped(' '.join(first.split()))} |")
    return "\n".join(lines) + "\n"
