"""Draws every figure, decides every claim, and writes the page: python -m studies.reproduce."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from studies.drawing import draw
from studies.figure import Figure
from studies.tight_on_budget import claim
from studies.tight_on_budget.claims import CLAIMS
from studies.tight_on_budget.page import Drawn, page

DOCS = Path(__file__).resolve().parent.parent / "docs"
FIGURES = (
    *(f"tight_on_budget.figure_{number:02}" for number in (1, 2, 3, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22)),
    *(f"characteristic_function.experiment_{number}" for number in (1, 2, 3)),
)
SLOWEST = ("12", "03", "14", "19", "20", "18", "22")  # first, so that the last one does not keep everybody waiting


def compute(module: str) -> Figure:
    """The figure of a module, as a value."""
    found = import_module(f"studies.{module}").figure()
    assert isinstance(found, Figure)
    return found


def draw_figure(module: str, folder: Path) -> Drawn:
    """Computes and draws one figure."""
    figure = compute(module)
    draw(figure, folder / f"{figure.name}.png")
    return Drawn(figure.name, figure.title, figure.caption)


def decide_claim(index: int) -> claim.Finding:
    """Decides one claim, by its place in the list, since its questions cannot travel between processes."""
    found = claim.decide(CLAIMS[index])
    return claim.Finding(
        found.key, {name: type(bound)(bound.lower, bound.upper) for name, bound in found.numbers.items()}, found.holds
    )


@click.command()
@click.option("--workers", default=2, show_default=True, help="Processes at a time.")
@click.option("--docs", type=click.Path(path_type=Path), default=DOCS, help="Where the page and the figures go.")
def main(workers: int, docs: Path) -> None:
    """Everything, with progress."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folder, start = docs / "figures", time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    console = Console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        Progress(*columns, console=console) as progress,
    ):
        order = sorted(FIGURES, key=lambda module: module[-2:] not in SLOWEST)
        drawing = {pool.submit(draw_figure, module, folder): module for module in order}
        deciding = [pool.submit(decide_claim, index) for index in range(len(CLAIMS))]
        figures = progress.add_task("figures", total=len(drawing))
        claims = progress.add_task("claims", total=len(deciding))
        for future in drawing:
            future.add_done_callback(lambda _: progress.advance(figures))
        for decided in deciding:
            decided.add_done_callback(lambda _: progress.advance(claims))
        found = {module: future.result() for future, module in drawing.items()}
        findings = {decided.result().key: decided.result() for decided in deciding}
    claim.write([findings[each.key] for each in CLAIMS])
    (docs / "paper.md").write_text(page([found[module] for module in FIGURES], findings), encoding="utf-8")
    kept = sum(finding.holds for finding in findings.values())
    console.print(f"{len(found)} figures, {kept} of {len(findings)} claims hold, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
