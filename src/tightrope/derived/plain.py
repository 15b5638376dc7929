"""Pairs of simpler make below and above one, for where its own law tells too little.

Guarantee: lower <= pair <= upper, as profiles, also when composed: maps of pairs keep their order (`operators.remake`).
Proof: docs/proofs/joint.md, section 2.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from ..operators import remake, simpler_ends
from ..pair import Pair


class PlainEnds(NamedTuple):
    """Pairs below, the most telling ones first, and one above."""

    below: tuple[Pair, ...]
    above: Pair


def plain_ends(pair: Pair) -> PlainEnds:
    """All are the pair itself where nothing simpler is known."""
    known = simpler_ends(pair)
    if known is not None:
        below, above = known
        return PlainEnds(tuple(each for one in below for each in plain_ends(one).below), plain_ends(above).above)
    bases = pair.bases()
    inside = [plain_ends(base) for base in bases]
    if all(ends.above is base for ends, base in zip(inside, bases, strict=True)):
        return PlainEnds((pair,), pair)
    rows = zip_longest(*(ends.below for ends in inside))
    chosen = (tuple(one or ends.below[-1] for one, ends in zip(row, inside, strict=True)) for row in rows)
    return PlainEnds(tuple(remake(pair, row) for row in chosen), remake(pair, tuple(ends.above for ends in inside)))
