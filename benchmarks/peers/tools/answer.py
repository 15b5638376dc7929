"""What a tool says of a case."""

from __future__ import annotations

from typing import NamedTuple

from ..case import Case


class Answer(NamedTuple):
    """The ends that a tool claims, None where it claims none; for what is asked of sigma, upper is the sigma to use."""

    lower: float | None = None
    upper: float | None = None
    estimate: float | None = None


class NotCoveredError(Exception):
    """The library has no such question; the message says what is missing."""


def steps_of(case: Case, *noises: str, without: tuple[str, ...] = ("group", "batch", "allocation")) -> None:
    """Refuses what is not made of these noises, or has one of the keys."""
    if not case.only(*noises, without=without):
        missing = {step["noise"] for step in case.steps} - set(noises) or {
            key for step in case.steps for key in without if key in step
        }
        raise NotCoveredError(f"no {', '.join(sorted(missing))}")


def asks(case: Case, *questions: str) -> None:
    """Refuses other questions."""
    if case.question not in questions:
        raise NotCoveredError(f"no question of {case.question}")


def no_sampled(case: Case, *noises: str, key: str = "noise") -> None:
    """Refuses samples of these noises, or of groups."""
    for step in case.steps:
        if "rate" in step and (step.get(key) in noises if key == "noise" else key in step):
            raise NotCoveredError(f"no samples of {step['noise'] if key == 'noise' else key + 's'}")
