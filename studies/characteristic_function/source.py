"""The talk on the characteristic-function paper, as the page has it."""

from __future__ import annotations

from studies.characteristic_function import infinite, views
from studies.characteristic_function.claims import CLAIMS
from studies.characteristic_function.statements import STATEMENTS
from studies.page import Source

OPENING = """\
"Optimal Accounting of Differential Privacy via Characteristic Function" (Zhu, Dong, Wang 2021), as its authors
presented it in a talk: every numbered statement, what else it claims, its example code, its figures 1, 3 (the
experiments) and 4, and its table 1. A theorem is no finite set of numbers: what is decided is an instance of it,
computed by two ways that share nothing; the proofs are in docs/proofs.
"""

SOURCE = Source(
    "Optimal accounting via the characteristic function",
    OPENING,
    (*STATEMENTS, *infinite.CLAIMS, *CLAIMS),
    figures=tuple(
        f"characteristic_function.{name}"
        for name in ("talk_slide_1", "talk_figure_1", "experiment_1", "experiment_2", "experiment_3", "talk_figure_4")
    ),
    sections=(views.table, infinite.table),
)
