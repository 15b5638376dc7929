"""The study of canaries: its page says what was written down, and a training made anew says so too."""

from __future__ import annotations

import pytest

import tightrope as tr
from studies import canaries


def test_the_page_has_the_table_that_was_recorded() -> None:
    text = canaries.PAGE.read_text("utf-8")
    assert f"{canaries.BEGIN}\n{canaries.table()}\n{canaries.END}" in text
    assert canaries.FIGURE.exists()


def test_every_training_was_audited() -> None:
    found = canaries.recorded()
    assert len(found) == len(canaries.FAULTS) * len(canaries.SIZES) * canaries.TRAININGS
    sound = [row for row in found if row[0] == canaries.SOUND]
    assert not any(refuted for *_, refuted in sound)
    assert max(epsilon for _, _, epsilon, _ in sound) < canaries.RUN.epsilon(canaries.DELTA).lower


@pytest.mark.parametrize("fault", canaries.FAULTS)
def test_a_training_made_anew_says_the_same(fault: str) -> None:
    """Of 100 canaries, the second training."""
    scores, member = canaries.trained(fault, 100, 1)
    found = tr.audit(scores, member, design="one-run", claim=canaries.RUN, delta=canaries.DELTA)
    rows = [row for row in canaries.recorded() if row[:2] == (fault, 100)]
    assert found.epsilon_lower == pytest.approx(rows[1][2], rel=1e-6, abs=1e-9)
    assert found.refuted is rows[1][3]
