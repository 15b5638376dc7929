"""A budget over time: the share of its promise that was spent, what was held above it, and where the total lies.

Of the `any` axes the living one that has the most room now is drawn, which has lived all the time; each `all` axis has
a line of its own. A budget without a total is drawn by its odometer. Shares are of the ceiling, which never changes, so
that a renewal raises the line of the total and leaves what was used where it was. A picture is no proof: its numbers
are rounded as pictures are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

from ..extend.plots import COLOURS, DASHES, LABEL_WIDTH, MARKED_MAX, TITLE_WIDTH, figure_of, sheet, verbatim, wrapped
from .table import ENDLESS, more_words, number, odometer_words, promised, roomiest, slot_job, used_share

if TYPE_CHECKING:
    from ..extend.plots import Axes, Figure

AXES_DRAWN_MAX = 5  # axes that are drawn, the most used first
SPENT_SHADE, HELD_SHADE = 0.38, 0.15
HIGHEST_SPARE = 1.08  # of the axis, above the promise
PICTURED_MIN = 60_000  # milliseconds that the axis of time spans at least
DAY_MILLISECONDS = 86_400_000
DEAD_NAMED_MAX = 6
BENEATH_WIDTH = 120  # letters

Moments = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Track:
    """One line of the picture: at each time what was spent, what was held above it, and what might be."""

    label: str
    spent: tuple[float, ...]
    used: tuple[float, ...]
    total: tuple[float, ...]


def draw_history(
    status: Mapping[str, Any],
    history: Mapping[str, Any],
    path: str | PathLike[str] | None = None,
    *,
    now: int | None = None,
    ax: Axes | None = None,
) -> Figure:
    """The picture of `Ledger.history` with the words of `Ledger.status`; now: milliseconds, at its right end."""
    moments: Moments = history["moments"]
    times = [moment["at"] for moment in moments]
    until = max([time.time_ns() // 1_000_000 if now is None else now, *times])
    with sheet(path, ax) as axes:
        if status["kind"] == ENDLESS:
            _draw_odometer(axes, status, moments, [*times, until])
        else:
            _draw_shares(axes, status, moments, [*times, until])
        _date_axis(axes, min(times, default=until), until)
        if ax is None:
            axes.set_title(wrapped(verbatim(f"{status['name']}: {promised(status)}"), TITLE_WIDTH))
            figure_of(axes).supxlabel(verbatim(_beneath(status)), x=0.01, ha="left", color="#555555", fontsize=8)
        return figure_of(axes)


def tracks(status: Mapping[str, Any], moments: Moments) -> list[Track]:
    """The lines of a budget: the order with the most room first, then what every job must fit, the most used first."""
    every = [axis for axis in status["axes"] if axis["need"] == "all" and axis["ceiling"]]
    every = sorted(every, key=used_share, reverse=True)[:AXES_DRAWN_MAX]
    best = roomiest(status)
    return [_track(status, axis, moments) for axis in ([] if best is None else [best]) + every]


def _track(status: Mapping[str, Any], axis: Mapping[str, Any], moments: Moments) -> Track:
    rows = [moment["axes"][axis["name"]] for moment in moments]
    shares = [[units / axis["ceiling"] for units in (spent, held + spent, total)] for held, spent, total, _ in rows]
    spent, used, total = (tuple(share[at] for share in shares) for at in range(3))
    return Track(": ".join(filter(None, (axis["name"], slot_job(status, axis["name"])))), spent, used, total)


def _draw_shares(axes: Axes, status: Mapping[str, Any], moments: Moments, times: Sequence[int]) -> None:
    from ..extend.artists import PercentFormatter

    found = tracks(status, moments)
    moved = [_day(value) for value in times]
    for index, track in enumerate(found):
        _draw_track(axes, moved, track, index)
    if found:
        _draw_totals(axes, moved, found[0])
    _draw_renewals(axes, moments)
    axes.set_ylim(0.0, HIGHEST_SPARE)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylabel("share of the promise used")
    left_out = sum(1 for axis in status["axes"] if axis["need"] == "all" and axis["ceiling"]) - AXES_DRAWN_MAX
    if left_out > 0:
        axes.plot([], [], " ", label=f"{left_out} more, less used")
    if not any(used for track in found for used in track.used):
        none = "jobs are those of its partitions" if status["parallel"] else "no jobs yet"
        axes.text(0.5, 0.5, none, transform=axes.transAxes, ha="center", color="#555555")
    _named(axes, found)


def _draw_track(axes: Axes, times: Sequence[float], track: Track, index: int) -> None:
    """Steps that hold until the next one; the last holds until now. Only the first is filled: shades would mix."""
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
    spent, used = ([*values, values[-1]] if values else [] for values in (track.spent, track.used))
    if index == 0:
        axes.fill_between(times, spent, step="post", color=colour, alpha=SPENT_SHADE, linewidth=0)
        axes.step(times, spent, where="post", color=colour, linestyle=dash, linewidth=0.8)
    axes.fill_between(times, spent, used, step="post", color=colour, alpha=HELD_SHADE, linewidth=0)
    label = wrapped(verbatim(track.label), LABEL_WIDTH)
    axes.step(times, used, where="post", color=colour, linestyle=dash, linewidth=1.6, label=label, **_marks(track.used))


def _marks(values: Sequence[float]) -> Any:
    """Where a line with few steps moved."""
    moved = [at for at, value in enumerate(values) if at == 0 or value != values[at - 1]]
    if len(moved) > MARKED_MAX:
        return {}
    return {"marker": "o", "markersize": 3.5, "markevery": moved, "clip_on": False}


def _draw_totals(axes: Axes, times: Sequence[float], track: Track) -> None:
    """The promise, and what may be used where that is less.

    Of an order only the present total is drawn, from where it holds: before, another order had room, and this one may
    have been above its own.
    """
    totals = [*track.total, track.total[-1]]
    axes.axhline(1.0, color="#333333", linewidth=1.0, label="the promise")
    first = 0
    if any(used > total for used, total in zip(track.used, track.total, strict=True)):
        first = 1 + max((at for at, total in enumerate(totals) if total != totals[-1]), default=-1)
    if any(total < 1.0 for total in totals[first:]):
        axes.step(
            times[first:],
            totals[first:],
            where="post",
            color="#333333",
            linestyle=DASHES[2],
            linewidth=1.2,
            label="total so far",
        )


def _draw_renewals(axes: Axes, moments: Moments) -> None:
    """When totals were raised: of whichever axis, as a renewal raises several at once."""
    label: str | None = "renewed"
    for before, after in pairwise(moments):
        if any(after["axes"][name][2] != total for name, (_, _, total, _) in before["axes"].items()):
            axes.axvline(_day(after["at"]), color="#777777", linestyle=DASHES[3], linewidth=0.9, label=label)
            label = None


def _named(axes: Axes, found: Sequence[Track]) -> None:
    """Names beside the picture, where they cover nothing, and what the shades mean."""
    from ..extend.artists import Patch

    handles, _ = axes.get_legend_handles_labels()
    colour = COLOURS[0]
    shades = [Patch(color=colour, alpha=SPENT_SHADE, linewidth=0, label="spent")]
    if any(high > low for track in found for low, high in zip(track.spent, track.used, strict=True)):
        shades.append(Patch(color=colour, alpha=HELD_SHADE, linewidth=0, label="held: counts as used"))
    place: Any = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    axes.legend(handles=[*handles, *shades], frameon=False, fontsize=8, handlelength=3.4, **place)


def _draw_odometer(axes: Axes, status: Mapping[str, Any], moments: Moments, times: Sequence[int]) -> None:
    """Upper ends of epsilon at the delta of the budget, held included; without end, and without a total."""
    told = [] if "reason" in status["odometer"] else odometers(status, moments)
    if not told:
        axes.text(0.5, 0.5, wrapped(odometer_words(status), TITLE_WIDTH // 2), transform=axes.transAxes, ha="center")
        return
    epsilons = [*told, told[-1]]
    moved = [_day(value) for value in times]
    axes.fill_between(moved, epsilons, step="post", color=COLOURS[0], alpha=0.3, linewidth=0)
    axes.step(moved, epsilons, where="post", color=COLOURS[0], linewidth=1.6, **_marks(told))
    axes.set_ylim(0.0, HIGHEST_SPARE * max([*epsilons, 0.0]) or 1.0)
    axes.set_ylabel(f"epsilon used, at most, at delta {number(status['promise']['delta'])}")


def odometers(status: Mapping[str, Any], moments: Moments) -> list[float]:
    """What the odometer said at each time."""
    from .filters import kind_of

    tell: Callable[..., Mapping[str, Any]] = kind_of(status["kind"]).odometer
    found = []
    for moment in moments:
        used = {name: held + spent for name, (held, spent, _, _) in moment["axes"].items()}
        dead = frozenset(name for name, (_, _, _, ended) in moment["axes"].items() if ended)
        found.append(float(tell(status["shared"], status["promise"], used, dead)["epsilon"]))
    return found


def _beneath(status: Mapping[str, Any]) -> str:
    """What a line cannot show: the odometer, how many more of a job fit, the orders that are dead."""
    said = [f"odometer: {odometer_words(status)}"]
    said += [line.strip() for line in more_words(status["more"])] if "more" in status else []
    said.append("; ".join(filter(None, (_dead_words(status), "times in UTC"))))
    return "\n".join(wrapped(line, BENEATH_WIDTH) for line in said)


def _dead_words(status: Mapping[str, Any]) -> str:
    """Orders that counted once, and do no more."""
    dead = [axis["name"] for axis in status["axes"] if axis["dead"] and axis["ceiling"]]
    if not dead:
        return ""
    orders = [name.removeprefix("order ") for name in dead[:DEAD_NAMED_MAX]]
    more = f" and {len(dead) - DEAD_NAMED_MAX} more" if len(dead) > DEAD_NAMED_MAX else ""
    return f"orders that are dead: {', '.join(orders)}{more}"


def _date_axis(axes: Axes, first: int, last: int) -> None:
    """Dates as short as they can be; a moment alone has a little room."""
    from ..extend import artists

    made: Any = artists  # its classes have no types
    locator = made.AutoDateLocator(tz=UTC, minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(made.ConciseDateFormatter(locator, tz=UTC))
    spare = max((last - first) // 60, (PICTURED_MIN - (last - first)) // 2, 1)
    axes.set_xlim(_day(first - spare), _day(last + spare))


def _day(milliseconds: int) -> float:
    """As matplotlib counts time: days since 1970."""
    return milliseconds / DAY_MILLISECONDS
