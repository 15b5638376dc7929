"""The theorems of transformations with the facts that they need, and which mechanism each transformation takes.

Both tables of docs/transformations.md are asked of the code: of `THEOREMS`, and of every transformation of the registry
made of every mechanism of the catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tightrope as tr
from benchmarks.pages import fitted
from tightrope.core.mechanisms.base import CHAIN, Leaf, Mechanism
from tightrope.core.mechanisms.theorems import THEOREMS, Fact, MissingFact, Theorem
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS
from tightrope.core.values.errors import InvalidParameter

NAMES = {fact: fact.name.lower().replace("_", " ") for fact in Fact}
TAKEN = "yes"


def tables() -> Iterator[str]:
    """The sections of the page."""
    yield "## What each theorem needs\n"
    yield (
        fitted(
            "A theorem is used only where the base has the facts that it needs; [proofs](proofs/facts.md) derive the "
            "facts of each mechanism from those of its parts. A base that lacks one is refused by its name. Of the "
            "theorems about lower ends, which come last, a fact that is missing refuses nothing: the answer then does "
            "not call its lower end attained."
        )
        + "\n"
    )
    for fact in Fact:
        yield fitted(f"- *{NAMES[fact]}*: the base {fact.value}", "  ")
    yield ""
    yield "| theorem | claim | reference | needs |"
    yield "|---|---|---|---|"
    for theorem in (*THEOREMS, CHAIN):
        yield _row(theorem)
    yield "\n## Which mechanism each transformation takes\n"
    yield (
        fitted(
            "Each transformation, with the parameters of its example, of each mechanism; mechanisms that are treated "
            "alike share a row. Where one is refused the fact that it lacks is named."
        )
        + "\n"
    )
    yield from _acceptance()


def _row(theorem: Theorem) -> str:
    page, _, section = theorem.proof.partition(", ")
    proof = f"[{section or 'proof'}](proofs/{page})"
    needs = ", ".join(NAMES[fact] for fact in theorem.needs) or "nothing"
    return f"| {theorem.name} | {theorem.claim} | {theorem.reference}; {proof} | {needs} |"


def _acceptance() -> Iterator[str]:
    names = list(TRANSFORMS)
    yield f"| mechanisms | {' | '.join(name.replace('_', ' ') for name in names)} |"
    yield "|---" * (len(names) + 1) + "|"
    rows: dict[tuple[str, ...], list[str]] = {}
    for kind, make in MECHANISMS.items():
        base = mechanism(make)
        rows.setdefault(tuple(taken(base, name) for name in names), []).append(kind)
    for row, kinds in rows.items():
        yield f"| {', '.join(kinds)} | {' | '.join(row)} |"


def mechanism(make: type[Leaf]) -> Mechanism:
    """One use of it, as its example has it."""
    return tr.parse(make.example).parts[0][0]


def taken(base: Mechanism, name: str) -> str:
    """Whether the transformation takes this base, or the fact that is missing."""
    kind = TRANSFORMS[name]
    model = next(part for part, _ in tr.parse(kind.example).parts if isinstance(part, kind))
    try:
        kind.of(base, **model.arguments)
    except MissingFact as refusal:
        return NAMES[refusal.fact]
    except InvalidParameter as refusal:
        return re.sub(r"[:;,].*", "", str(refusal), flags=re.DOTALL)
    return TAKEN
