"""The table of .ci/run stands in CONTRIBUTING.md where its marks are, whatever stood there before."""

from __future__ import annotations

import pytest

from release.stages import PAGE, written


def test_the_table_is_put_between_the_marks() -> None:
    page = PAGE.read_text("utf-8")
    once = written(page, "stage  wall s\ncheck      7\n")
    assert "\n    stage  wall s\n    check      7\n" in once
    twice = written(once, "stage  wall s\ncheck      8\n")
    assert "check      7" not in twice
    assert twice == written(page, "stage  wall s\ncheck      8\n")
    with pytest.raises(SystemExit, match="no marks"):
        written("a page", "")
