"""The section on what ran: a training run by its numbers, anything else by its parts with a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any

from .. import Leaf, Mechanism, training
from ..extend.mechanisms import Parallel, Transformation
from ..extend.tables import linked
from ..extend.training import CAUTIONS, LOADERS
from ..extend.wording import short, shortened
from .markup import Content, Markup, element, facts, joined, listing, table
from .words import neighbours_said, sentence

PARTS_SHOWN_MAX = 12  # that are shown; the expression has all
PHASES_MAX = 40
WORDS_MAX = 2_000  # characters of an expression
VALUE_MAX = 80  # characters of a parameter
ADAPTIVE = (
    "The parts run one after the other on the same data. What is asked next may depend on all results so far, as long "
    "as every part runs with the parameters that are written here, and its noise is drawn afresh."
)


def what_ran(mechanism: Mechanism) -> Markup:
    """The section, without its heading."""
    parts = [element("p", "The run as an expression:"), expression(str(mechanism))]
    if isinstance(mechanism, training):
        return joined([*parts, *trained(mechanism)])
    return joined([*parts, *([element("p", ADAPTIVE)] if _several(mechanism) else []), tree(mechanism.parts)])


def expression(text: str) -> Markup:
    """An expression as it is written, the middle of a long one left out."""
    return element("pre", element("code", shortened(text, WORDS_MAX)), class_="expression")


def trained(run: training) -> list[Markup]:
    """The numbers of a training run, its phases where they change, and what is known of its loader."""
    loader = LOADERS[run.sampling]
    several = run.schedule is not None
    rows = [
        ("Method", "DP-SGD: noisy sums of gradients, each clipped to norm 1"),
        ("Records", f"{run.records:,}"),
        *([] if several or run.batch is None else [("Records of a batch", f"{run.batch:,}")]),
        *([] if run.epochs is None else [("Epochs", short(float(run.epochs)))]),
        ("Steps", f"{run.total_steps:,}"),
        *([] if run.sigma is None else [("Noise multiplier (sigma)", short(run.sigma))]),
        *([("Noise that steps share", run.noise)] if run.noise else []),
        ("Batches", f"{run.sampling}: {_plain(loader.assumed)}"),
        ("Such batches are made by", loader.met_in),
        *([] if run.cap is None else [("Most records of a batch", f"{run.cap:,}")]),
        ("Records of one person", "one" if run.group_size == 1 else f"up to {run.group_size:,}"),
        ("Theorem", linked(run.sampling_theorem)),
        ("Stands for", shortened(str(run.expanded), WORDS_MAX)),
    ]
    found = [facts("The training run", rows)]
    if several:
        phases = [
            (str(index), f"{steps:,}", short(sigma), f"{batch:,}")
            for index, (steps, sigma, batch) in enumerate(run.phases[:PHASES_MAX], 1)
        ]
        found.append(table("Phases of the run", ("Phase", "Steps", "Sigma", "Batch"), phases, class_="numbers"))
        if len(run.phases) > PHASES_MAX:
            found.append(element("p", f"{len(run.phases) - PHASES_MAX} more phases are in the expression."))
    if run.sampling in CAUTIONS:
        found.append(element("p", sentence(CAUTIONS[run.sampling]), class_="caution"))
    return found


def tree(parts: tuple[tuple[Mechanism, int], ...]) -> Markup:
    """A list of parts, each with what it is made of beneath."""
    shown = [_item(part, count) for part, count in parts[:PARTS_SHOWN_MAX]]
    if len(parts) > PARTS_SHOWN_MAX:
        shown.append(element("li", f"{len(parts) - PARTS_SHOWN_MAX} more parts, which are in the expression."))
    return element("ul", *shown, class_="parts")


def _item(part: Mechanism, count: int) -> Markup:
    """A part: its name and how often it runs, what it is in words, its parameters and theorem, and what is inside."""
    often = "" if count == 1 else f", {count:,} times"
    called = f"{part.name}: " if part.name else ""
    make: Any = type(part)
    said: list[Content] = [element("strong", f"{called}{kind(part)}{often}."), " ", summary(part)]
    if isinstance(part, training):
        return element("li", *said, *trained(part))
    about = [*_given(part)]
    if theorem := getattr(make, "theorem", ""):
        about.append(f"Theorem: {linked(theorem)}")
    inside = _inside(part)
    return element("li", *said, listing(about, class_="about"), *([tree(inside)] if inside else []))


def kind(part: Mechanism) -> str:
    """The name of the mechanism, or of the call that makes one of others."""
    return getattr(part, "call", type(part).__name__)


def summary(part: Mechanism) -> str:
    """The first sentence of what it says of itself; nothing for one that says nothing."""
    said = cleandoc(vars(type(part)).get("__doc__") or "").split("\n\n")[0]
    return " ".join(said.split())


def _given(part: Mechanism) -> list[str]:
    given: dict[str, Any] = {}
    if isinstance(part, Transformation):
        given = part.arguments
    elif isinstance(part, Leaf):
        given = dict(part.parameters)
    told = [f"{name} = {shortened(_number(value), VALUE_MAX)}" for name, value in given.items()]
    return [", ".join(told)] if told else []


def _number(value: object) -> str:
    return short(value) if isinstance(value, float) else str(value)


def _inside(part: Mechanism) -> tuple[tuple[Mechanism, int], ...]:
    """What a transformation is made from, as it was written."""
    if isinstance(part, Transformation):
        return part.base.parts
    if isinstance(part, Parallel):
        return tuple((cell, 1) for cell in part.cells)
    return () if part.parts[0][0] is part else part.parts


def _several(mechanism: Mechanism) -> bool:
    return sum(count for _, count in mechanism.parts) > 1


def _plain(text: str) -> str:
    """Without the marks of code."""
    return text.replace("`", "")


def neighbours(mechanism: Mechanism) -> Markup:
    """The relation in plain words, and what each kind of part says of it."""
    said = [element("p", neighbours_said(mechanism))]
    if isinstance(mechanism, training):
        return joined(said)
    texts = dict.fromkeys((kind(part), text) for part in _all(mechanism) if (text := getattr(part, "relations", "")))
    return joined([*said, listing(joined([element("strong", name), ": ", _plain(text)]) for name, text in texts)])


def _all(mechanism: Mechanism) -> Iterator[Mechanism]:
    """Every part, however deep."""
    for part, _ in mechanism.parts:
        yield part
        for inner, _ in _inside(part):
            yield from _all(inner)
