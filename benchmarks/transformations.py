"""docs/transformations.md and its figures, from the registry; tests/test_transformations.py tells an old page.

Usage: python -m benchmarks.transformations [NAME...], for all figures or for those of some transformations.
What is refused is asked here, so that the page shows what a user reads.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import tightrope as tr
from benchmarks.pages import BLOCK_COLUMNS, FIGURES, ROOT, fitted, indented, opened, told
from benchmarks.theorem_tables import tables
from tightrope.cli.entries import TRANSFORMATIONS_PAGE, transformations
from tightrope.core.text.registry import TRANSFORMS
from tightrope.core.values.errors import TightropeError

PAGE = ROOT / TRANSFORMATIONS_PAGE
POINTS = 33
SECONDS = 60.0

OPENING = """# What makes a mechanism of mechanisms

Made by `make transformations` from the registry. Each takes any mechanism whose pair is known, single or composed, and
gives one that is composed, transformed and asked like any other; text, JSON and the command line have the same names.
(P, Q) is the pair of the base for the direction that is asked, with the record and without it;
H(alpha) = sup over events A of P(A) - alpha Q(A), delta at epsilon is H(e^epsilon).
Which neighbours and which sensitivity go with a way to sample: [sampling](sampling.md).
Upper ends hold for every mechanism with such a base. Lower ends speak of what is said under tightness;
the certificate of an answer repeats it. In the figures a band lies between the two ends; where none is seen, they
differ by less than the line is wide.
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """Expressions drawn together, the first one is the base, and the largest epsilon."""

    lines: tuple[str, ...]
    reach: float = 4.0
    start: float = 0.0

    def epsilons(self) -> list[float]:
        """Closer to each other where curves fall from 0 on."""
        power = 1.0 if self.start else 2.0
        return [self.start + (self.reach - self.start) * (place / (POINTS - 1)) ** power for place in range(POINTS)]


# By the name of the transformation; without a row the example is drawn beside its base.
PICTURES: Mapping[str, Picture] = MappingProxyType(
    {
        "compose": Picture(("Gaussian(sigma=2)", "Gaussian(sigma=2) * 4", "Gaussian(sigma=2) * 16"), 5.0, -2.0),
        "poisson": Picture(
            (
                "Gaussian(sigma=1)",
                "Gaussian(sigma=1).poisson(rate=0.1)",
                "Gaussian(sigma=1).poisson(rate=0.1, neighbours='replace')",
                "Gaussian(sigma=1).poisson(rate=0.01)",
            )
        ),
        "without_replacement": Picture(
            (
                "Gaussian(sigma=1)",
                "Gaussian(sigma=1).without_replacement(batch=100, records=1000)",
                "Gaussian(sigma=1).without_replacement(batch=100, records=1000) * 20",
            )
        ),
        "with_replacement": Picture(
            (
                "Gaussian(sigma=1)",
                "Gaussian(sigma=1).with_replacement(batch=100, records=1000)",
                "Gaussian(sigma=1).without_replacement(batch=100, records=1000)",
            )
        ),
        "truncated_poisson": Picture(
            (
                "Gaussian(sigma=1)",
                "Gaussian(sigma=1).poisson(rate=0.1)",
                "Gaussian(sigma=1).truncated_poisson(rate=0.1, cap=130, records=1000)",
            )
        ),
        "random_allocation": Picture(
            (
                "Gaussian(sigma=1)",
                "Gaussian(sigma=1).random_allocation(steps=2)",
                "Gaussian(sigma=1).random_allocation(steps=10)",
                "Gaussian(sigma=1).poisson(rate=0.1) * 10",
            ),
            3.0,
        ),
        "group": Picture(
            (
                "Gaussian(sigma=1).poisson(rate=0.1)",
                "Gaussian(sigma=1).poisson(rate=0.1).group(size=2)",
                "Gaussian(sigma=1).poisson(rate=0.1).group(size=4)",
            )
        ),
        "best_of": Picture(("Gaussian(sigma=4)", "Gaussian(sigma=4).best_of(law='geometric', mean=5)"), 2.0),
        "parallel": Picture(
            (
                "Gaussian(sigma=1)",
                "Laplace(scale=0.7)",
                "parallel(Gaussian(sigma=1), Laplace(scale=0.7))",
                "parallel(Gaussian(sigma=1), Laplace(scale=0.7)) * 4",
            ),
            3.0,
        ),
        "shuffled_batches": Picture(
            (
                "Gaussian(sigma=1, sensitivity=2)",
                "Gaussian(sigma=1).shuffled_batches(steps=10)",
                "Gaussian(sigma=1).shuffled_batches(steps=1000)",
                "Gaussian(sigma=1).poisson(rate=0.1, neighbours='replace') * 10",
            ),
            6.0,
        ),
        "shuffle": Picture(
            ("PureDP(epsilon=2)", "PureDP(epsilon=2).shuffle(users=30)", "PureDP(epsilon=2).shuffle(users=1000)"), 2.0
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is not there, why, and a question that is refused for it, where one can be asked."""

    what: str
    why: str
    asked: str = ""


REFUSALS = (
    Refusal(
        "one direction of a composition under replacing a record",
        "Which of the two orders of its laws a batch shows may change from use to use, and either alone is too small, "
        "also in the worse direction (Lebeda, Regehr, Kamath, Steinke 2024).",
        'tr.Gaussian(sigma=1).without_replacement(batch=10, records=100).delta(epsilon=1, direction="remove")',
    ),
    Refusal(
        "relations that clash",
        "A bound for adding or removing a record is none for replacing one, nor the other way round.",
        "tr.Gaussian(sigma=1).poisson(rate=0.1) + tr.Gaussian(sigma=1).without_replacement(batch=10, records=100)",
    ),
    Refusal(
        "replacing a record in parallel cells",
        "It may leave one cell and enter another.",
        "tr.parallel(tr.Gaussian(sigma=1).without_replacement(batch=10, records=100), tr.Laplace(scale=1))",
    ),
    Refusal(
        "shuffled batches of a base that is no Gaussian noise",
        "Lower ends of real neighbours are known for Gaussian noise; the batches that `.random_allocation` makes are "
        "known for every base.",
        "tr.Laplace(scale=1).shuffled_batches(steps=10)",
    ),
    Refusal(
        "samples of samples whose sizes do not agree",
        "Where `records` is given, the data have that size: a batch that is sampled again is drawn from a batch, and a "
        "Poisson sample has no fixed size.",
        "tr.Gaussian(sigma=1).without_replacement(batch=5, records=20).without_replacement(batch=10, records=50)",
    ),
    Refusal(
        "mixed groups",
        "A group is added or removed as a whole. Some added and others removed in one step may show more than either: "
        "there is no keyword for it. Integer Gaussian noise of deviation 0.6, rate 0.6, two records, epsilon 0.9: "
        "0.3972 where one is added and one removed, 0.3743 where both go one way. "
        'One record for another is what `neighbours="replace"` answers.',
    ),
    Refusal(
        "replacing a record under random allocation",
        "A record that is replaced leaves one step, and another one enters a step of its own: two changes, which the "
        "theorem does not cover.",
        "tr.Gaussian(sigma=1).without_replacement(batch=10, records=100).random_allocation(steps=10)",
    ),
    Refusal(
        "(epsilon, delta)-private randomizers under shuffling",
        "The decomposition into clones needs a bounded ratio of every report; for reports that break it with a small "
        "probability no such bound is proven here.",
        "tr.ApproximateDP(epsilon=1, delta=1e-6).shuffle(users=100)",
    ),
    Refusal(
        "users with randomizers of their own under shuffling",
        "A report may then tell its sender: there is one base for all users, and no keyword for others. Two users with "
        "disjoint alphabets at epsilon 1 have delta 0.4621 at epsilon 0, as if nothing was shuffled; one base for both "
        "has at most 0.3378.",
    ),
    Refusal(
        "filters and odometers on privacy-loss distributions",
        "A filter stops a run whose parts are chosen as it goes. For Renyi and zCDP bounds that is proven; for the "
        "distribution of the loss it is not.",
        "tr.Gaussian(sigma=1).filter()",
    ),
    Refusal(
        "the best of a fixed number of runs",
        "What the best output shows grows with the largest loss times the number of runs, as all of them together do.",
        "tr.Gaussian(sigma=1).best_of(law='fixed', mean=5)",
    ),
)


def text() -> str:
    """The page, without drawing anything."""
    return "\n".join([OPENING, *_table(), "", *_sections(), *tables(), "", *_refusals()])


def _table() -> Iterator[str]:
    yield "| written as | neighbours |"
    yield "|---|---|"
    for name, entry in transformations().items():
        yield f"| [`{entry.usage}`](#{name}) | {entry.texts['neighbours']} |"


def _sections() -> Iterator[str]:
    for name, entry in transformations().items():
        yield from opened(entry)
        yield f"    {entry.make.example}\n"
        yield from told(entry)
        yield f"\n![{name}: base and transformed](figures/transform-{name}.png)\n"


def _refusals() -> Iterator[str]:
    yield "## What is refused\n"
    for row in REFUSALS:
        yield fitted(f"**{row.what[0].upper()}{row.what[1:]}.** {row.why}") + "\n"
        if row.asked:
            yield f"    {row.asked}"
            yield indented(fitted(refused(row.asked), width=BLOCK_COLUMNS)) + "\n"


def refused(asked: str) -> str:
    """The one line that a user reads."""
    try:
        eval(asked, {"tr": tr})
    except (TightropeError, AttributeError) as error:
        said = str(error)
        if isinstance(error, TightropeError) or ": " in said:  # what is only unknown has no reason
            return said
    raise AssertionError(f"{asked} is not refused")


def picture(name: str) -> Picture:
    """What is drawn for a transformation."""
    if name in PICTURES:
        return PICTURES[name]
    made = tr.parse(TRANSFORMS[name].example)
    whole = next(part for part, _ in made.parts if isinstance(part, TRANSFORMS[name]))
    return Picture((repr(whole.base), repr(whole)))


def draw(name: str, shown: Picture) -> None:
    """Writes one figure: delta over epsilon, the base first."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from tightrope.plotting.style import COLOURS, DASHES, STYLE

    with rc_context({**STYLE, "figure.dpi": 110}):
        canvas = Figure(layout="constrained", figsize=(6.4, 4.0))
        FigureCanvasAgg(canvas)
        axes = canvas.add_subplot()
        axes.set_yscale("log")
        for index, line in enumerate(shown.lines):
            curve = tr.parse(line).curve(epsilons=shown.epsilons(), seconds=SECONDS)
            lower = [bound.lower or math.nan for bound in curve.bounds]  # an end at 0 has no place on the axis
            upper = [bound.upper or math.nan for bound in curve.bounds]
            colour, dash = COLOURS[index], DASHES[index % len(DASHES)]
            axes.fill_between(curve.epsilons, lower, upper, color=colour, alpha=0.3, linewidth=0)
            axes.plot(curve.epsilons, upper, color=colour, linestyle=dash, linewidth=1.8, label=line)
            axes.plot(curve.epsilons, lower, color=colour, linestyle=dash, linewidth=0.8)
        bottom = max(axes.get_ylim()[0], 1e-10)
        axes.set_ylim(bottom, min(axes.get_ylim()[1], 1.5))
        axes.set_xlabel("epsilon")
        axes.set_ylabel("delta")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), fontsize=8, frameon=False, handlelength=3.4)
        canvas.savefig(FIGURES / f"transform-{name}.png", format="png")


def main(names: Sequence[str]) -> None:
    """Writes the page, and draws the figures that are named, or all."""
    for name in names or transformations():
        draw(name, picture(name))
        print(f"drawn: {name}", flush=True)
    PAGE.write_text(text(), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
