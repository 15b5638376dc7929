"""Many kinds of uses between fewer: what a family may know of uses that differ in one number only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..operators import bin_parameters

if TYPE_CHECKING:
    from ..pair import Pair

    Uses = Sequence[tuple[Pair, int]]


class ParameterBinning(NamedTuple):
    """Uses that are dominated, and uses that dominate, all of them taken together; fewer kinds than there were."""

    below: list[tuple[Pair, int]]
    above: list[tuple[Pair, int]]


def bin_parameters_of(uses: Uses, cells: int, mixed: bool) -> ParameterBinning | None:
    """Of a composition: what families pool, and all others as they are; None where none of them pools.

    cells: about how many kinds may be left. mixed: by combinations of two kinds, which are close and known by their
    moments only; else by the next kind on either side.
    """
    families: dict[type[Pair], list[tuple[Pair, int]]] = {}
    for pair, count in uses:
        families.setdefault(type(pair), []).append((pair, count))
    pools, some = ParameterBinning([], []), False
    for like in families.values():
        pooled = bin_parameters(like[0][0], like, max(1, cells * len(like) // len(uses)), mixed)
        some = some or pooled is not None
        pools.below.extend(like if pooled is None else pooled.below)
        pools.above.extend(like if pooled is None else pooled.above)
    return pools if some else None
