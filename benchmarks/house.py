"""The house, measured: what a reader and a contributor meet, counted on the tree itself.

    python -m benchmarks.house              prints the table, then where each row is not yet as wanted
    python -m benchmarks.house write        writes docs/house.md and docs/figures/house.svg too (make house)
    python -m benchmarks.house at FOLDER    counts in another tree: this is how the column "then" was made

Each row has three columns: what it was before its redesign began, what it is, what is wanted. Most is read from the
syntax trees of src/; what a question walks through is traced in a process that imports the tree. tests/test_house.py
fails where a row that docs/house.md shows as reached is reached no longer (lines of src/ apart: the next mechanism may
bring its own).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.house_families import (
    answers_to_k,
    conformance,
    family_imports,
    files_to_touch,
    kernel_knowledge,
    planner_words,
    recognition,
    saddle_solvers,
)
from benchmarks.house_files import (
    ambiguous_constants,
    duplicate_classes,
    hidden_builtins,
    lines,
    long_files,
    long_functions,
    scattered_constants,
    slack_lines,
    wide_functions,
)
from benchmarks.house_shape import (
    application_imports,
    engine_flags,
    late_imports,
    pair_methods,
    shown_results,
    sibling_engines,
    single_importers,
    upward_imports,
    vague_locals,
    words,
)
from benchmarks.house_tree import House, Row, house_at
from benchmarks.house_walk import before_engine, planners, public, spend, walk

ROOT = Path(__file__).resolve().parent.parent

MEASURES: tuple[Callable[[House], Row], ...] = (
    recognition,
    family_imports,
    files_to_touch,
    conformance,
    answers_to_k,
    saddle_solvers,
    planner_words,
    kernel_knowledge,
    duplicate_classes,
    hidden_builtins,
    scattered_constants,
    ambiguous_constants,
    slack_lines,
    wide_functions,
    long_functions,
    long_files,
    lines,
    walk,
    before_engine,
    planners,
    spend,
    public,
    pair_methods,
    engine_flags,
    application_imports,
    upward_imports,
    late_imports,
    sibling_engines,
    single_importers,
    shown_results,
    words,
    vague_locals,
)


def measured(house: House) -> tuple[Row, ...]:
    return tuple(measure(house) for measure in MEASURES)


def table(rows: tuple[Row, ...]) -> str:
    head = ("what", "then", "now", "wanted", "reached")
    cells = [head, *((row.what, row.then, row.now, row.wanted, "yes" if row.reached else "no") for row in rows)]
    return "\n".join(
        ["| " + " | ".join(cells[0]) + " |", "|---|---|---|---|---|", *("| " + " | ".join(x) + " |" for x in cells[1:])]
    )


def main(arguments: list[str]) -> int:
    house = house_at(Path(arguments[1]).resolve() if arguments[:1] == ["at"] else ROOT)
    rows = measured(house)
    print(table(rows))
    if arguments == ["write"]:
        from benchmarks.house_page import write

        write(house, table(rows))
        return 0
    for row in rows:
        if not row.reached:
            print(f"\n{row.what}: {row.now}, wanted {row.wanted}")
            print("\n".join(f"  {each}" for each in row.where))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
