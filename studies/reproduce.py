"""Draws every figure, decides every claim, and writes the page: python -m studies.reproduce.

--only makes a part anew, by the name of a figure's module, the key of a claim or the name of a record, or the start of
one; the rest of the page stays as it is.
"""

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

from studies import claim
from studies.characteristic_function import source as characteristic_function
from studies.drawing import draw
from studies.figure import Figure
from studies.page import Drawn, page, shown
from studies.tight_on_budget import source as tight_on_budget

DOCS = Path(__file__).resolve().parent.parent / "docs"
SOURCES = (tight_on_budget.SOURCE, characteristic_function.SOURCE)
FIGURES = tuple(module for source in SOURCES for module in source.figures)
CLAIMS = tuple(each for source in SOURCES for each in source.claims)
RECORDS = {name: make for source in SOURCES for name, make in source.records.items()}
SLOWEST = ("12", "03", "14", "19", "20", "18", "22")  # first, so that the last one does not keep everybody waiting


def compute(module: str) -> Figure:
    """The figure of a module, as a value."""
    found = import_module(f"studies.{module}").figure()
    assert isinstance(found, Figure)
    return found


def drawn_name(module: str) -> str:
    """The name under which a module's figure is drawn: figure-01 for tight_on_budget.figure_01."""
    return module.rsplit(".", 1)[1].replace("_", "-")


def draw_figure(module: str, folder: Path) -> Drawn:
    """Computes and draws one figure."""
    figure = compute(module)
    assert figure.name == drawn_name(module)
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
@click.option("--only", multiple=True, metavar="NAME", help="A figure, claim or record, or the start of its name.")
def main(workers: int, docs: Path, only: tuple[str, ...]) -> None:
    """Everything, or what is named, with progress."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folder, start = docs / "figures", time.perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    console = Console()

    def wanted(name: str) -> bool:
        return not only or name.startswith(only) or name.split(".")[-1].startswith(only)

    for name, make in RECORDS.items():
        if wanted(name):
            make()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool,
        Progress(*columns, console=console) as progress,
    ):
        order = sorted(filter(wanted, FIGURES), key=lambda module: module[-2:] not in SLOWEST)
        drawing = {pool.submit(draw_figure, module, folder): module for module in order}
        deciding = [pool.submit(decide_claim, index) for index, each in enumerate(CLAIMS) if wanted(each.key)]
        figures = progress.add_task("figures", total=len(drawing))
        claims = progress.add_task("claims", total=len(deciding))
        for future in drawing:
            future.add_done_callback(lambda _: progress.advance(figures))
        for decided in deciding:
            decided.add_done_callback(lambda _: progress.advance(claims))
        found = {module: future.result() for future, module in drawing.items()}
        findings = {decided.result().key: decided.result() for decided in deciding}
    if only:
        kept = shown((docs / "paper.md").read_text("utf-8"))
        found = {module: found.get(module) or kept[drawn_name(module)] for module in FIGURES}
        findings = claim.read() | findings
    claim.write([findings[each.key] for each in CLAIMS])
    (docs / "paper.md").write_text(page(SOURCES, found, findings), encoding="utf-8")
    holding = sum(findings[each.key].holds for each in CLAIMS)
    console.print(
        f"{len(drawing)} figures, {holding} of {len(CLAIMS)} claims hold, {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
