"""tightrope verify: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tightrope.cli.app import run


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) == 0
    return capsys.readouterr().out


def test_an_answer_is_proved_and_a_false_one_refuted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    text = answered(capsys, "epsilon", "Laplace(scale=2) * 2", "--delta", "1e-3", "--json")
    file.write_text(text, "utf-8")
    assert "2 proved, 0 refuted, 0 not checkable" in answered(capsys, "verify", str(file))
    assert json.loads(answered(capsys, "verify", str(file), "--json"))["proved"] == 2
    false = json.loads(text)
    file.write_text(json.dumps({**false, "upper": false["lower"] * 0.9, "lower": 0.0}), "utf-8")
    assert run(["verify", str(file)]) == 1
    shown = capsys.readouterr().out
    assert "refuted; delta there in [" in shown
    assert "changed after it was written" in shown


def test_what_is_not_checkable_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text(
        answered(capsys, "epsilon", "PureDP(epsilon=1).shuffle(users=100)", "--delta", "1e-3", "--json"), "utf-8"
    )
    assert run(["verify", str(file)]) == 3
    assert "not checkable (.shuffle" in capsys.readouterr().out


def test_what_is_no_answer_takes_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text("{}", "utf-8")
    assert run(["verify", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_table_of_a_training_run_verifies_row_by_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "training.json"
    plan = ["--records", "100", "--batch", "100", "--epochs", "2", "--sigma", "9", "--delta", "1e-5"]
    file.write_text(answered(capsys, "train", *plan, "--table", "--json"), "utf-8")
    assert "6 proved, 0 refuted, 0 not checkable" in answered(capsys, "verify", str(file))


@pytest.mark.parametrize("name", ["report.html", "report.pdf"])
def test_a_report_verifies_and_is_asked_again(name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, again = str(tmp_path / name), str(tmp_path / "again.json")
    option = f"--{name.partition('.')[2]}"
    answered(capsys, "report", "Laplace(scale=2) * 2", "--delta", "1e-3", option, file, "--date", "2026-11-16")
    assert "2 proved, 0 refuted, 0 not checkable" in answered(capsys, "verify", file)
    answered(capsys, "report", file, "--json", again, "--date", "2026-11-16")
    assert "2 proved" in answered(capsys, "verify", again)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_of_other_shells_are_read(encoding: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text(answered(capsys, "delta", "Gaussian(sigma=2)", "--epsilon", "1", "--json"), encoding)
    assert "2 proved" in answered(capsys, "verify", str(file))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("answer.json", bytes(range(256)), "not text in UTF-8"),
        ("report.pdf", b"%PDF-1.7 \xff", "nothing is attached"),
        ("rows.csv", b"lower,upper", "rows of a sweep"),
    ],
)
def test_other_files_are_refused_in_a_line(
    name: str, data: bytes, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    assert run(["verify", str(tmp_path / name)]) == 2
    shown = capsys.readouterr().err
    assert message in shown
    assert shown.count("\n") == 1
