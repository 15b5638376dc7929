"""What `tightrope train` says, as JSON: schema/training.json describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import Bound, Frontier, Samplings, training
from ..extend import documents, result
from ..extend.documents import plain
from ..extend.tables import linked
from ..extend.training import LOADERS
from .options import given_date

if TYPE_CHECKING:
    from .train_answer import TrainAnswer


def document(answer: TrainAnswer) -> str:
    """One object: the run with its answer, or the rows of a table; and by epoch and compared where it was asked."""
    order = answer.order
    content: dict[str, Any] = {"quantity": "training", "delta": order.delta}
    if order.epsilon is not None:
        content["epsilon"] = order.epsilon
    if answer.run is not None:
        content["run"] = run_document(answer.run)
    if answer.result is not None:
        content["result"] = answer.result.document()
    if answer.calibration is not None:
        content["calibration"] = result.calibration_record(answer.calibration, answer.seconds)
    if isinstance(answer.table, Frontier):
        content["frontier"] = _frontier(answer.table)
    if isinstance(answer.table, Samplings):
        content["samplings"] = _samplings(answer.table)
    if answer.epochs is not None:
        content["epochs"] = [
            {
                "epoch": plain(row.epoch),
                "steps": row.steps,
                "quantity": "epsilon",
                "delta": order.delta,
                "expression": repr(part),
                **_ends(row.epsilon),
            }
            for part, row in zip(answer.epochs.runs, answer.epochs.rows, strict=True)
        ]
    if answer.comparison is not None:
        content["comparison"] = result.comparison_record(answer.comparison)
    if answer.monte_carlo is not None:
        content["monte_carlo"] = answer.monte_carlo.document()
    return documents.write_dated(content, given_date())


def run_document(run: training) -> dict[str, Any]:
    """The run, what it stands for, and what is assumed about its loader."""
    return {
        "expression": repr(run),
        "expanded": repr(run.expanded),
        "steps": run.total_steps,
        "sampling": run.sampling,
        "assumed": LOADERS[run.sampling].assumed,
        **({"noise": run.noise} if run.noise else {}),
        "relation": plain(run.relation),
        "group": run.group_size,
        "theorem": linked(run.sampling_theorem),
    }


def _frontier(table: Frontier) -> dict[str, Any]:
    rows = [
        {
            "given": plain(row.given),
            "calibration": None if row.found is None else result.calibration_record(row.found, row.seconds),
            "refused": row.refused or None,
            "late": row.late,
        }
        for row in table.rows
    ]
    return {"unknown": table.unknown, "over": list(table.over), "plan": plain(table.plan), "rows": rows}


def _samplings(table: Samplings) -> list[dict[str, Any]]:
    found = []
    for row in table.rows:
        asked = None
        if row.run is not None and row.bound is not None:
            asked = result.Result(repr(row.run), "epsilon", {"delta": table.delta}, row.bound, row.seconds).document()
        found.append(
            {
                "sampling": row.sampling,
                "assumed": row.assumed,
                "run": None if row.run is None else run_document(row.run),
                "result": asked,
                "refused": row.refused or None,
            }
        )
    return found


def _ends(bound: Bound) -> dict[str, Any]:
    return {"lower": plain(bound.lower), "upper": plain(bound.upper)}
