"""What questions about one pair share: found again where it is fine enough, and forgotten afterwards."""

from __future__ import annotations

import tightrope as tr
from tightrope.core.engines.joint.bracket import bracket, keeping
from tightrope.core.losses.capabilities import Resolution
from tightrope.core.values.question import Direction

PAIR = tr.Gaussian(sigma=1.0).random_allocation(steps=3).pair(Direction.REMOVE)
COARSE, FINE = Resolution(64, 1e-9, False), Resolution(128, 1e-12, False)


def test_what_is_no_finer_is_found_again() -> None:
    with keeping():
        made = bracket(PAIR, FINE)
        with keeping():
            assert bracket(PAIR, COARSE).upper is made.upper
        assert bracket(PAIR, Resolution(64, 1e-13, False)).upper is not made.upper
        assert bracket(PAIR, Resolution(256, 1e-12, False)).upper is not made.upper
    assert bracket(PAIR, FINE).upper is not made.upper


def test_rows_by_epoch_share_pairs() -> None:
    run = tr.training(records=20, batch=5, epochs=2, sigma=2.0, sampling="allocated")
    for (_, bound), count in zip(run.by_epoch(1e-3), (1, 2), strict=True):
        alone = (tr.Gaussian(sigma=2.0).random_allocation(steps=4) * count).epsilon(1e-3)
        assert bound.lower <= alone.upper
        assert alone.lower <= bound.upper
        assert bound.width <= 1e-3 * bound.upper
