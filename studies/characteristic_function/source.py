"""The talk on the characteristic-function paper, as the page has it."""

from __future__ import annotations

from studies.characteristic_function import views
from studies.characteristic_function.claims import CLAIMS
from studies.page import Source

OPENING = """\
"Optimal Accounting of Differential Privacy via Characteristic Function" (Zhu, Dong, Wang 2021), as its authors
presented it in a talk: what it claims, its example code, its figures 1, 3 (the experiments) and 4, and its table 1.
"""

SOURCE = Source(
    "Optimal accounting via the characteristic function",
    OPENING,
    CLAIMS,
    figures=tuple(
        f"characteristic_function.{name}"
        for name in ("talk_slide_1", "talk_figure_1", "experiment_1", "experiment_2", "experiment_3", "talk_figure_4")
    ),
    sections=(views.table,),
)
