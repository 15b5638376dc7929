"""Users with several records: what each way to make batches answers for groups of records, in the same run.

Usage: python -m benchmarks.users [SECONDS], for the rows of docs/training.md: epsilon at delta 1e-5 of 15 epochs over
60,000 records in batches of 256 at sigma 1.1, its two ends and the seconds of CPU that the answer took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import tightrope as tr

RECORDS, BATCH, STEPS, EPOCH, EPOCHS, CAP = 60_000, 256, 3516, 235, 15, 400
RATE = BATCH / RECORDS
DELTA = 1e-5
SIZES = (1, 2, 8, 32)
FIXED = f"Gaussian(sigma=1.1, sensitivity=2).{{}}(batch={BATCH}, records={RECORDS}"


class Way(NamedTuple):
    """How batches are made, which neighbours, and the run of single records."""

    name: str
    neighbours: str
    run: str


WAYS = (
    Way("Poisson", "add or remove", f"Gaussian(sigma=1.1).poisson(rate={RATE!r}) * {STEPS}"),
    Way("Poisson", "replace", f"Gaussian(sigma=1.1).poisson(rate={RATE!r}, neighbours='replace') * {STEPS}"),
    Way(
        f"Poisson, at most {CAP}",
        "add or remove",
        f"Gaussian(sigma=1.1).truncated_poisson(rate={RATE!r}, cap={CAP}, records={RECORDS}) * {STEPS}",
    ),
    Way("fixed size", "add or remove", FIXED.format("without_replacement") + f", neighbours='add_remove') * {STEPS}"),
    Way("fixed size", "replace", FIXED.format("without_replacement") + f") * {STEPS}"),
    Way("with replacement", "replace", FIXED.format("with_replacement") + f") * {STEPS}"),
    Way("random allocation", "add or remove", f"Gaussian(sigma=1.1).random_allocation(steps={EPOCH}) * {EPOCHS}"),
    Way("shuffled", "replace", f"Gaussian(sigma=1.1).shuffled_batches(steps={EPOCH}) * {EPOCHS}"),
)


def rows(seconds: float) -> Iterator[str]:
    """One line per way and size."""
    for way in WAYS:
        for size in SIZES:
            start = time.process_time()
            bound = tr.parse(way.run).group(size=size).epsilon(DELTA, seconds=seconds)
            spent = time.process_time() - start
            assert bound.certificate is not None
            speaks = "real groups" if bound.certificate.attained else "the pair"
            yield f"| {way.name} | {way.neighbours} | {size} | {bound} | {speaks} | {spent:.1f} |"


def main() -> None:
    columns = ("batches", "neighbours", "records of a user", "epsilon", "its lower end is of", "seconds")
    print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|", flush=True)
    for row in rows(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0):
        print(row, flush=True)


if __name__ == "__main__":
    main()
