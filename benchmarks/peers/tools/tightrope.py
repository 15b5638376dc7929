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
    return Answer(bound.lower, bound.upper)
