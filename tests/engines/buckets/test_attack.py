"""Eighty plans of the attack; `benchmarks/bucket_attack.py` runs all 26,501."""

from __future__ import annotations

import random

import pytest

from tests.search import FULL

from .attack import attack


@pytest.mark.parametrize("block", range(10) if FULL else (0, 1, 2, 7))
def test_no_plan_is_wrong(block: int) -> None:
    done = [attack(random.Random(f"tests {block} {index}")) for index in range(20)]
    assert not [wrong for found in done if found for wrong in found]
    assert sum(found is not None for found in done) > 10
