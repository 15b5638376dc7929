"""dp-accounting: privacy loss distributions by connecting the dots, and Renyi divergences."""

from __future__ import annotations

import math
from typing import Any

from ..case import Case, Step
from .answer import Answer, asks, no_sampled, steps_of

INTERVAL, FINER = 1e-4, 1e-5


def has_distribution(case: Case) -> None:
    """What PLDAccountant, or the distributions beneath it, have a name for."""
    asks(case, "epsilon", "sigma")
    noises = ("gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "randomized_response", "pure")
    steps_of(case, *noises, without=("batch", "allocation"))


def has_divergences(case: Case) -> None:
    """What RdpAccountant has a name for."""
    asks(case, "epsilon", "sigma")
    steps_of(case, "gaussian", "laplace", "randomized_response", without=("allocation",))
    no_sampled(case, "laplace")
    no_sampled(case, key="group")


def event(step: Step) -> Any:
    """One use, as its events describe it."""
    from dp_accounting import dp_event as library

    noise = step["noise"]
    if noise == "gaussian" and "group" in step and "rate" in step:
        size, rate = step["group"], step["rate"]
        weights = [math.comb(size, j) * rate**j * (1.0 - rate) ** (size - j) for j in range(size + 1)]
        return library.MixtureOfGaussiansDpEvent(step["sigma"], list(range(size + 1)), weights)
    if noise == "gaussian":
        made = library.GaussianDpEvent(step["sigma"] / step.get("group", 1))
    elif noise == "laplace":
        made = library.LaplaceDpEvent(step["scale"])
    elif noise == "discrete_laplace":
        made = library.DiscreteLaplaceDpEvent(1.0 / step["scale"], 1)
    else:
        made = library.RandomizedResponseDpEvent(2.0 * (1.0 - step["p"]), 2)
    if "batch" in step:
        return library.SampledWithoutReplacementDpEvent(step["records"], step["batch"], made)
    return library.PoissonSampledDpEvent(step["rate"], made) if "rate" in step else made


def distribution(step: Step, interval: float) -> Any:
    """All uses of a step: for those that have a distribution and no event, and for Gaussian noise beside them."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as library

    if step["noise"] == "gaussian":
        # As its accountant does: many Gaussians are one.
        return library.from_gaussian_mechanism(
            step["sigma"] / math.sqrt(step["count"]), value_discretization_interval=interval
        )
    if step["noise"] == "pure":
        pure = common.DifferentialPrivacyParameters(step["epsilon"], 0.0)
        made = library.from_privacy_parameters(pure, value_discretization_interval=interval)
    else:
        made = library.from_discrete_gaussian_mechanism(step["sigma"], value_discretization_interval=interval)
    return made.self_compose(step["count"])


def relation(case: Case) -> Any:
    """Replacing one for batches of fixed size and for reports, as its events demand."""
    from dp_accounting import NeighboringRelation

    replaces = any("batch" in step or step["noise"] == "randomized_response" for step in case.steps)
    return NeighboringRelation.REPLACE_ONE if replaces else NeighboringRelation.ADD_OR_REMOVE_ONE


def accounted(case: Case, accountant: Any) -> float:
    """Every step by its event."""
    for step in case.steps:
        accountant.compose(event(step), step["count"])
    return float(accountant.get_epsilon(case.delta))


def composed(case: Case, interval: float) -> float:
    """Events, or distributions where there is no event for one of the steps."""
    from dp_accounting import pld

    if not any(step["noise"] in ("pure", "discrete_gaussian") for step in case.steps):
        accountant = pld.PLDAccountant(relation(case), value_discretization_interval=interval)
        return accounted(case, accountant)
    total = None
    for step in case.steps:
        made = distribution(step, interval)
        total = made if total is None else total.compose(made)
    assert total is not None
    return float(total.get_epsilon_for_delta(case.delta))


def calibrated(case: Case, accountant: Any) -> float:
    """Its own search, from 0.1 to 100."""
    import dp_accounting as library

    (step,) = case.steps
    return float(
        library.calibrate_dp_mechanism(
            accountant,
            lambda sigma: library.SelfComposedDpEvent(event({**step, "sigma": sigma}), step["count"]),
            case.epsilon,
            case.delta,
            library.ExplicitBracketInterval(0.1, 100.0),
        )
    )


def pld_at(case: Case, interval: float) -> Answer:
    """Its upper end."""
    from dp_accounting import pld

    if case.question == "sigma":
        return Answer(upper=calibrated(case, lambda: pld.PLDAccountant(value_discretization_interval=interval)))
    return Answer(upper=composed(case, interval))


def by_distribution(case: Case) -> Answer:
    """At the interval that is its default."""
    return pld_at(case, INTERVAL)


def by_finer_distribution(case: Case) -> Answer:
    """Ten times finer."""
    return pld_at(case, FINER)


def by_divergences(case: Case) -> Answer:
    """Renyi divergences at its default orders."""
    from dp_accounting import rdp

    if case.question == "sigma":
        return Answer(upper=calibrated(case, rdp.RdpAccountant))
    return Answer(upper=accounted(case, rdp.RdpAccountant(neighboring_relation=relation(case))))
