"""Documentation is executed: every Python block runs, every command answers, every printed result is the real one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from handbook.blocks import Block, blocks, commands, unread
from handbook.stage import cells
from tests.search import FULL
from tightrope.cli.app import app, run

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+")
WORDS = r"(?:[^|<>#)&\\\n\"']|\\\n|\"[^\"]*\"|'[^']*')*"  # up to what a shell would not hand on
TYPED = re.compile(rf"(?:^ *|\$\(|&& |sudo -u \w+ )(?:\$ )?tightrope ({WORDS})", re.MULTILINE)
MADE = ("docs/mechanisms.md",)  # with examples that tests/mechanisms/test_page.py asks


def to_run(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text("utf-8")) if block.runs]


def to_run_here(page: Path) -> list[Block]:
    """The site runs the same."""
    return [block for block in to_run(page) if not block.needs]


RUN_HERE = [page for page in PAGES if to_run_here(page)]
RUN_THERE = [page for page in PAGES if to_run_here(page) != to_run(page)]  # to their end: tests/interop/test_blocks.py


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


# Several seconds each: make docs runs them all, from the same blocks, and make fuzz.
SLOW = {
    *("docs/howto/best_of_many.md", "docs/howto/own_noise.md", "docs/own.md"),
    *("docs/start/research.md", "docs/start/timings.md"),
}


def test_pages_that_are_left_to_the_site_are_run_there() -> None:
    assert {name_of(page) for page in RUN_HERE} >= SLOW


@pytest.mark.parametrize("page", [page for page in RUN_HERE if FULL or name_of(page) not in SLOW], ids=name_of)
def test_blocks_run_and_print_what_they_say(
    page: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    execute(name_of(page), to_run_here(page), capfd, monkeypatch)


def execute(name: str, found: list[Block], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a page in its order, in one namespace and the present folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in found:
        if block.language == "python":
            exec(compile(block.body, name, "exec"), names)
            came, aside = capfd.readouterr()
            assert came.splitlines() == block.printed
            assert aside == ""
        else:
            converse(block, capfd, monkeypatch)


def converse(block: Block, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(block.body):
        if command.settings is not None:
            for name, value in command.settings.items():
                monkeypatch.setenv(name, value)
            continue
        program, *arguments = command.words
        assert program == "tightrope"
        assert run(arguments) == 0
        assert tuple(capfd.readouterr().out.splitlines()[: len(command.begins)]) == command.begins


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_is_run_to_its_end_by_the_site_or_beside_other_libraries(page: Path) -> None:
    """By exactly one of make docs and make test-interop: what the site only shows is on a page that is run there."""
    text = page.read_text("utf-8")
    code = [block for block in blocks(text) if block.language in ("python", "console") and "/" not in block.heading]
    staged = cells(text, "page.md")
    run_by_site = staged.count("_page.said(") + staged.count("_page.console(")
    assert (run_by_site < len(code)) == (page in RUN_THERE)
    assert run_by_site == len(to_run_here(page))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_code_is_run_by_nobody(page: Path) -> None:
    text = page.read_text("utf-8")
    assert list(unread(text)) == []
    if name_of(page) not in MADE:
        assert [part for part in shown(text) if re.search(r"^\s*(?:\$ |>>> |import |from \S+ import )", part)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_that_are_only_shown_are_there(page: Path) -> None:
    """Such as would go on for ever, or need files of the reader: their names and options are looked up."""
    for part in shown(page.read_text("utf-8")):
        for found in TYPED.finditer(part):
            known(shlex.split(found.group(1)))


def shown(text: str) -> Iterator[str]:
    """Code of a page that is not run: fenced, but of files, and indented."""
    last = 0
    for block in [*blocks(text), Block(len(text), len(text), "text", "", "")]:
        yield from INDENTED.findall(text[last : block.start])
        if not block.runs and block.language != "diff" and not block.heading:
            yield block.body
        last = block.end


def known(words: list[str]) -> None:
    """Raises where there is no such command, or it has no such option."""
    command: click.Command = app
    context = click.Context(command, info_name="tightrope")
    while isinstance(command, click.Group) and words:
        _, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        context = click.Context(command, parent=context)
    command.make_parser(context).parse_args(words)


def test_commands_that_are_only_shown_are_found() -> None:
    text = (
        "# A\n\n    id=$(tightrope a b)\n\n```sh\nsudo -u x tightrope c \\\n    --d 'e | f' > g && tightrope h\n```\n"
    )
    assert [found for part in shown(text) for found in TYPED.findall(part)] == ["a b", "c \\\n    --d 'e | f' ", "h"]
    with pytest.raises(click.NoSuchOption):
        known(["epsilon", "Gaussian(sigma=1)", "--dellta", "1e-6"])
    with pytest.raises(click.UsageError, match="No such command"):
        known(["ledger", "epsilonn"])


def test_the_readme_has_both_kinds_of_blocks() -> None:
    shown = to_run(ROOT / "README.md")
    assert {block.language for block in shown} == {"python", "console"}
    assert any(block.printed for block in shown)
