"""autodp: Renyi divergences, and the analytical Fourier accountant.

It lives in an environment of its own with scipy 1.11.4, as later ones lack the quadrature that it calls.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

from ..case import Case, Step
from .answer import Answer, NotCoveredError, asks, no_sampled, steps_of

SIGMAS = (0.1, 100.0)
HALVINGS = 30
SLOW = "sgd-1000"  # the one case of sampled noise at which phi-functions are asked


def mechanism(step: Step, phi: bool, side: str = "") -> Any:
    """One use: by its divergences, or by its two phi-functions."""
    from autodp import mechanism_zoo as zoo
    from autodp import transformer_zoo as transformers

    off = {"RDP_off": phi, "phi_off": not phi}
    noise = step["noise"]
    if noise == "gaussian" and "rate" in step and phi:
        # Its SubsampleGaussianMechanism has no phi-function in this release (KeyError: 'gamma'); this transformer does.
        sample = transformers.AmplificationBySampling_pld(PoissonSampling=True, neighboring=f"{side}_only")
        return sample(zoo.GaussianMechanism(sigma=step["sigma"], **off), step["rate"])
    if noise == "gaussian":
        made = zoo.GaussianMechanism(sigma=step["sigma"] / step.get("group", 1), **off)
    elif noise == "laplace":
        made = zoo.LaplaceMechanism(b=step["scale"], **off)
    elif noise == "randomized_response":
        made = zoo.RandresponseMechanism(p=step["p"], **off)
    elif noise == "pure":
        made = zoo.PureDP_Mechanism(eps=step["epsilon"])
    elif noise == "exponential":
        made = zoo.ExponentialMechanism(eps=step["epsilon"])
    else:
        made = zoo.DiscreteGaussianMechanism(sigma=step["sigma"])
    if "rate" in step or "batch" in step:
        sample = transformers.AmplificationBySampling(PoissonSampling="rate" in step)
        rate = step["rate"] if "rate" in step else step["batch"] / step["records"]
        if "batch" in step:
            made.neighboring = "replace_one"
        # The improved bound is proven for Gaussian noise.
        return sample(made, rate, improved_bound_flag=noise == "gaussian")
    return made


def by_divergences(case: Case) -> Answer:
    """Composition and its conversion; its calibrators for sigma."""
    from autodp import calibrator_zoo, mechanism_zoo
    from autodp.transformer_zoo import Composition

    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()):
        if case.question == "sigma":
            (step,) = case.steps
            if "rate" not in step:
                calibrate = calibrator_zoo.ana_gaussian_calibrator()
                made = calibrate(mechanism_zoo.GaussianMechanism, case.epsilon, case.delta)
            else:
                made = calibrator_zoo.eps_delta_calibrator()(
                    lambda sigma: mechanism_zoo.NoisySGD_Mechanism(step["rate"], sigma, step["count"]),
                    case.epsilon,
                    case.delta,
                    SIGMAS,
                )
            return Answer(upper=float(made.params["sigma"]))
        parts = [mechanism(step, phi=False) for step in case.steps]
        made = Composition()(parts, [step["count"] for step in case.steps])
        return Answer(upper=float(made.get_approxDP(case.delta)))


def by_phi_functions(case: Case) -> Answer:
    """ComposeAFA, the larger of both sides; epsilon by halving on its delta, as its own search ends near 0."""
    from autodp.transformer_zoo import ComposeAFA

    warnings.simplefilter("ignore")
    counts, found = [step["count"] for step in case.steps], []
    with contextlib.redirect_stdout(io.StringIO()):
        for side in ("remove", "add") if any("rate" in step for step in case.steps) else ("remove",):
            made = ComposeAFA()([mechanism(step, True, side) for step in case.steps], counts)
            found.append(halved(made.get_approx_delta, case.delta))
    return Answer(estimate=max(found))


def has_divergences(case: Case) -> None:
    """What it has a mechanism for."""
    asks(case, "epsilon", "sigma")
    noises = ("gaussian", "laplace", "randomized_response", "pure", "discrete_gaussian", "exponential")
    steps_of(case, *noises, without=("allocation",))
    no_sampled(case, key="group")


def has_phi_functions(case: Case) -> None:
    """What has one; of sampled noise it takes minutes."""
    asks(case, "epsilon")
    steps_of(case, "gaussian", "laplace", "randomized_response", without=("batch", "allocation"))
    no_sampled(case, key="group")
    if any("rate" in step for step in case.steps) and case.name != SLOW:
        raise NotCoveredError("phi-functions of sampled noise take minutes: asked once")


def halved(delta: Callable[[float], Any], wanted: float) -> float:
    """Where delta falls to what is wanted."""
    low, high = 0.0, 1.0
    while float(delta(high)) > wanted and high < 2.0**12:
        low, high = high, 2.0 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if float(delta(middle)) > wanted else (low, middle)
    return high
