"""Times a leaky and a constant-time comparison on this machine, and tells what the timings give away.

    python -m studies.tight_on_budget.measure [--draws 200000] [--rounds 512] [--record FILE]

The attacker asks whether the first byte of a guess is right. Guesses with a right and with a wrong first byte are
timed in random order; the edges of the bins come from a pilot run, so that the counts are those of fixed bins.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from hmac import compare_digest
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from studies.page import at_most
from studies.tight_on_budget.timings import RECORD, Timings, hiding_noise, leakage, write

SECRET = bytes(range(1, 33))
RIGHT, WRONG = SECRET[:1] + bytes(31), bytes(32)
STEP = 20  # nanoseconds per bin
BINS_MAX = 32
OUTSIDE = 0.005  # share of the pilot left to the first and to the last bin
PILOT = 0.1
CONFIDENCE = 0.99

Comparison = Callable[[bytes, bytes], bool]


def leaky(a: bytes, b: bytes) -> bool:
    """Stops at the first byte that differs."""
    for x, y in zip(a, b, strict=True):  # noqa: SIM110 -- the loop is what is measured
        if x != y:
            return False
    return True


COMPARISONS: dict[str, Comparison] = {"leaky": leaky, "constant": compare_digest}


def measure(name: str, draws: int, seed: int, tick: Callable[[int], None]) -> Timings:
    """Counts per bin for a right and for a wrong first byte."""
    compare, order = COMPARISONS[name], random.Random(seed)
    pilot = sorted(elapsed for _, elapsed in _run(compare, int(draws * PILOT), order))
    first, last = (pilot[int(share * (len(pilot) - 1))] // STEP for share in (OUTSIDE, 1.0 - OUTSIDE))
    bins = min(last - first + 2, BINS_MAX)
    counts = [[0] * bins, [0] * bins]
    for start in range(0, draws, 10_000):
        for right, elapsed in _run(compare, min(10_000, draws - start), order):
            counts[right][min(max(elapsed // STEP - first, 0), bins - 1)] += 1
        tick(10_000)
    return Timings(name, tuple(STEP * (first + index) for index in range(bins)), tuple(counts[1]), tuple(counts[0]))


def _run(compare: Comparison, draws: int, order: random.Random) -> Sequence[tuple[int, int]]:
    guesses, clock = (WRONG, RIGHT), time.perf_counter_ns
    timed = []
    for _ in range(draws):
        right = order.getrandbits(1)
        guess = guesses[right]
        start = clock()
        compare(SECRET, guess)
        timed.append((right, clock() - start))
    return timed


@click.command()
@click.option("--draws", default=200_000, show_default=True, help="Timings of each comparison.")
@click.option("--rounds", default=512, show_default=True, help="Observations of the attacker.")
@click.option("--record", type=click.Path(path_type=Path), default=None, help=f"Write the counts, as in {RECORD.name}.")
@click.option("--seed", default=1, show_default=True, help="Order of right and wrong guesses.")
def main(draws: int, rounds: int, record: Path | None, seed: int) -> None:
    """Measures, and tells the leakage of this machine."""
    console = Console()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("timing", total=draws * len(COMPARISONS))
        found = [measure(name, draws, seed, lambda done: progress.advance(task, done)) for name in COMPARISONS]
    if record is not None:
        write(record, found)
    table = Table(title=f"delta at epsilon = log 2 after {rounds} observations")
    for column in ("comparison", "histograms taken as true", f"at confidence {CONFIDENCE:g}, at most", "hiding delay"):
        table.add_column(column)
    for timings in found:
        taken, covered = leakage(timings, rounds, None), leakage(timings, rounds, CONFIDENCE)
        noise = hiding_noise(timings, rounds)
        table.add_row(timings.name, str(taken), at_most(covered.upper), f"sigma {math.ceil(noise.value)} ns")
    console.print(table)


if __name__ == "__main__":
    main()
