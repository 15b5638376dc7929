"""What a bucket holds: numbers with both ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..bound import Bound

if TYPE_CHECKING:
    from ..kernels.enclosure import FloatArray


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket: its index (inf for infinity), the largest loss in it, B, l (real error) and l~ (virtual error)."""

    index: float
    loss: float
    mass: Bound
    real_error: Bound
    virtual_error: Bound


@dataclass(frozen=True, slots=True, eq=False)
class BucketTerms:
    """Numbers by bucket, -n ... n, each between two doubles; [i] is the interval of bucket i."""

    lower: FloatArray
    upper: FloatArray

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper):
            array.setflags(write=False)

    @property
    def centre(self) -> FloatArray:
        """Between both ends: for pictures, not certified."""
        return self.lower + (self.upper - self.lower) / 2.0

    def __len__(self) -> int:
        return len(self.lower)

    def __getitem__(self, index: int) -> Bound:
        n = len(self) // 2
        if not (isinstance(index, (int, np.integer)) and -n <= index <= n):
            raise IndexError(f"buckets have the indices {-n} to {n}, not {index!r:.40}")
        return Bound(float(self.lower[index + n]), float(self.upper[index + n]))

    def __iter__(self) -> Iterator[Bound]:
        return (Bound(low, high) for low, high in zip(self.lower.tolist(), self.upper.tolist(), strict=True))
