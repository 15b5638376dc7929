"""PLD_accounting: random allocation, and samples of distributions."""

from __future__ import annotations

from ..case import Case
from .answer import Answer, NotCoveredError, epsilon_only, steps_of


def both_ends(case: Case) -> Answer:
    """Both ends for random allocation at its default accuracy; an upper one for samples."""
    import PLD_accounting as library

    epsilon_only(case)
    steps_of(case, "gaussian", without=("group", "batch"))
    if any("allocation" in step for step in case.steps):
        (step,) = case.steps
        high, low = library.gaussian_allocation_epsilon_range(
            delta=case.delta, sigma=step["sigma"], num_steps=step["allocation"], num_epochs=step["count"]
        )
        return Answer(float(low), float(high))
    if not all("rate" in step for step in case.steps) or len(case.steps) > 1:
        raise NotCoveredError("random allocation and samples only")
    from dp_accounting.pld import privacy_loss_distribution as google

    (step,) = case.steps
    base = google.from_gaussian_mechanism(step["sigma"])
    made = library.subsample_pld(pld=base, sampling_probability=step["rate"])
    return Answer(upper=float(made.self_compose(step["count"]).get_epsilon_for_delta(case.delta)))
