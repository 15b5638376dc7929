"""Every facet that a pair offers is held against the oracle: all rows, plain and sampled, both directions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import pytest

from tests.conformance.cases import ROWS, STANDARD, Row
from tests.conformance.facets import basics, brackets, cumulants, gaussians, lists, pooled, samples, steps, structure
from tests.conformance.facets.asked import Asked, every
from tightrope.core.losses.capabilities import Moments
from tightrope.core.losses.operators import registered as operators
from tightrope.core.losses.pair import Pair

# Each says whether the facet is offered, and fails where it is wrong.
CHECKS: dict[str, Callable[[Asked], bool]] = {
    "tails": basics.tails,
    "ball_tails": basics.ball_tails,
    "hockey_stick": basics.hockey_stick,
    "ball_hockey_stick": basics.ball_hockey_stick,
    "reversed": basics.reversed_pair,
    "infinite_mass": basics.infinite_mass,
    "loss_range": basics.loss_range,
    "has_bounded_loss": basics.bounded,
    "hockey_stick_cost": basics.hockey_stick_cost,
    "cgf": cumulants.cgf,
    "sampled_cgf": cumulants.sampled_cgf,
    "log_moment": cumulants.log_moment,
    "log_moment_above": cumulants.log_moment_above,
    "zcdp_rho": cumulants.zcdp_rho,
    "gdp_mu": gaussians.gdp_mu,
    "gdp_mu_lower": gaussians.gdp_mu_lower,
    "normal_shift": gaussians.normal_shift,
    "approximate_zcdp": gaussians.approximate_zcdp,
    "atoms": lists.atoms,
    "finite_law": lists.finite,
    "lattice": lists.lattice,
    "compose_exact": structure.compose_exact,
    "condition_on_finite_loss": structure.conditioned_on_finite_loss,
    "sampled_in_family": structure.sampled,
    "allocated_pair_of": steps.allocated,
    "hidden_participation": steps.hidden_participation,
    "simpler_ends": steps.plainer,
    "ratio_transform": steps.ratio_transform,
    "subsampled_fixed_size": samples.fixed_size_subsampled,
    "shift_mixture": samples.mixture,
    "sampled_replacement": samples.sampled_replacement,
    "shifted_pair": structure.shifted,
    "chained_pair": structure.group_privacy,
    "sampling_of": structure.sampling,
    "factors_of": structure.factors,
    "visible_participation": structure.visible_participation,
    "divergence": structure.divergence,
    "is_opaque": structure.opaque,
    "bases": brackets.bases,
    "remake": brackets.over,
    "alternatives_of": brackets.alternatives,
    "bracket": brackets.bracket,
    "hockey_stick_bounds": brackets.hockey_stick_bounds,
    "of_bounds": brackets.of_bounds,
    "has_bracket_only": brackets.has_bracket_only,
    "compose_dominating": brackets.compose_dominating,
    "dominated_pairs": brackets.dominated,
    "dominates": brackets.dominates,
    "bin_parameters": pooled.bin_parameters,
    "bin_sampled": pooled.bin_sampled_parameters,
}


def test_every_facet_has_a_check() -> None:
    offered = [*inspect.getmembers(Pair, inspect.isfunction), *inspect.getmembers(Moments, inspect.isfunction)]
    public = {name for name, _ in offered if not name.startswith("_")} - {"moments"}
    public |= {name for name, value in vars(operators).items() if isinstance(value, operators.Operator)}
    public |= {"of_bounds", "has_bounded_loss"}
    missing, gone = sorted(public - set(CHECKS)), sorted(set(CHECKS) - public)
    assert not missing, (
        f"no check of {', '.join(missing)} of a pair: write one in tests/conformance/facets against the "
        "truth of tests/oracle, and name it in CHECKS of tests/conformance/test_facets.py"
    )
    assert not gone, f"{', '.join(gone)} is no facet any more: take it out of CHECKS"


FINITE = {"ApproximateDP", "DiscreteLaplace", "Finite", "Histograms", "PureDP", "RandomizedResponse", "Rounded"} | {
    "BinomialNoise",
    "PrivacyCurve",
    "TradeoffCurve",
}
NOISE = {"Gaussian", "Laplace"}
TRUNCATED = {"TruncatedGaussian", "TruncatedLaplace"}
SMOOTH = NOISE | {"DiscreteGaussian", "Exponential"}
# What is never without a facet: plain, and sampled. One that gets lost would not be missed otherwise.
OFFERED: dict[str, tuple[set[str], set[str]]] = {
    "cgf": (FINITE | SMOOTH | TRUNCATED | {"Density", "Skellam", "GaussianVariance"}, FINITE | NOISE | {"Density"}),
    "sampled_cgf": (set(), NOISE | {"Density"}),
    "log_moment": (FINITE | SMOOTH | TRUNCATED | {"Skellam"} | {"GaussianVariance"}, FINITE),
    "log_moment_above": (set(), SMOOTH | TRUNCATED | {"GaussianVariance"}),
    "zcdp_rho": (
        NOISE | {"DiscreteGaussian", "Exponential", "GaussianVariance", "PureDP", "Skellam"},
        NOISE | {"DiscreteGaussian", "Exponential", "PureDP", "Skellam"},
    ),
    "approximate_zcdp": ({"Skellam"}, set()),
    "gdp_mu": (NOISE | {"Exponential", "PureDP"}, NOISE | {"Exponential", "PureDP"}),
    "gdp_mu_lower": ({"Gaussian", "GaussianVariance"}, {"Gaussian", "GaussianVariance"}),
    "normal_shift": ({"Gaussian"}, set()),
    "atoms": (FINITE | {"DiscreteGaussian", "Skellam"}, FINITE | {"DiscreteGaussian", "Skellam"}),
    "finite_law": (FINITE, FINITE),
    "lattice": ({"DiscreteGaussian", "DiscreteLaplace", "PureDP", "RandomizedResponse"}, set()),
    "compose_exact": (FINITE | NOISE | {"GaussianVariance"}, FINITE),
    "visible_participation": ({"Gaussian"}, {"Gaussian"}),
    "bin_parameters": (set(), {"Gaussian"}),
    "bin_sampled": ({"Gaussian"}, set()),
    "sampled_in_family": (set(), FINITE),
    "allocated_pair_of": ({"Finite", "PureDP", "RandomizedResponse"}, {"PureDP", "RandomizedResponse"}),
    "hidden_participation": ({"Gaussian"}, set()),
    "ratio_transform": ({"Gaussian"}, set()),
    "dominates": (NOISE | {"ApproximateDP", "GaussianVariance"}, NOISE),
    "subsampled_fixed_size": (set(), {"ApproximateDP", "DiscreteLaplace", "PureDP", "RandomizedResponse"}),
    "shift_mixture": (set(), {"Gaussian"}),
    "sampled_replacement": (set(), {"Gaussian"}),
    "shifted_pair": (SMOOTH | {"BinomialNoise", "DiscreteLaplace", "Skellam"}, set()),
    "sampling_of": (
        set(),
        SMOOTH | TRUNCATED | {"Density", "GaussianVariance"},
    ),
    "factors_of": (set(), FINITE | {"Laplace", "DiscreteGaussian", "Exponential", "Density"}),
}
# What extreme rows are asked as well: no quadrature of the oracle reaches them.
CHEAP = (
    "ball_hockey_stick",
    "reversed",
    "infinite_mass",
    "loss_range",
    "has_bounded_loss",
    "atoms",
    "finite_law",
    "lattice",
    "condition_on_finite_loss",
    "visible_participation",
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_facets(row: Row) -> None:
    all_asked = every(row)
    for facet in CHECKS if row in STANDARD or row.blur else CHEAP:
        check(row, facet, all_asked)


def check(row: Row, facet: str, all_asked: Sequence[Asked] = ()) -> None:
    offered = set()
    for asked in all_asked or every(row):
        try:
            if CHECKS[facet](asked):
                offered.add(asked.rate < 1.0)
        except AssertionError as error:
            raise AssertionError(f"{row.name:.120}, rate {asked.rate}, {asked.direction}, {facet}: {error}") from error
    if row in STANDARD:
        name = "Rounded" if getattr(row.mechanism, "integer", False) else type(row.mechanism).__name__
        for sampled, names in zip((False, True), OFFERED.get(facet, ((), ())), strict=True):
            if sampled and not row.mechanism.beside_others:
                continue  # no sample of it is known
            assert name not in names or sampled in offered, f"{name} does not offer {facet} any more"
