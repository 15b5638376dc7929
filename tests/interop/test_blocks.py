"""Pages with blocks that need other libraries, headed ```python needs NAME [NAME ...], run here from top to bottom."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.test_docs import ROOT, RUN_THERE, execute, name_of, to_run

NEEDS = {page: {name for block in to_run(page) for name in block.needs} for page in RUN_THERE}


@pytest.mark.filterwarnings("ignore")  # other libraries warn of themselves
@pytest.mark.parametrize("page", NEEDS, ids=name_of)
def test_blocks_run_and_print_what_they_say(
    page: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    absent = [name for name in sorted(NEEDS[page]) if find_spec(name) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} not installed")
    monkeypatch.chdir(tmp_path)
    execute(name_of(page), to_run(page), capfd, monkeypatch)


def test_what_is_needed_is_installed_for_it() -> None:
    """Else a page would be skipped for ever."""
    lines = (Path(__file__).parent / "requirements.txt").read_text("utf-8").splitlines()
    installed = {line.split("=")[0].replace("-", "_") for line in lines}
    assert set().union(*NEEDS.values()) <= installed


def test_each_adapter_has_a_block() -> None:
    adapters = {
        path.stem for path in (ROOT / "src" / "tightrope" / "interop").iterdir() if not path.stem.startswith("_")
    }
    shown = set().union(*NEEDS.values())
    assert adapters - {"missing", "spending", "tff"} <= shown  # tff needs no library
