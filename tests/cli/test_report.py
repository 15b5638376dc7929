"""tightrope report: files, and one line where something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.cli.app import run
from tightrope.report import value
from tightrope.report.from_file import document_of
from tightrope.version import install_command

EXPRESSION = "Gaussian(sigma=2) * 3"


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pictures take long, and are looked at elsewhere."""
    monkeypatch.setattr(value, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)


def test_it_writes_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["report", EXPRESSION, "--delta", "1e-6", "--date", "2026-11-16", "--system", "S"]
    assert run([*asked, "--html", "a.html", "--json", "a.json"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("epsilon in [")
    assert out.splitlines()[-1] == "written: a.html, a.json"
    assert install_command("plot") in err
    page = Path("a.html").read_text("utf-8")
    assert page == tr.parse(EXPRESSION).report(delta=1e-6, date="2026-11-16", system="S").html()
    assert json.loads(document_of(page)) == json.loads(Path("a.json").read_text("utf-8"))
    for file in ("a.json", "a.html"):
        assert run(["report", file, "--date", "2026-11-16", "--system", "S", "--html", "b.html"]) == 0
        assert Path("b.html").read_text("utf-8") == page


@pytest.mark.parametrize(
    "wrong",
    [
        [EXPRESSION, "--delta", "1e-6"],
        [EXPRESSION, "--html", "a.html"],
        [EXPRESSION, "--delta", "2", "--html", "a.html"],
        [EXPRESSION, "--delta", "1e-6", "--html", "a", "--json", "a"],
        [EXPRESSION, "--delta", "1e-6", "--html", "nowhere/a.html"],
        [EXPRESSION, "--delta", "1e-6", "--html", "a.html", "--date", "soon"],
        [EXPRESSION, "--delta", "1e-6", "--html", "a.html", "--title", "a\nb"],
        ["missing.json", "--html", "a.html"],
        ["missing.json", "--delta", "1e-6", "--html", "a.html"],
    ],
)
def test_what_is_wrong_takes_one_line(capsys: pytest.CaptureFixture[str], wrong: list[str]) -> None:
    assert run(["report", *wrong]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert not Path("a.html").exists()


def test_a_file_that_says_otherwise_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", EXPRESSION, "--delta", "1e-6", "--json", "a.json"]) == 0
    document = {**json.loads(Path("a.json").read_text("utf-8")), "lower": 0.5, "upper": 0.6}
    document.pop("digest")
    Path("a.json").write_text(json.dumps(document), "utf-8")
    assert run(["report", "a.json", "--html", "a.html"]) == 2
    assert "not to be believed" in capsys.readouterr().err
    assert not Path("a.html").exists()
