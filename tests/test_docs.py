"""Documentation is executed: every Python block runs, every command answers, every printed result is the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handbook.blocks import Block, blocks, commands
from tightrope.cli.app import run

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def to_run(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text("utf-8")) if block.runs]


# A page with blocks that need other libraries is run where these are: tests/interop/test_blocks.py.
RUN_HERE = [page for page in PAGES if to_run(page) and not any(block.needs for block in to_run(page))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", RUN_HERE, ids=name_of)
def test_blocks_run_and_print_what_they_say(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    execute(page, capsys, monkeypatch)


def execute(page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All blocks of a page in its order, in one namespace and the present folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in to_run(page):
        if block.language == "python":
            exec(compile(block.body, name_of(page), "exec"), names)
            assert capsys.readouterr().out.splitlines() == block.printed
        else:
            converse(block, capsys, monkeypatch)


def converse(block: Block, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for command in commands(block.body):
        if command.settings is not None:
            for name, value in command.settings.items():
                monkeypatch.setenv(name, value)
            continue
        program, *arguments = command.words
        assert program == "tightrope"
        assert run(arguments) == 0
        assert tuple(capsys.readouterr().out.splitlines()[: len(command.begins)]) == command.begins


def test_the_readme_has_both_kinds_of_blocks() -> None:
    shown = to_run(ROOT / "README.md")
    assert {block.language for block in shown} == {"python", "console"}
    assert any(block.printed for block in shown)
