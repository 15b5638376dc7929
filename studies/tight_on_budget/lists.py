"""The small lists of figures 4 to 9: nine buckets and infinity, as the paper draws them, but of a real mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable

from studies.figure import Bars, Panel
from tightrope import Bound, BucketList, Buckets, Direction, Gaussian, Mechanism
from tightrope.core.buckets import Bucket

FACTOR, N = 1.5, 4
AGREE = 1e-9  # both ends of every number that is drawn as a bar lie this close
SAID = "Bars are upper ends; both ends of each number agree to nine digits after the point."
Height = Callable[[Bucket], Bound]


def mass(bucket: Bucket) -> Bound:
    """B(i)."""
    return bucket.mass


def share(bucket: Bucket) -> Bound:
    """B(i)/f^i: what the label of a bucket says of its mass under B."""
    fall = math.exp(-bucket.loss)
    return Bound(bucket.mass.lower * fall, bucket.mass.upper * fall)


def small(
    mechanism: Mechanism | None = None, direction: Direction = Direction.REMOVE, factor: float = FACTOR
) -> BucketList:
    """The leaf of a mechanism with nine buckets; of Gaussian noise of sigma 1 where none is given."""
    return Buckets(factor=factor, buckets=N).leaf(mechanism or Gaussian(sigma=1.0), direction=direction)


def place(index: float) -> float:
    """Where a bucket stands: infinity half a bucket further right than the next one would."""
    return index if index < math.inf else N + 1.5


def ticks() -> list[tuple[float, str]]:
    """The indices, infinity among them."""
    return [*((index, str(index)) for index in range(-N, N + 1)), (place(math.inf), "$\\infty$")]


def bars(label: str, found: BucketList, height: Height = mass, chosen: Callable[[float], bool] | None = None) -> Bars:
    """The buckets that are chosen, all of them without a choice."""
    kept = [bucket for bucket in found if chosen is None or chosen(bucket.index)]
    for bucket in kept:
        assert height(bucket).width <= AGREE
    return Bars(label, [place(bucket.index) for bucket in kept], [height(bucket).upper for bucket in kept])


def panel(title: str, *drawn: Bars, y_limits: tuple[float | None, float | None] = (None, None)) -> Panel:
    """Bars over the indices."""
    limits = (-N - 0.8, place(math.inf) + 0.8)
    return Panel(title, "index", "mass", bars=drawn, ticks=ticks(), log_y=False, x_limits=limits, y_limits=y_limits)
