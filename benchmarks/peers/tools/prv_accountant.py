"""prv-accountant: intervals by the Fourier transform of the loss on a mesh."""

from __future__ import annotations

from typing import Any

from ..case import Case, Step
from .answer import Answer, NotCoveredError, asks, no_sampled, steps_of

EPSILON_ERROR = 0.01
DELTA_SHARE = 1000.0  # delta_error is delta over this, as its documentation advises


def covered(case: Case) -> None:
    """What it has a law for; its search for sigma is that of DP-SGD."""
    asks(case, "epsilon", "sigma")
    steps_of(case, "gaussian", "laplace", "pure", without=("batch", "allocation"))
    no_sampled(case, "laplace")
    no_sampled(case, key="group")
    if case.question == "sigma" and "rate" not in case.steps[0]:
        raise NotCoveredError("no calibration without samples")


def law(step: Step) -> Any:
    """One use."""
    import prv_accountant as library

    noise = step["noise"]
    if noise == "gaussian" and "rate" in step:
        return library.PoissonSubsampledGaussianMechanism(
            noise_multiplier=step["sigma"], sampling_probability=step["rate"]
        )
    if noise == "gaussian":
        return library.GaussianMechanism(noise_multiplier=step["sigma"] / step.get("group", 1))
    if noise == "laplace":
        return library.LaplaceMechanism(mu=1.0 / step["scale"])
    return library.PureDPMechanism(step["epsilon"])


def interval(case: Case) -> Answer:
    """Its interval."""
    import prv_accountant as library
    from prv_accountant import dpsgd

    if case.question == "sigma":
        (step,) = case.steps
        return Answer(upper=float(dpsgd.find_noise_multiplier(step["rate"], step["count"], case.epsilon, case.delta)))
    counts = [step["count"] for step in case.steps]
    accountant = library.PRVAccountant(
        prvs=[law(step) for step in case.steps],
        max_self_compositions=counts,
        eps_error=EPSILON_ERROR,
        delta_error=case.delta / DELTA_SHARE,
    )
    low, estimate, high = accountant.compute_epsilon(delta=case.delta, num_self_compositions=counts)
    return Answer(float(low), float(high), float(estimate))
