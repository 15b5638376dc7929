"""Laplace noise that is truncated, and rounded up to whole numbers if asked.

Cut: the noise is conditioned to [mean + low, mean + high] and moves with the query: some outputs tell everything.
Clamp: the noisy result (rounded up, if integer) is clipped to [low, high]: post-processing, nothing tells everything.
Guarantee: tight for a query that is 0 without the record and at most `sensitivity` with it; a cut at -c and c covers
queries that fall as well. A clamped query that starts elsewhere has another mean.
Reference: Meiser, Mohammadi 2018, Sec. 5.1 (cut) and 7.1 (clamp). Proof: docs/proofs/truncated.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..pairs.truncated.noise import LaplaceNoise
from .parameters import positive
from .truncation import TruncatedNoise


@dataclass(frozen=True, slots=True, repr=False)
class TruncatedLaplace(TruncatedNoise):
    """Adds Laplace noise, cut to bounds that move with the query or clamped to bounds that do not."""

    example = "TruncatedLaplace(scale=200, bounds=[-2500, 2500]) * 512"
    scale: float
    mean: float = 0.0
    bounds: Sequence[float] = ()
    mode: str = "cut"
    integer: bool = False
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", positive("scale", self.scale))
        TruncatedNoise.__post_init__(self)

    def noise(self, shift: Fraction) -> LaplaceNoise:
        return LaplaceNoise(self.scale, shift, self.integer)
