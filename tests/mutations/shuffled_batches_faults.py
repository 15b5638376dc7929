"""Faults that the tests of shuffled batches must kill: one record's move for both, boxes to spare, blocks below."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from flint import arb

from tests.mechanisms import test_shuffled_batches as tests
from tightrope.core.losses.finite import largest
from tightrope.core.losses.gaussian import GaussianPair
from tightrope.core.losses.operators.registered import hidden_participation
from tightrope.core.losses.pair import Pair
from tightrope.core.mechanisms import allocation
from tightrope.core.mechanisms.allocation import ShuffledBatches
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch


def move_by_one_record(patch: Patch) -> None:
    """C where a record is replaced, and not 2 C."""
    patch.setattr(ShuffledBatches, "_moved", lambda self, square: self.base.pair(Direction.REMOVE))


def amplify_by_the_sum(patch: Patch) -> None:
    """The pair of the sum of all batches, as if nothing else told more."""

    def pair(self: ShuffledBatches, size: int, direction: Direction) -> Pair:
        return self._witnesses(size)[-1]

    patch.setattr(ShuffledBatches, "group_pair", pair)


def a_box_for_every_batch(patch: Patch) -> None:
    """The last batch as large as the others."""
    plain = allocation.squares_law
    patch.setattr(allocation, "squares_law", lambda balls, boxes: plain(balls, boxes + 1))


def count_as_the_least(patch: Patch) -> None:
    """A block of rare divisions as its least."""
    from tightrope.core.mechanisms import allocation as shuffled_batches

    def blocks(law: list[tuple[int, Fraction]]) -> list[tuple[Fraction, int]]:
        rows = list(law)
        return [(sum((share for _, share in rows), Fraction(0)), rows[0][0])]

    patch.setattr(tests, "square_blocks", blocks)
    patch.setattr(shuffled_batches, "square_blocks", blocks)


def hit_every_batch(patch: Patch) -> None:
    """All coordinates shifted, as if the record were in all batches."""
    plain = hidden_participation.of(GaussianPair)
    patch.setitem(hidden_participation.resolved, GaussianPair, lambda pair, steps, hits: plain(pair, steps, steps))


def cancel(patch: Patch) -> None:
    """The mass above by what is below it, in doubles."""

    def masses(logs: list[arb]) -> list[arb]:
        below = [0.0, *(float(each.exp()) for each in logs), 1.0]
        return [arb(high - low) for low, high in pairwise(below)]

    patch.setattr(largest, "_masses", masses)


def _orders() -> None:
    tests.test_all_orders_lie_between_the_ends((2, 2), 1, 1.0)


FAULTS = (
    Fault("replacing moves by C", move_by_one_record, lambda _: _orders()),
    Fault("amplified by shuffling", amplify_by_the_sum, lambda _: _orders()),
    Fault("a last batch as large", a_box_for_every_batch, lambda _: tests.test_two_divisions_of_two_records()),
    Fault("rare divisions count as less", count_as_the_least, lambda _: tests.test_rare_divisions_count_as_more()),
    Fault("a record in every batch", hit_every_batch, lambda _: _orders()),
    Fault("tails that cancel", cancel, lambda _: tests.test_cells_of_the_largest_coordinate(2.0, 100, 1)),
)
