"""docs/mutants.md: what was run, and every survivor with what is said about it. From the journal and the verdicts.

Usage: python -m benchmarks.mutants.page
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.mutants.__main__ import JOURNAL, ROOMS, SEED, files, journal
from benchmarks.mutants.reach import ROOT
from benchmarks.mutants.sample import mutants
from benchmarks.mutants.verdicts import table, verdict

COLUMNS = 118
PAGE = ROOT / "docs" / "mutants.md"
MARK = "<!-- what follows is written by python -m benchmarks.mutants.page -->\n"
Row = dict[str, object]


def room_of(path: str) -> str:
    """The room that a file is counted in: the longest of those that hold it."""
    held = [room for room in ROOMS if path.startswith(room)]
    return max(held, key=len) if held else str(Path(path).parent)


def current() -> list[Row]:
    """Rows of files that are as they were then."""
    digests = {mutant.path: mutant.digest for room in ROOMS for file in files((room,)) for mutant in mutants(file)[:1]}
    return [row for row in journal().values() if str(row["key"]).rpartition(":")[2] == digests.get(str(row["path"]))]


def counts(rows: list[Row]) -> Iterator[str]:
    yield "| room | possible | tried | killed | too long | survived | of these argued |"
    yield "|---|---|---|---|---|---|---|"
    total: Counter[str] = Counter()
    for room in ROOMS:
        own = [row for row in rows if room_of(str(row["path"])) == room]
        if not own:
            continue
        found = Counter(str(row["status"]) for row in own)
        left = [row for row in own if row["status"] in ("survived", "unreached")]
        line = {
            "possible": sum(len(mutants(file)) for file in files((room,)) if room_of_file(file) == room),
            "tried": len(own),
            "killed": found["killed"],
            "too long": found["timeout"],
            "survived": len(left),
            "argued": sum(verdict(row) is not None for row in left),
        }
        total.update(line)
        yield f"| {room} | " + " | ".join(f"{value:,}" for value in line.values()) + " |"
    yield "| all | " + " | ".join(f"{value:,}" for value in total.values()) + " |"


def room_of_file(file: Path) -> str:
    return room_of(file.relative_to(ROOT / "src" / "tightrope").as_posix())


def survivors(rows: list[Row]) -> Iterator[str]:
    """Each with its change; those under one rule together."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["status"] in ("survived", "unreached"):
            found = verdict(row)
            grouped[f"{found['kind']}: {found['why']}" if found else "open"].append(row)
    for said, each in sorted(grouped.items(), key=lambda item: (str(item[1][0]["path"]), item[0])):
        yield "\n" + "\n".join(textwrap.wrap(f"**{said}**", COLUMNS)) + "\n"
        yield "```diff"
        for row in sorted(each, key=lambda row: (str(row["path"]), int(str(row["line"])))):
            yield from change(row)
        yield "```"


def change(row: Row) -> Iterator[str]:
    yield f"@ {row['path']}:{row['line']}"
    for mark, text in (("-", str(row["before"])), ("+", str(row["after"]))):
        yield mark + " " + (text if len(text) <= 116 else text[:113] + "...")


def killed_later() -> Iterator[str]:
    """What survived once and is killed now: by a test that was added for it, or by more of those that were there."""
    first: dict[str, Row] = {}
    for line in JOURNAL.read_text().splitlines():
        row = json.loads(line)
        first.setdefault(row["key"], row)
    for key, row in sorted(journal().items()):
        if first[key]["status"] in ("survived", "unreached") and row["status"] == "killed":
            yield from change(row)
            yield f"  {row['by'] or 'the import fails'}"[:118]


def page() -> str:
    rows = current()
    kinds = Counter(found["kind"] for row in rows if row["status"] != "killed" and (found := verdict(row)))
    lines = [
        f"\nSeed {SEED}. {len(rows):,} mutants.\n",
        *counts(rows),
        "\nOf the survivors: " + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) + ".",
        "\n## Survived at first, killed now\n\n```diff",
        *killed_later(),
        "```\n\n## Survivors, and what is said of each",
        *survivors(rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    table.cache_clear()
    head = PAGE.read_text().partition(MARK)[0]
    PAGE.write_text(head + MARK + page())
    sys.exit(0)
