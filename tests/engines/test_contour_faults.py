"""Every listed fault of the contour is killed by the test that it names."""

from __future__ import annotations

import pytest

from tests.mutations.contour_faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_killed(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    with pytest.MonkeyPatch.context() as clean:
        fault.killed_by(clean)  # the sound engine passes
    fault.apply(monkeypatch)
    with pytest.raises(AssertionError):
        fault.killed_by(monkeypatch)
