"""Tightrope, as it comes."""

from __future__ import annotations

from ..case import Case
from .answer import Answer


def covered(case: Case) -> None:
    """Everything here."""


def certified(case: Case) -> Answer:
    """The certified interval; for sigma, the one that misses the target and the one that meets it."""
    import tightrope as tr

    if case.question == "sigma":
        expression = case.expression.replace("?", "{sigma!r}")
        found = tr.calibrate(
            lambda sigma: tr.parse(expression.format(sigma=sigma)), epsilon=case.epsilon, delta=case.delta
        )
        return Answer(found.missed.value if found.missed else None, found.value)
    run = tr.parse(case.expression)
    if case.question == "advantage":
        bound = run.advantage()
    elif case.question == "tpr":
        bound = run.tpr(case.alpha)
    else:
        bound = run.epsilon(case.delta)
    # Composed, its lower end is that of the dominating pair, as its description says: no claim about the mechanism.
    dominates = any(step["noise"] == "exponential" and step["count"] > 1 for step in case.steps)
    return Answer(None if dominates else bound.lower, bound.upper)
