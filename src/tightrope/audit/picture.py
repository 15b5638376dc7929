"""What an audit saw, as pictures: the ROC beside what a claim allows, guesses beside those needed, p over epsilon."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.mechanisms.base import Mechanism
from ..core.numerics.enclosures import FloatArray
from ..core.text.expressions import parse
from ..core.values import compute_budget
from ..core.values.calls import rounded, short
from ..core.values.errors import InvalidParameter, WorkExhausted
from ..core.values.question import Direction, Relation
from ..plotting.style import COLOURS, DASHES, LABEL_WIDTH, SIZE, figure_of, sheet, tick, verbatim, wrapped
from .auditing import RARE_SHARE, SLOPES_GUESSES
from .band import roc, roc_band
from .certificates import multipliers
from .claims import SlopeClaim, run_claim, run_epsilons
from .designs import RUNS
from .evidence import WeightedEvent
from .one_run import BOTH, GuessEvent
from .result import AuditResult, AuditStatement
from .wording import SHOWN_DIGITS, least_count

if TYPE_CHECKING:
    from ..plotting.style import Axes, Figure

PICTURE_SECONDS = compute_budget.Rating(
    5.0
)  # of linear programs, which need not come to an end, and of a trade-off curve
WIDE_SIZE, TALL_SIZE = (10.4, 5.4), (SIZE[0], 5.4)  # with names below
P_POINTS, P_MIN, P_TINY = 80, 1e-12, 1e-300  # shown from P_MIN on
ROC_POINTS, CLAIM_POINTS = 1000, 65
GUESS_POINTS = 12  # numbers of guesses for which the least right ones are found
SEEN, NEEDED, REFUTED, FOUND = COLOURS[0], COLOURS[1], COLOURS[5], COLOURS[2]


def draw(
    result: AuditResult, path: str | PathLike[str] | None = None, ax: Axes | None = None, panel: str | None = None
) -> Figure:
    """All that there are, or one; on axes of the caller the first without a name."""
    panels = _panels(result)
    if panel is not None:
        if panel not in panels:
            raise InvalidParameter(f"panel must be one of {', '.join(panels)} for this audit, not {panel!r:.40}")
        panels = [panel]
    panels = panels if ax is None else panels[:1]
    with sheet(path, ax, WIDE_SIZE if len(panels) > 1 else TALL_SIZE) as axes:
        figure = figure_of(axes)
        if len(panels) > 1:
            grid = figure.add_gridspec(1, len(panels))
            axes.set_subplotspec(grid[0])
        for index, name in enumerate(panels):
            DRAWN[name](result, axes if index == 0 else figure.add_subplot(grid[index]))
        return figure


def _panels(result: AuditResult) -> list[str]:
    """Which pictures an audit has."""
    if result.evidence is None:
        raise InvalidParameter("this audit has no picture: its design has no coin, or it was read from a document")
    panels = ["roc"] if result.design == RUNS and result.data is not None else []
    if all(isinstance(test.event, GuessEvent) for test in result.evidence.tests):
        panels.append("guesses")
    if result.delta is not None and result.epsilon_lower is not None:
        panels.append("p")
    if not panels:
        raise InvalidParameter("this audit has no picture: counts of many runs are drawn as p over epsilon: give delta")
    return panels


def draw_roc(result: AuditResult, axes: Axes) -> None:
    """True over false positives, both logarithmic: seen, with the band below that holds at all thresholds at once, and
    the most that the claim allows; where the band is above that, the claim is refuted by eye."""
    assert result.data is not None
    tail = result.settings["tail"]
    sides = {"high": [("", result.data)], "low": [("", result.data.negated())]}.get(
        tail, [(", high scores", result.data), (", low scores", result.data.negated())]
    )
    alpha = _alpha(result) / len(sides)
    least = 0.5 / max(len(result.data.outside), len(result.data.inside))
    places = np.geomspace(least, 1.0, ROC_POINTS)
    statement = _claimed(result)
    rates, allowed = _tprs_upper(statement, least)
    for index, (name, data) in enumerate(sides):
        colour = (SEEN, FOUND)[index]
        fprs, tprs = roc(data)
        seen = np.concatenate([[0.0], tprs])[np.searchsorted(fprs, places, side="right")]
        band = roc_band(data, alpha).at(places)
        shown = seen > 0.0
        axes.plot(places[shown], seen[shown], color=colour, linewidth=1.6, label=f"seen{name}")
        label = f"at least, at all rates at once, {_percent(result.level)} confidence{name}"
        axes.fill_between(places, np.maximum(band, least / 2.0), seen, where=band > 0.0, color=colour, alpha=0.18, lw=0)
        held = band > 0.0
        axes.plot(places[held], band[held], color=colour, linestyle=DASHES[2], linewidth=1.4, label=label)
        limit = allowed[np.searchsorted(rates, places)]  # of the next rate: it rises
        if bool(np.any(band > limit)):
            axes.fill_between(
                places,
                limit,
                band,
                where=band > limit,
                color=REFUTED,
                alpha=0.5,
                linewidth=0,
                label="above that: refuted",
            )
    axes.plot(rates, allowed, color=NEEDED, linestyle=DASHES[1], linewidth=1.6, label=_allows(statement))
    axes.plot([least, 1.0], [least, 1.0], color="#777777", linewidth=1.0, linestyle=(0, (2, 2)), label="guessing")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(least, 1.0)
    axes.set_ylim(least, 1.4)
    tick(axes.xaxis, least, 1.0)
    tick(axes.yaxis, least, 1.0)
    axes.set_xlabel("false positive rate")
    axes.set_ylabel("true positive rate")
    axes.set_title("The attack, and what the claim allows")
    _legend(axes)


def draw_guesses(result: AuditResult, axes: Axes) -> None:
    """Right guesses over all guesses: those seen at each number that was fixed before, and the least that refute."""
    evidence = result.evidence
    assert evidence is not None
    statement = _claimed(result)
    first = evidence.tests[0]
    assert isinstance(first.event, GuessEvent)
    ranks, least = least_right(result, statement, first)
    needed = [(rank, count) for rank, count in zip(ranks, least, strict=True) if count is not None]
    axes.plot(ranks, ranks, color="#777777", linewidth=1.0, linestyle=(0, (2, 2)), label="all of them right")
    if needed:
        rows: Any = list(zip(*needed, strict=True))
        label = f"the least that refute {_of_claim(statement)}"
        axes.plot(*rows, color=NEEDED, linestyle=DASHES[1], marker="_", markersize=7, linewidth=1.4, label=label)
    for number, group in enumerate(evidence.groups):
        events = [test.event for test in group]
        trials, counts = [event.trials for event in events], [event.count for event in events]
        label = "seen" if len(evidence.groups) == 1 else f"seen in run {number + 1}"
        axes.plot(trials, counts, "o", color=(SEEN, *COLOURS[2:5])[number % 4], markersize=5, label=label)
    axes.plot(ranks, _by_chance(first.event, ranks), color="#777777", linewidth=1.0, label="right by chance")
    axes.set_xlabel(f"guesses{'' if first.event.sides == BOTH else f' (all {first.event.sides})'}")
    axes.set_ylabel("right ones")
    axes.set_title("Right guesses, and how many would refute the claim")
    if len(ranks) > 1:
        axes.set_xscale("log")
        axes.set_yscale("log")
        low, high = 0.9 * ranks[0], 1.1 * ranks[-1]
        bottom = 0.8 * min(*(event.count for event in (t.event for t in evidence.tests) if event.count), low)
        axes.set_xlim(low, high)
        axes.set_ylim(bottom, high)
        tick(axes.xaxis, low, high)
        tick(axes.yaxis, bottom, high)
    _legend(axes)


def draw_p(result: AuditResult, axes: Axes) -> None:
    """Upper ends of p at epsilons from 0 to twice what is refuted; a larger epsilon promises less, so that what is
    refuted there is refuted before it as well."""
    assert result.epsilon_lower is not None
    assert result.delta is not None
    alpha, answer = float(_alpha(result)), result.epsilon_lower
    last = max(2.0 * answer, 1.0)
    epsilons = sorted({*(last * index / P_POINTS for index in range(P_POINTS + 1)), answer})
    values = np.minimum.accumulate([result.p_at(epsilon) for epsilon in reversed(epsilons)])[::-1]
    axes.semilogy(epsilons, np.maximum(values, P_TINY), color=SEEN, linewidth=1.6, label="p, at most")
    axes.axhline(alpha, color=NEEDED, linestyle=DASHES[1], linewidth=1.2, label=f"the level, {_percent(alpha)}")
    said = "no epsilon refuted" if answer == 0.0 else f"refuted: epsilon {rounded(answer, SHOWN_DIGITS, up=False)}"
    axes.plot([answer], [max(result.p_at(answer), P_MIN)], "D", color=FOUND, markersize=6, label=said, zorder=5)
    low = max(min(float(values.min()), alpha) / 2.0, P_MIN)
    axes.set_ylim(low, 1.4)
    axes.set_xlim(-0.02 * last, last)
    tick(axes.yaxis, low, 1.4)
    axes.set_xlabel(f"epsilon, at delta {short(result.delta)}")
    axes.set_ylabel("probability of what was seen, at most")
    axes.set_title("p over epsilon")
    _legend(axes)


DRAWN: Mapping[str, Callable[[AuditResult, Any], None]] = MappingProxyType(
    {"roc": draw_roc, "guesses": draw_guesses, "p": draw_p}
)


def least_right(
    result: AuditResult, statement: AuditStatement, test: WeightedEvent
) -> tuple[list[int], list[int | None]]:
    """Numbers of guesses, and for each the least right ones that refute the statement's claim; None where none do."""
    evidence, event = result.evidence, test.event
    assert evidence is not None
    assert isinstance(event, GuessEvent)
    claim = _slopes(statement, RARE_SHARE * float(_alpha(result)) / event.canaries)
    ranks = sorted({weighted_event.event.trials for weighted_event in evidence.tests})
    if len(ranks) < 2 or len(claim.slopes) < 2:
        most = max(ranks[-1], min(event.canaries, 2 * ranks[-1]))
        ranks = sorted({*ranks, *np.geomspace(min(10, ranks[0]), most, GUESS_POINTS).round().astype(int).tolist()})
    limit = test.limit(_alpha(result))
    rows = [WeightedEvent(GuessEvent(event.canaries, rank, 0, event.sides, event.coin), test.weight) for rank in ranks]
    least = [least_count(row, claim, limit) for row in rows]
    nearest: dict[int, float] = {}
    for each, p in zip(evidence.tests, statement.p_each, strict=True):
        nearest[each.event.trials] = min(p, nearest.get(each.event.trials, 1.0))
    with compute_budget.allowance(PICTURE_SECONDS):
        for index in sorted(range(len(ranks)), key=lambda value: nearest.get(ranks[value], 1.0)):
            least[index] = _fewer(rows[index], claim, limit, least[index])
    return ranks, least


def _fewer(test: WeightedEvent, claim: SlopeClaim, limit: float, least: int | None) -> int | None:
    """From one slope at a time to all together, by linear programs, as far as there is time."""
    if least is None or len(claim.slopes) < 2:
        return least
    try:
        while least > 1:
            event = test.event.with_count(least - 1)
            assert isinstance(event, GuessEvent)
            better = multipliers(event, claim)
            if better is None or better.bound(event, claim) > limit:
                break
            least -= 1
    except WorkExhausted:
        pass
    return least


def _by_chance(event: GuessEvent, ranks: list[int]) -> list[float]:
    share = {BOTH: 0.5, "in": event.coin}.get(event.sides, 1.0 - event.coin)
    return [share * rank for rank in ranks]


def _tprs_upper(statement: AuditStatement, least: float) -> tuple[FloatArray, FloatArray]:
    """Rates from least to 1, and at or above the most true positives that the claim allows there."""
    run = _run(statement)
    if run is None:
        rates = np.geomspace(least, 1.0, ROC_POINTS)
        return rates, SlopeClaim(statement.slopes).tpr_upper(rates)
    rates = np.geomspace(least, 1.0, CLAIM_POINTS)
    direction = None if run.relation is Relation.REPLACE else Direction.REMOVE
    curve = run.tradeoff_curve(fprs=rates.tolist(), direction=direction, seconds=PICTURE_SECONDS)
    return rates, np.array([bound.upper for bound in curve.tprs])


def _slopes(statement: AuditStatement, rare: float) -> SlopeClaim:
    """As many as the audit had: the statement has those only that its proof needs."""
    run = _run(statement)
    if run is None:
        return SlopeClaim(statement.slopes)
    return run_claim(run, run_epsilons(run, rare, SLOPES_GUESSES, PICTURE_SECONDS), PICTURE_SECONDS)


def _run(statement: AuditStatement) -> Mechanism | None:
    return parse(statement.expression) if statement.expression else None


def _claimed(result: AuditResult) -> AuditStatement:
    """What was claimed; without a claim, the epsilon that is refuted."""
    return result.statements[-1]


def _of_claim(statement: AuditStatement) -> str:
    if statement.expression:
        return verbatim(statement.expression)
    assert statement.epsilon is not None
    assert statement.delta is not None
    return f"({rounded(statement.epsilon, SHOWN_DIGITS, up=False)},\u00a0{short(statement.delta)})-privacy"


def _allows(statement: AuditStatement) -> str:
    return f"the most that {_of_claim(statement)} allows"


def _alpha(result: AuditResult) -> Fraction:
    return 1 - Fraction(repr(result.level))


def _percent(share: float) -> str:
    return f"{round(100.0 * share, 10):g} %"


def _legend(axes: Axes) -> None:
    """Below, where it covers nothing."""
    place: Any = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.14), "ncols": 2}
    for text in axes.legend(frameon=False, fontsize=8, handlelength=3.0, columnspacing=1.2, **place).get_texts():
        text.set_text(wrapped(text.get_text(), LABEL_WIDTH, lines=3))
