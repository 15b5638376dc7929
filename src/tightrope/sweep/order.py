"""The order in which configurations are asked: as good as random, the same in every run, and nothing is kept in memory.

A Feistel network of four rounds permutes 0, ..., 4^b - 1, and what it sends beyond the end is sent on until it comes
back: a permutation of 0, ..., count - 1 (Black, Rogaway 2002, cycle walking). So the slow corner of a grid is spread
over all workers.
"""

from __future__ import annotations

from collections.abc import Iterator

FEISTEL_ROUNDS = 4
WORD = (1 << 64) - 1


def shuffled(count: int, seed: int = 0) -> Iterator[int]:
    """0, ..., count - 1, each once."""
    bits = max((max(count - 1, 1).bit_length() + 1) // 2, 1)
    for place in range(count):
        value = _sent(place, bits, seed)
        while value >= count:
            value = _sent(value, bits, seed)
        yield value


def _sent(place: int, bits: int, seed: int) -> int:
    mask = (1 << bits) - 1
    left, right = place >> bits, place & mask
    for value in range(FEISTEL_ROUNDS):
        left, right = right, left ^ (_mixed(right + (value << 32) + (seed << 40)) & mask)
    return left << bits | right


def _mixed(word: int) -> int:
    """The finaliser of splitmix64 (Steele, Lea, Flood 2014)."""
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & WORD
    return word ^ word >> 31
