"""What a process says of itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

HELD = 256 << 20  # bytes
STARTED = "from tightrope import child; print(child.held())"
STARTS = f"""
import subprocess, sys
from tightrope import child
large = b"x" * {HELD}
print(child.held())
subprocess.run([sys.executable, "-c", {STARTED!r}], check=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere all counts that is known")
def test_what_a_process_held_is_not_what_its_parent_held() -> None:
    """Else each process of a large server would be replaced after each answer."""
    told = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, check=True).stdout
    own, started = sorted(map(int, told.split()), reverse=True)
    assert own > HELD > started > 0
