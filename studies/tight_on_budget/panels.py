"""Panels that several figures of section 7 share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from studies.asking import SECONDS, certified, deltas, grid
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
    runs: Mapping[str, Callable[[int], Mechanism]],
    analysis: Analysis,
    originals: Sequence[Noise],
    counts: Sequence[int],
) -> tuple[Panel, Panel]:
    """epsilon and delta over the rounds; ours at the other coordinate of the last of the originals."""
    theirs = [(noise, [analysis(noise, count) for count in counts]) for noise in originals]
    best = list(zip(counts, theirs[-1][1], strict=True))
    epsilons = [
        certified(
            label, counts, [run(count).epsilon(there.delta, accuracy=1e-3, seconds=SECONDS) for count, there in best]
        )
        for label, run in runs.items()
    ]
    levels = [
        certified(
            label, counts, [run(count).delta(there.epsilon, accuracy=1e-2, seconds=SECONDS) for count, there in best]
        )
        for label, run in runs.items()
    ]
    epsilons += [Line(f"{noise}, original", counts, [each.epsilon for each in found]) for noise, found in theirs]
    levels += [Line(f"{noise}, original", counts, [each.delta for each in found]) for noise, found in theirs]
    return (
        Panel("epsilon", "rounds", "$\\varepsilon$", lines=epsilons, log_x=True),
        Panel("delta", "rounds", DELTA, lines=levels, log_x=True),
    )
