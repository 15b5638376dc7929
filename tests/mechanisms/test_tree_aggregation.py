from __future__ import annotations

import math

import pytest

import tightrope as tr


def nodes(steps: int) -> list[range]:
    """Dyadic intervals of steps that end by the last one."""
    found = []
    for level in range(steps.bit_length()):
        width = 2**level
        found += [range(start, start + width) for start in range(0, steps - width + 1, width)]
    return found


def online(steps: int) -> list[set[int]]:
    """What the binary mechanism tells at each step, by its lowest bit: the sum of the bits below, and of the step."""
    sums: dict[int, set[int]] = {}
    told = []
    for step in range(1, steps + 1):
        lowest = (step & -step).bit_length() - 1
        sums[lowest] = {step - 1}.union(*(sums[level] for level in range(lowest)))
        told.append(set(sums[lowest]))
    return told


@pytest.mark.parametrize("steps", range(1, 65))
def test_levels_are_the_nodes_that_hold_the_first_step(steps: int) -> None:
    tree, few = [set(node) for node in nodes(steps)], online(steps)
    assert all(node in tree for node in few)
    for told in (tree, few):
        held = [sum(step in node for node in told) for step in range(steps)]
        assert max(held) == held[0] == tr.TreeAggregation(sigma=1.0, steps=steps).levels
    # Up to the root of a tree that is padded: as of so many steps.
    padded = 2 ** math.ceil(math.log2(steps))
    assert tr.TreeAggregation(sigma=1.0, steps=padded).levels == math.ceil(math.log2(steps)) + 1


def test_it_is_one_gaussian() -> None:
    tree, noise = tr.TreeAggregation(sigma=3.0, steps=1023, sensitivity=0.5), tr.Gaussian(sigma=3.0, sensitivity=0.5)
    assert tree.epsilon(1e-6) == (noise * 10).epsilon(1e-6)
    assert tr.TreeAggregation(sigma=2.0, steps=1).delta(1.0) == tr.Gaussian(sigma=2.0).delta(1.0)
    assert tree.group(2).epsilon(1e-6).upper == pytest.approx((noise * 40).epsilon(1e-6).upper, rel=1e-12)
    assert tr.TreeAggregation(sigma=1.0, steps=2**999).levels == 1000


@pytest.mark.parametrize("steps", [0, -1, 1.5, math.nan])
def test_steps_are_counted(steps: float) -> None:
    with pytest.raises(tr.InvalidParameter, match="steps"):
        tr.TreeAggregation(sigma=1.0, steps=steps)  # type: ignore[arg-type]
