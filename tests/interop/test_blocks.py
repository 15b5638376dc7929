"""Blocks of the documentation that need other libraries: headed ```python needs NAME [NAME ...] and run here."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.test_docs import PAGES, PRINTED, ROOT

BLOCK = re.compile(r"^```python needs ([\w ]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FOUND = [
    (page, needs)
    for page in PAGES
    for needs in dict.fromkeys(found for found, _ in BLOCK.findall(page.read_text("utf-8")))
]


@pytest.mark.filterwarnings("ignore")  # other libraries warn of themselves
@pytest.mark.parametrize(("page", "needs"), FOUND, ids=lambda value: value.name if isinstance(value, Path) else value)
def test_blocks_run_and_print_what_they_say(
    page: Path, needs: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Blocks of one page that need the same libraries share their names, from the first to the last."""
    absent = [name for name in needs.split() if find_spec(name) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for found, body in BLOCK.findall(page.read_text("utf-8")):
        if found == needs:
            exec(compile(body, str(page.relative_to(ROOT)), "exec"), names)
            assert capsys.readouterr().out.splitlines() == PRINTED.findall(body)


def test_each_adapter_has_a_block() -> None:
    adapters = {
        path.stem for path in (ROOT / "src" / "tightrope" / "interop").iterdir() if not path.stem.startswith("_")
    }
    shown = {name for _, needs in FOUND for name in needs.split()}
    assert adapters - {"missing", "spending"} <= shown
