"""How many canaries show each fault of a training: python -m studies.canaries writes the table and the figure.

The training is that of docs/howto/audit_a_training.md, in numpy: each canary has a feature of its own, so that other
records do not move its weights, and 500 steps of DP-SGD on these are all there is to simulate.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import tightrope as tr
from tightrope.core.values.calls import rounded
from tightrope.plotting.style import COLOURS, DASHES, STYLE

RUN = tr.Gaussian(sigma=1.0).poisson(rate=0.02) * 500
DELTA, LEARNING, FEATURE, STEPS, EPOCHS, OTHERS = 1e-5, 0.1, 10.0, 50, 10, 500
SOUND, NO_NOISE, SCALED, IN_ORDER = FAULTS = ("none", "noise left out", "scaled after clipping", "batches not sampled")
SIZES, TRAININGS = (100, 300, 1000, 3000), 10
SCALE = 8.0  # of what is scaled after clipping
SECONDS = 60.0
HEADER = ("fault", "canaries", "training", "epsilon_lower", "p_upper", "refuted")
RECORD = Path(__file__).parent / "data" / "canaries.csv"
DOCS = Path(__file__).parent.parent / "docs"
PAGE, FIGURE = DOCS / "howto" / "audit_a_training.md", DOCS / "figures" / "audit_study.png"
BEGIN, END = "<!-- study -->\n", "<!-- end of study -->"

Array = npt.NDArray[np.float64]


def trained(fault: str, canaries: int, seed: int) -> tuple[Array, npt.NDArray[np.bool_]]:
    """The scores of the attack, and who was in."""
    draw = np.random.Generator(np.random.PCG64((canaries, seed)))
    member = draw.random(canaries) < 0.5
    batch = -(-(OTHERS + int(member.sum())) // STEPS)
    place = np.maximum(np.cumsum(member) - 1, 0) // batch  # the batch in which a canary is, or would be
    weights = np.zeros((2, canaries))
    scores = np.zeros(canaries)
    for step in range(STEPS * EPOCHS):
        here = place == step % STEPS
        inside = member & (here if fault == IN_ORDER else draw.random(canaries) < 1.0 / STEPS)
        missed = 1.0 / (1.0 + np.exp(FEATURE * (weights[1] - weights[0])))  # the probability of the other label
        size = np.minimum(FEATURE * missed, np.sqrt(0.5)) * inside  # each of two entries of a gradient of norm 1
        noise = 0.0 if fault == NO_NOISE else draw.normal(size=(2, canaries))
        sums = np.stack([-size, size]) * (SCALE if fault == SCALED else 1.0) + noise
        moved = LEARNING / batch * sums
        weights += moved
        scores += (moved[1] - moved[0]) * (here if fault == IN_ORDER else 1.0)
    return scores, member


def rows() -> Iterator[tuple[str, int, int, float, float, bool]]:
    """An audit of each training, against the run that its accountant says."""
    for fault in FAULTS:
        for canaries in SIZES:
            for seed in range(TRAININGS):
                scores, member = trained(fault, canaries, seed)
                found = tr.audit(scores, member, design="one-run", claim=RUN, delta=DELTA, seconds=SECONDS)
                assert found.epsilon_lower is not None
                assert found.p_upper is not None
                yield fault, canaries, seed, found.epsilon_lower, found.p_upper, found.refuted is True


def recorded() -> list[tuple[str, int, float, bool]]:
    """What was written down: fault, canaries, epsilon, whether the run is refuted."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        return [
            (row["fault"], int(row["canaries"]), float(row["epsilon_lower"]), row["refuted"] == "True")
            for row in csv.DictReader(file)
        ]


def table() -> str:
    """As the page has it: the median of epsilon, rounded down, and how many of the trainings are refuted."""
    found = recorded()
    lines = [
        f"| fault | {' | '.join(f'{size:,} canaries' for size in SIZES)} |",
        f"|---|{'---|' * len(SIZES)}",
    ]
    for fault in FAULTS:
        cells = []
        for size in SIZES:
            some = [row for row in found if row[:2] == (fault, size)]
            least = rounded(median(row[2] for row in some), 3, up=False)
            cells.append(f"{least}; {sum(row[3] for row in some)} of {len(some)}")
        lines.append(f"| {fault} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def picture(path: Path) -> None:
    """Epsilon of each training over the number of canaries, beside what the accountant says."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        found = recorded()
        for index, fault in enumerate(FAULTS):
            mine = [row for row in found if row[0] == fault]
            medians = [median(row[2] for row in mine if row[1] == size) for size in SIZES]
            axes.plot(SIZES, medians, color=COLOURS[index], linestyle=DASHES[index], label=f"fault: {fault}")
            axes.plot([row[1] for row in mine], [row[2] for row in mine], ".", color=COLOURS[index], alpha=0.4)
        said = f"epsilon {rounded(RUN.epsilon(DELTA).upper, 4, up=True)} of the accountant's run"
        axes.axhline(RUN.epsilon(DELTA).upper, color="#333333", linestyle=(0, (1, 1)), label=said)
        axes.set_xscale("log")
        axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
        axes.minorticks_off()
        axes.set_ylim(bottom=0.0)
        axes.set_xlabel("canaries in one training")
        axes.set_ylabel(f"epsilon that is refuted at delta {DELTA:g}")
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0.0, -0.14), ncols=2)
        figure.savefig(path, format="png")


def main() -> None:
    """All trainings, the table on its page, and the figure."""
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in rows():
            writer.writerow(row)
            file.flush()
    text = PAGE.read_text("utf-8")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", "utf-8")
    picture(FIGURE)


if __name__ == "__main__":
    main()
