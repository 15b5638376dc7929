"""docs/benchmarks.md, its two figures and the README's section, from results.json: python -m benchmarks.peers.page."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .case import cases
from .faults import section as faults
from .table import OURS, Results, Row, results, shown, summary
from .tools.table import TOOLS
from .verdict import number, said, truths, value_of

ROOT = Path(__file__).resolve().parents[2]
PAGE, README, FIGURES = ROOT / "docs" / "benchmarks.md", ROOT / "README.md", ROOT / "docs" / "figures"
HEADING, NEXT = "## Beside other libraries\n", "## Where to go\n"
WIDTHS, SOUNDNESS = "benchmarks_width.png", "benchmarks_soundness.png"


def command(row: Row) -> str:
    """What shows one answer."""
    folder = {"tightrope": ".venv", "autodp": ".venv-peers-autodp"}.get(TOOLS[row.tool].package, ".venv-peers")
    return f"`{folder}/bin/python -m benchmarks.peers.one {row.tool} {row.case.name}`"


def head(found: Results) -> list[str]:
    """Where, when, with what."""
    about = found.about
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    answered = len({row.case.name for row in found.rows if row.tool == OURS and row.answers})
    return [
        "# Beside other libraries",
        "",
        f"{len(found.by_case)} cases, each asked of every tool that covers it, in a new process with limits of",
        f"{about['limits']['seconds']:g} seconds of the processor and {about['limits']['gigabytes']:g} GB.",
        f"Tightrope answered {answered} of them.",
        f"Run on {about['date']}: {about['machine']}, {about['cores']} cores, Python {about['python']},",
        "one process at a time; load average at the start " + str(about["load_at_start"]) + ".",
        *(f"Answers that it took over are of {date}: {machine}." for date, machine in about.get("before", [])),
        "",
        *wrapped(f"Versions: {versions}."),
        "",
        "`make bench-peers` does it again and makes this page, its figures and the table of the README; nothing here",
        "is written by hand. The cases are benchmarks/peers/cases.json, the answers benchmarks/peers/results.json.",
        "",
        "## By tool",
        "",
        *unasked(found),
        *summary(found),
        "",
        "*Answered* counts finite answers, of the cases that the tool covers. *Distance* is the median of the width",
        "where both ends are claimed, else of the distance from the truth, relative, over sound answers. *Seconds* is",
        "the median time of the processor to the first answer, with all that has to be loaded; *MB* is the most.",
        "Medians are over what each tool covers, so that rows of tools that cover different cases do not compare;",
        "rows of one case below do.",
        "",
        f"![Width against time](figures/{WIDTHS})",
        "",
        f"![Soundness by delta](figures/{SOUNDNESS})",
        "",
    ]


def unasked(found: Results) -> list[str]:
    """Said where a run is not whole, since its counts are of what was asked."""
    missing = len(cases()) * len(TOOLS) - len(found.rows)
    whole = f"This run is not whole: {missing} of {len(cases()) * len(TOOLS)} pairs of tool and case were not asked,"
    return [whole, "and counts and medians are of those that were, in parts on a busy machine.", ""] if missing else []


def wrapped(line: str, columns: int = 116) -> list[str]:
    """Lines that fit."""
    from textwrap import wrap

    return wrap(line, columns, break_long_words=False, break_on_hyphens=False)


def settings() -> list[str]:
    """Each tool: what its number claims, by its documentation, and how it was set."""
    lines = ["## What each number claims", "", "| tool | claims | setting |", "|---|---|---|"]
    lines += [f"| {tool.name} | {tool.claim} | {tool.setting} |" for tool in TOOLS.values()]
    return [
        *lines,
        "",
        "Opacus's accountants run without torch (benchmarks/peers/tools/opacus.py says how); riskcal's epsilon is that",
        "of dp-accounting. autodp runs with the scipy that it was written for. A tool that has no name for a case is",
        "not asked: `not_covered` in the results says what it lacks.",
        "",
    ]


def false_claims(found: Results) -> list[str]:
    """Each with the command that shows it."""
    lines = [
        "## Where a claimed bound misses the truth",
        "",
        "| case | tool | what it says | the truth | off | command |",
        "|---|---|---|---|---|---|",
    ]
    for row in found.false_claims():
        value = value_of(row.found)
        assert value is not None
        lines.append(
            f"| {row.case.title} | {row.tool} | {shown(value)} | {shown(row.truth.middle)} "
            f"| {row.missed} | {command(row)} |"
        )
    lines.append("")
    if any("randomized" in row.case.name and row.tool.startswith("dp-accounting") for row in found.false_claims()):
        lines += [
            "`PLDAccountant.compose` of dp-accounting counts a RandomizedResponseDpEvent once, whatever its count.",
            "",
        ]
    if any(row.tool == "PLD_accounting" and "rate" in row.case.steps[0] for row in found.false_claims()):
        lines += [
            "For samples, PLD_accounting takes over a distribution of dp-accounting, with a RuntimeWarning that mass",
            "is trimmed; what it returns is composed and read by dp-accounting, so that the fault may lie with either.",
            "",
        ]
    return [*lines, *faults()]


def better(found: Results) -> list[str]:
    """Where somebody else is the better choice."""
    lines = [
        "## Where another tool is better",
        "",
        "Sound answers that came sooner than ours, whatever their distance from the truth, or whose upper end",
        "is closer to it; distances are relative, and within what is known of the truth they count as none:",
        "",
        "| case | tool | how |",
        "|---|---|---|",
    ]
    lines += [f"| {row.case.title} | {row.tool} | {how} |" for row, how in found.better()]
    return [*lines, ""]


def line(row: Row, how: str) -> str:
    """One row of the table of a section."""
    mark = f" (**better**: {how.rpartition('; ')[0]})" if how else ""
    verdict = said(row.found, row.truth).replace("|", "/")
    value = value_of(row.found)
    if value is None:
        return f"| | {row.tool} | - | - | - | {verdict} |"
    lower = number(row.found, "lower")
    ends = shown(value) if lower is None else f"[{shown(lower)}, {shown(value)}]"
    return f"| | {row.tool} | {ends} | {row.seconds:.2f} | {row.found['peak_megabytes']} | {verdict}{mark} |"


def sections(found: Results) -> list[str]:
    """Every answer of every case."""
    marks = {(row.case.name, row.tool): how for row, how in found.better()}
    lines = ["## Every answer", ""]
    for section in dict.fromkeys(case.section for case in cases().values()):
        lines += [f"### {section}", "", "| case | tool | answer | s | MB | the truth |", "|---|---|---|---|---|---|"]
        for name, rows in found.by_case.items():
            case = cases()[name]
            if case.section != section:
                continue
            truth = truths()[name]
            known = (
                truth.lower_text
                if truth.lower_text == truth.upper_text
                else (f"[{truth.lower_text}, {truth.upper_text}]")
            )
            lines.append(f"| {case.title} | *truth* | {known} | | | {truth.how} |")
            lines += [line(row, marks.get((name, row.tool), "")) for row in rows.values() if row.covered]
        lines.append("")
    return lines


def ending() -> list[str]:
    """How the truths were found."""
    return [
        "## The truths",
        "",
        "`python -m benchmarks.peers.truth` computes benchmarks/peers/truths.json: reference vectors of the tests,",
        "closed forms, exact sums and contour integrals of brute force at two step sizes, without the package.",
        "*ours* is the certified interval of the package, where nobody else computes the number: it can show another",
        "tool wrong, and says nothing about ours. Without replacement, the interval reaches from what real neighbours",
        "lose to what the dominating pair allows; for the exponential mechanism, from what two candidates lose to what",
        "zero-concentrated privacy allows. A number counts as right within 1e-14, relative.",
    ]


def page(found: Results) -> str:
    """The whole page."""
    parts = [head(found), settings(), false_claims(found), better(found), sections(found), ending()]
    return "\n".join(text for part in parts for text in part).rstrip() + "\n"


def readme(found: Results) -> str:
    """The section of the README."""
    lines = [
        HEADING.rstrip(),
        "",
        f"{len(found.by_case)} cases: DP-SGD from one step to a million, deltas down to 1e-40, Laplace and discrete",
        "noise, mixtures, groups, other ways to sample, calibration; each tool in new processes. Medians of what each",
        "covers; case by case, with the command for each false claim: [benchmarks](docs/benchmarks.md). What others do",
        "better: [which library for what](docs/comparison.md).",
        "",
        *unasked(found),
        *summary(found),
        "",
    ]
    return "\n".join(lines) + "\n"


def with_section(text: str, section: str) -> str:
    """The README with its section put in."""
    return re.sub(f"{HEADING}.*?(?={NEXT})", lambda _: section, text, flags=re.DOTALL)


def main() -> None:
    """All of it; `check` says whether the pages are those of the results."""
    found = results()
    if sys.argv[1:] == ["check"]:
        fresh = PAGE.read_text() == page(found) and readme(found) in README.read_text()
        sys.exit(0 if fresh else "run python -m benchmarks.peers.page")
    from .plots import soundness, widths

    PAGE.write_text(page(found))
    README.write_text(with_section(README.read_text(), readme(found)))
    widths(found, FIGURES / WIDTHS)
    soundness(found, FIGURES / SOUNDNESS)


if __name__ == "__main__":
    main()
