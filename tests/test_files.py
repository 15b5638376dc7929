"""Text and JSON open no file unless the caller gives a folder, and nothing outside of it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.cli.app import run

COUNTS = "bin,count\n1,900\n2,100\n"
SECRET = "root:x:0:0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that may be read, beside what may not."""
    inside = tmp_path / "inside"
    (inside / "deeper").mkdir(parents=True)
    (inside / "a.csv").write_text(COUNTS)
    (inside / "deeper" / "b.csv").write_text("bin,count\n1,880\n2,120\n")
    (inside / "plain.csv").write_text("count\n900\n100\n")
    (inside / "draws.csv").write_text("1.5\n2.5\n3.5\n")
    (tmp_path / "secret.csv").write_text(SECRET)
    (tmp_path / "inside-too.csv").write_text(COUNTS)
    (inside / "link.csv").symlink_to(tmp_path / "secret.csv")
    (inside / "away").symlink_to(tmp_path)
    (inside / "loop.csv").symlink_to(inside / "loop.csv")
    (inside / "own.csv").symlink_to(inside / "a.csv")
    os.mkfifo(inside / "pipe.csv")
    (inside / "zero.csv").symlink_to("/dev/zero")
    return inside


def document(a: object) -> str:
    leaf = {"mechanism": "Histograms", "parameters": {"a": a, "b": [880, 120]}}
    return json.dumps({"schema": 1, "run": {"compose": [{"count": 3, "of": leaf}]}})


HOSTILE = [
    "/etc/passwd",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/environ",
    "../secret.csv",
    "deeper/../../secret.csv",
    "link.csv",
    "away/secret.csv",
    "loop.csv",
    "pipe.csv",
    "zero.csv",
    "deeper",
    ".",
    "",
    "absent.csv",
    "a.csv/x",
    "~/.profile",
    "../inside-too.csv",
    "file:///etc/passwd",
    "http://localhost/a.csv",
    "x" * 5000,
]


@pytest.mark.parametrize("name", [*HOSTILE, "a.csv"])
def test_without_a_folder_no_file_is_opened(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)

    def refused(*_: object, **__: object) -> int:
        raise AssertionError("a file was opened")

    monkeypatch.setattr(os, "open", refused)
    for text in (
        f"Histograms(a='{name}', b=[880, 120])",
        f"2 * Histograms([1, 2], '{name}').best_of('geometric', mean=2)",
    ):
        with pytest.raises(tr.TightropeError, match="files=") as caught:
            tr.parse(text)
        assert "\n" not in str(caught.value)
    with pytest.raises(tr.DataError, match="files="):
        tr.load(document(name))


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_outside_of_the_folder_is_read_or_shown(name: str, folder: Path) -> None:
    for ask in (
        lambda: tr.parse(f"Histograms(a='{name}', b=[880, 120])", files=folder),
        lambda: tr.parse(f"Histograms(a='{name}', b=[1], samples=True, bins=[0, 1, 2])", files=folder),
        lambda: tr.load(document(name), files=folder),
    ):
        with pytest.raises(tr.TightropeError) as caught:
            ask()
        assert "root:" not in str(caught.value)
        assert str(folder) not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a\x00.csv", "\ud800", "a\n.csv"])
def test_names_that_no_file_has(name: str, folder: Path) -> None:
    with pytest.raises(tr.DataError):
        tr.load(document(name), files=folder)


def test_files_of_the_folder_are_read(folder: Path) -> None:
    direct = tr.Histograms([900, 100], [880, 120], confidence=0.95)
    text = "Histograms(a='a.csv', b='deeper/b.csv', confidence=0.95)"
    for files in (folder, str(folder), folder / "deeper" / ".."):
        assert tr.parse(text, files=files) == direct
    assert tr.parse("Histograms(a='own.csv', b='deeper/b.csv', confidence=0.95)", files=folder) == direct
    assert tr.load(document("plain.csv"), files=folder) == tr.Histograms([900, 100], [880, 120]) * 3
    assert tr.parse(repr(tr.parse(text, files=folder))) == direct  # the numbers go everywhere
    assert tr.load(tr.dump(tr.parse(text, files=folder))) == direct
    assert str(tr.parse(text, files=folder)) == text
    drawn = tr.parse("Histograms('draws.csv', [1.0, 2.0, 3.0], samples=True, bins=[0, 2, 3, 4])", files=folder)
    assert drawn == tr.Histograms([1, 1, 1], [1, 1, 1])


def test_contents_are_not_shown(folder: Path) -> None:
    (folder / "odd.csv").write_text(f"count\n{SECRET}\n")
    (folder / "odd2.csv").write_text(f"{SECRET},{SECRET},{SECRET}\n")
    (folder / "odd3.csv").write_text(f"bin,count\n{SECRET},1\n{SECRET},2\n")
    for name in ("odd.csv", "odd2.csv", "odd3.csv"):
        for given in ("", ", samples=False", ", samples=True, bins=[0, 1, 2]", ", kind='probabilities'"):
            with pytest.raises(tr.DataError) as caught:
                tr.parse(f"Histograms(a='{name}', b=[880, 120]{given})", files=folder)
            assert "root:" not in str(caught.value)


def test_words_go_only_where_they_belong(folder: Path) -> None:
    for text in (
        "Gaussian(sigma='a.csv')",
        "Finite(p='a.csv', q=[1])",
        "Histograms(a=['a.csv'], b=[1])",
        "Histograms(a=[1], b=[1], samples='a.csv')",
        "Histograms(a=[1], b=[1], bins='a.csv')",
        "Histograms(a=[1], b=[1], confidence=True)",
        "Histograms(a=True, b=[1])",
    ):
        with pytest.raises(tr.TightropeError):
            tr.parse(text, files=folder)


def test_the_command_line_reads_its_working_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    text = "Histograms(a='a.csv', b='deeper/b.csv', confidence=0.95)"
    assert run(["delta", text, "--epsilon", "0.1"]) == 0
    assert "holds with 95 % confidence" in capsys.readouterr().out
    for name in ("../secret.csv", "/etc/passwd", str(folder.parent / "secret.csv"), "link.csv"):
        assert run(["delta", f"Histograms(a='{name}', b=[1])", "--epsilon", "0.1"]) == 2
        assert SECRET not in capsys.readouterr().err


def test_a_calibration_reads_its_files_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tightrope.core.text.expressions import parse_template

    template = parse_template("Histograms(a='a.csv', b='deeper/b.csv') * 3 + Gaussian(sigma=?)", files=folder)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("a file was opened again"))
    assert template(2.0) == tr.Histograms([900, 100], [880, 120]) * 3 + tr.Gaussian(2.0)
    assert template(3.0) == tr.Histograms([900, 100], [880, 120]) * 3 + tr.Gaussian(3.0)


def test_standard_input_names_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is piped in may come from anywhere."""
    import io
    import sys

    monkeypatch.chdir(folder)

    class Piped:
        buffer = io.BytesIO(b"Histograms(a='a.csv', b='deeper/b.csv')")

    monkeypatch.setattr(sys, "stdin", Piped)
    assert run(["delta", "-", "--epsilon", "0.1"]) == 2
    assert "files=" in capsys.readouterr().err


def test_the_title_of_a_plot_names_the_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    text = "Histograms(a='a.csv', b='deeper/b.csv', confidence=0.95)"
    assert run(["curve", text, "--points", "3", "--plot", "c.svg"]) == 0
    assert "holds with 95 % confidence" in capsys.readouterr().out
    assert run(["compare", text, "--delta", "0.5", "--plot", "d.svg"]) == 0
    for name in ("c.svg", "d.svg"):
        said = " ".join(re.findall(r"<!-- (.*?) -->", (folder / name).read_text(), re.DOTALL))
        assert "deeper/b.csv" in said
        assert "880" not in said
        assert name == "d.svg" or "holds with 95 % confidence" in said
