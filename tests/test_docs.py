"""Documentation is executed: every Python block runs, every command answers, every printed result is the real one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tightrope.cli.app import run

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


def blocks(page: Path, language: str) -> Iterator[str]:
    return (body for found, body in BLOCK.findall(page.read_text("utf-8")) if found == language)


@pytest.fixture(autouse=True)
def in_an_empty_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run_and_print_what_they_say(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    for body in blocks(page, "python"):
        exec(compile(body, str(page), "exec"), names)
        assert capsys.readouterr().out.splitlines() == PRINTED.findall(body)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_answer_what_they_say(
    page: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for body in blocks(page, "console"):
        for command, *expected in (part.splitlines() for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]):
            program, *arguments = shlex.split(command)
            if program == "export":
                for name, _, value in (each.partition("=") for each in arguments):
                    monkeypatch.setenv(name, value)
                continue
            assert program == "tightrope"
            assert run(arguments) == 0
            assert capsys.readouterr().out.splitlines()[: len(expected)] == expected


def test_the_readme_has_both_kinds_of_blocks() -> None:
    assert list(blocks(ROOT / "README.md", "python"))
    assert list(blocks(ROOT / "README.md", "console"))
    assert PRINTED.findall((ROOT / "README.md").read_text("utf-8"))
