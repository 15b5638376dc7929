"""The talk on the characteristic-function paper, as the page has it."""

from __future__ import annotations

from studies.characteristic_function.claims import CLAIMS
from studies.page import Source

OPENING = """\
The experiments of "Optimal Accounting of Differential Privacy via Characteristic Function" (Zhu, Dong, Wang 2021).
"""

SOURCE = Source(
    "Optimal accounting via the characteristic function",
    OPENING,
    CLAIMS,
    figures=tuple(f"characteristic_function.experiment_{number}" for number in (1, 2, 3)),
)
