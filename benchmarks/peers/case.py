"""The cases: what is asked of every tool, read from cases.json; an expression for ours, steps for the others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CASES, TRUTHS, RESULTS = HERE / "cases.json", HERE / "truths.json", HERE / "results.json"
Step = Mapping[str, Any]
NAMES = {
    "gaussian": ("Gaussian", "sigma"),
    "laplace": ("Laplace", "scale"),
    "discrete_gaussian": ("DiscreteGaussian", "sigma"),
    "discrete_laplace": ("DiscreteLaplace", "scale"),
    "randomized_response": ("RandomizedResponse", "p"),
    "pure": ("PureDP", "epsilon"),
    "exponential": ("Exponential", "epsilon"),
}


@dataclass(frozen=True)
class Case:
    """One question: epsilon at delta, the least sigma, the advantage, or the true positives at a rate of false ones."""

    name: str
    section: str
    steps: tuple[Step, ...]
    delta: float = 0.0
    question: str = "epsilon"
    epsilon: float = 0.0
    alpha: float = 0.0

    @property
    def expression(self) -> str:
        """As Tightrope reads it."""
        return " + ".join(text(step) for step in self.steps)

    @property
    def title(self) -> str:
        """What a reader of a table needs."""
        shown = self.expression if len(self.steps) < 5 else f"{text(self.steps[0])} + ... ({len(self.steps)} steps)"
        asked = {
            "epsilon": f"delta {self.delta:g}",
            "sigma": f"epsilon {self.epsilon:g}, delta {self.delta:g}",
            "advantage": "advantage",
            "tpr": f"true positives at {self.alpha:g} false ones",
        }
        return f"`{shown}`, {asked[self.question]}"

    def only(self, *noises: str, without: tuple[str, ...] = ()) -> bool:
        """Whether all noises are among these, and no step has one of the keys."""
        return all(step["noise"] in noises and not any(key in step for key in without) for step in self.steps)


def text(step: Step) -> str:
    """One step as an expression."""
    name, parameter = NAMES[step["noise"]]
    made = f"{name}({parameter}={step[parameter]})"
    if "rate" in step:
        made += f".poisson(rate={step['rate']})"
    if "batch" in step:
        made += f".without_replacement(batch={step['batch']}, records={step['records']})"
    if "allocation" in step:
        made += f".random_allocation(steps={step['allocation']})"
    if "group" in step:
        made += f".group(size={step['group']})"
    return made if step["count"] == 1 else f"{made} * {step['count']}"


def cases() -> dict[str, Case]:
    """By name, in the order of the file."""
    made = [
        Case(**{**row, "steps": tuple(row["steps"]), "delta": float(row.get("delta", 0.0))})
        for row in json.loads(CASES.read_text())["cases"]
    ]
    return {case.name: case for case in made}
