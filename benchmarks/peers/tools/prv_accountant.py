"""prv-accountant: intervals by the Fourier transform of the loss on a mesh."""

from __future__ import annotations

from typing import Any

from ..case import Case, Step
from .answer import Answer, NotCoveredError, steps_of

EPSILON_ERROR = 0.01
DELTA_SHARE = 1000.0  # delta_error is delta over this, as its documentation advises


def law(step: Step) -> Any:
    """One use."""
    import prv_accountant as library

    noise = step["noise"]
    if noise == "gaussian" and "rate" in step:
        return library.PoissonSubsampledGaussianMechanism(
            noise_multiplier=step["sigma"], sampling_probability=step["rate"]
        )
    if "rate" in step:
        raise NotCoveredError("no sampled Laplace noise")
    if noise == "gaussian":
        return library.GaussianMechanism(noise_multiplier=step["sigma"] / step.get("group", 1))
    if noise == "laplace":
        return library.LaplaceMechanism(mu=1.0 / step["scale"])
    return library.PureDPMechanism(step["epsilon"])


def interval(case: Case) -> Answer:
    """Its interval."""
    import prv_accountant as library
    from prv_accountant import dpsgd

    steps_of(case, "gaussian", "laplace", "pure", without=("batch", "allocation"))
    if any("group" in step and "rate" in step for step in case.steps):
        raise NotCoveredError("no groups of sampled records")
    if case.question == "sigma":
        (step,) = case.steps
        if "rate" not in step:
            raise NotCoveredError("no calibration without samples")
        return Answer(upper=float(dpsgd.find_noise_multiplier(step["rate"], step["count"], case.epsilon, case.delta)))
    if case.question != "epsilon":
        raise NotCoveredError(f"no question of {case.question}")
    counts = [step["count"] for step in case.steps]
    accountant = library.PRVAccountant(
        prvs=[law(step) for step in case.steps],
        max_self_compositions=counts,
        eps_error=EPSILON_ERROR,
        delta_error=case.delta / DELTA_SHARE,
    )
    low, estimate, high = accountant.compute_epsilon(delta=case.delta, num_self_compositions=counts)
    return Answer(float(low), float(high), float(estimate))
