"""PLD_accounting: random allocation, and samples of distributions."""

from __future__ import annotations

from ..case import Case
from .answer import Answer, NotCoveredError, asks, steps_of


def covered(case: Case) -> None:
    """One step, allocated or sampled."""
    asks(case, "epsilon")
    steps_of(case, "gaussian", without=("group", "batch"))
    if len(case.steps) > 1 or not any(key in case.steps[0] for key in ("rate", "allocation")):
        raise NotCoveredError("random allocation and samples only")


def both_ends(case: Case) -> Answer:
    """Both ends for random allocation at its default accuracy; an upper one for samples."""
    import PLD_accounting as library

    (step,) = case.steps
    if "allocation" in step:
        high, low = library.gaussian_allocation_epsilon_range(
            delta=case.delta, sigma=step["sigma"], num_steps=step["allocation"], num_epochs=step["count"]
        )
        return Answer(float(low), float(high))
    from dp_accounting.pld import privacy_loss_distribution as google

    base = google.from_gaussian_mechanism(step["sigma"])
    made = library.subsample_pld(pld=base, sampling_probability=step["rate"])
    return Answer(upper=float(made.self_compose(step["count"]).get_epsilon_for_delta(case.delta)))
