"""A sweep in its parts: its file, its plan, who answers, its journal, and the files that it writes."""

from __future__ import annotations

from ..sweep.definition import Definition, read_definition
from ..sweep.executor import Executor
from ..sweep.journal import Journal
from ..sweep.local import LocalProcesses
from ..sweep.picture import COLUMNS_SHOWN, PICTURE_ROWS_MAX, check_axes, scene_of
from ..sweep.picture import draw as draw_map
from ..sweep.plan import Plan
from ..sweep.run import executor_of
from ..sweep.table import SweepRow, Tally, columns_of
from ..sweep.writers import check_parquet, kinds_of, write_csv, write_jsonl, write_parquet

__all__ = [
    "check_axes",
    "check_parquet",
    "columns_of",
    "COLUMNS_SHOWN",
    "Definition",
    "draw_map",
    "Executor",
    "executor_of",
    "Journal",
    "kinds_of",
    "LocalProcesses",
    "PICTURE_ROWS_MAX",
    "Plan",
    "read_definition",
    "scene_of",
    "SweepRow",
    "Tally",
    "write_csv",
    "write_jsonl",
    "write_parquet",
]
