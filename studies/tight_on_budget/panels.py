"""Panels that several figures of section 7 share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studies.asking import certified, deltas, grid
from studies.figure import DELTA, FACTOR, Dot, Line, Panel
from studies.tight_on_budget.vuvuzela import TARGET, Noise, Original
from tightrope import Mechanism

Run = Callable[[Noise, int], Mechanism]
Analysis = Callable[[Noise, int], Original]

FACTORS = grid(1.0, 3.5, 26)


def curves(run: Run, noises: Sequence[Noise], rounds: int) -> list[Line]:
    """delta over e^epsilon for each noise."""
    return [deltas(str(noise), run(noise, rounds), FACTORS) for noise in noises]


def graph(title: str, lines: Sequence[Line], dotted: Noise, original: Original, floor: float = 1e-12) -> Panel:
    """Curves after so many rounds, the original analysis as a dot, and the target."""
    dot = Dot(f"{dotted}, original analysis", original.factor, original.delta)
    return Panel(
        title, FACTOR, DELTA, lines=lines, dots=[dot], target=TARGET, y_limits=(floor, 1.0), x_limits=(1.0, 3.5)
    )


def growth(
    run: Run, analysis: Analysis, noise: Noise, originals: Sequence[Noise], counts: Sequence[int]
) -> tuple[Panel, Panel]:
    """e^epsilon and delta over the rounds; ours at the other coordinate of the last of the originals."""
    best = [analysis(originals[-1], count) for count in counts]
    runs = [run(noise, count) for count in counts]
    epsilons = [each.epsilon(there.delta, accuracy=1e-3) for each, there in zip(runs, best, strict=True)]
    levels = [each.delta(there.epsilon, accuracy=1e-2) for each, there in zip(runs, best, strict=True)]
    ours = certified(f"{noise}, certified", counts, epsilons)
    theirs = [(each, [analysis(each, count) for count in counts]) for each in originals]
    return (
        Panel(
            "epsilon",
            "rounds",
            "$\\varepsilon$",
            lines=[ours, *(Line(f"{each}, original", counts, [o.epsilon for o in found]) for each, found in theirs)],
            log_x=True,
        ),
        Panel(
            "delta",
            "rounds",
            DELTA,
            lines=[
                certified(f"{noise}, certified", counts, levels),
                *(Line(f"{each}, original", counts, [o.delta for o in found]) for each, found in theirs),
            ],
            log_x=True,
            y_limits=(1e-12, 1.0),
        ),
    )
