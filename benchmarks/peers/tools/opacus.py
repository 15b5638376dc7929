"""Opacus's accountants, without torch: `pip install --no-deps opacus`, and only the package of accountants is imported.

Two stand-ins make that possible, and nothing of what is computed is in them: the package `opacus`, so that its own
`__init__`, which needs torch, does not run; and the name DPOptimizer, which one signature mentions.
"""

from __future__ import annotations

import sys
import warnings
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..case import Case
from .answer import Answer, NotCoveredError, asks, steps_of


def accountants() -> Any:
    """The package opacus.accountants, as installed."""
    if "opacus" not in sys.modules:
        found = find_spec("opacus")
        if found is None or found.submodule_search_locations is None:
            raise ModuleNotFoundError("pip install --no-deps opacus")
        package, optimizers = ModuleType("opacus"), ModuleType("opacus.optimizers")
        package.__path__ = list(found.submodule_search_locations)
        optimizers.DPOptimizer = object  # type: ignore[attr-defined]
        sys.modules.update({"opacus": package, "opacus.optimizers": optimizers})
    import opacus.accountants

    return opacus.accountants


def covered(case: Case) -> None:
    """Gaussian noise, sampled or not."""
    asks(case, "epsilon", "sigma")
    steps_of(case, "gaussian")


def limit_covered(case: Case) -> None:
    """As the others, with one noise and one rate."""
    covered(case)
    if len(case.steps) > 1:
        raise NotCoveredError("one noise and one rate only")


def asked(case: Case, name: str) -> float:
    """get_epsilon, or get_noise_multiplier, with its defaults."""
    warnings.simplefilter("ignore")
    library = accountants()
    if case.question == "sigma":
        from opacus.accountants.utils import get_noise_multiplier

        (step,) = case.steps
        return float(
            get_noise_multiplier(
                target_epsilon=case.epsilon,
                target_delta=case.delta,
                sample_rate=step.get("rate", 1.0),
                steps=step["count"],
                accountant=name,
            )
        )
    accountant = library.create_accountant(name)
    # What as many calls of step() leave behind; its own calibration fills the history in this way too.
    accountant.history = [(step["sigma"], step.get("rate", 1.0), step["count"]) for step in case.steps]
    return float(accountant.get_epsilon(delta=case.delta))


def by_rdp(case: Case) -> Answer:
    """Renyi divergences."""
    return Answer(upper=asked(case, "rdp"))


def by_prv(case: Case) -> Answer:
    """Fourier transform of the loss."""
    return Answer(upper=asked(case, "prv"))


def by_gdp(case: Case) -> Answer:
    """The central limit; its documentation warns that this may be too small."""
    return Answer(estimate=asked(case, "gdp"))
