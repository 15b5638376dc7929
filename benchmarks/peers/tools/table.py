"""Every tool: who computes, what its number claims, and how it was set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..case import Case
from . import autodp, dp_accounting, opacus, pld_accounting, prv_accountant, riskcal, tightrope
from .answer import Answer


@dataclass(frozen=True)
class Tool:
    """One way to ask one library."""

    name: str
    package: str
    covers: Callable[[Case], None]  # raises NotCoveredError, without the library
    ask: Callable[[Case], Answer]
    claim: str
    setting: str

    @property
    def kind(self) -> str:
        """What is claimed, in two words."""
        if self.claim.startswith("estimate"):
            return "estimate"
        return "upper end" if self.claim.startswith("upper") else "both ends"


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "tightrope",
            "tightrope",
            tightrope.covered,
            tightrope.certified,
            "interval that contains the truth, rounding included",
            "default",
        ),
        Tool(
            "dp-accounting",
            "dp-accounting",
            dp_accounting.has_distribution,
            dp_accounting.by_distribution,
            'upper bound: its estimates are "pessimistic"',
            "PLDAccountant, default interval 1e-4",
        ),
        Tool(
            "dp-accounting-fine",
            "dp-accounting",
            dp_accounting.has_distribution,
            dp_accounting.by_finer_distribution,
            'upper bound: its estimates are "pessimistic"',
            "PLDAccountant, interval 1e-5",
        ),
        Tool(
            "dp-accounting-rdp",
            "dp-accounting",
            dp_accounting.has_divergences,
            dp_accounting.by_divergences,
            "upper bound",
            "RdpAccountant, default",
        ),
        Tool(
            "prv-accountant",
            "prv-accountant",
            prv_accountant.covered,
            prv_accountant.interval,
            "lower and upper bound, and an estimate between",
            "eps_error 0.01 (its default for DP-SGD is 0.1), delta_error delta/1000",
        ),
        Tool("autodp", "autodp", autodp.has_divergences, autodp.by_divergences, "upper bound", "Composition, default"),
        Tool(
            "autodp-afa",
            "autodp",
            autodp.has_phi_functions,
            autodp.by_phi_functions,
            "estimate",
            "ComposeAFA, default; epsilon by halving on its delta",
        ),
        Tool("opacus-rdp", "opacus", opacus.covered, opacus.by_rdp, "upper bound", "accountant rdp, default"),
        Tool(
            "opacus-prv",
            "opacus",
            opacus.covered,
            opacus.by_prv,
            'upper bound: "we want guarantee, not just estimate"',
            "accountant prv, default (eps_error 0.01)",
        ),
        Tool(
            "opacus-gdp",
            "opacus",
            opacus.limit_covered,
            opacus.by_gdp,
            'estimate: it "can underestimate privacy expenditure"',
            "accountant gdp, default",
        ),
        Tool(
            "riskcal",
            "riskcal",
            riskcal.covered,
            riskcal.by_curves,
            'upper bound: dp-accounting\'s epsilon; its README calls what it says of true positives "tpr_bound"',
            "CTDAccountant, default",
        ),
        Tool(
            "PLD_accounting",
            "PLD_accounting",
            pld_accounting.covered,
            pld_accounting.both_ends,
            "lower and upper bound for random allocation, upper bound for samples",
            "default accuracy; without numba",
        ),
    )
}
