"""A file of scores on the page: the answer is that of tr.audit, the command and Python give the same."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tests.audit.test_audit import scored
from tightrope.cli.app import run as command_line
from tightrope.explore.answers import answer

CLAIM = "Gaussian(sigma=1)"


def written(mu: float = 3.0) -> str:
    scores, member = scored(mu, count=100)
    rows = zip(scores.tolist(), member.tolist(), strict=True)
    return "\n".join(["score,member", *(f"{score!r},{int(flag)}" for score, flag in rows)])


def asked(**changed: Any) -> dict[str, Any]:
    question = {"kind": "audit", "text": CLAIM, "name": "my scores.csv", "design": "runs", "delta": "1e-5"}
    return answer({**question, "scores": written(), **changed})


@pytest.mark.parametrize("text", [CLAIM, "Gaussian(sigma=?)", ""])
@pytest.mark.parametrize("design", ["runs", "one-run", "members"])
def test_the_answer_is_that_of_an_audit(
    text: str, design: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(text=text, design=design)
    (tmp_path / "my scores.csv").write_text(written(), "utf-8")
    monkeypatch.chdir(tmp_path)
    same = tr.audit("my scores.csv", design=design, delta=1e-5, claim=text or None)
    assert found["sentences"] == list(same.sentences)
    assert found["assumed"] == list(same.assumptions)
    assert found["refuted"] is same.refuted
    assert (found["claimed"] is None) == (text != CLAIM)
    assert (found["epsilon"] or {"value": None})["value"] == same.epsilon_lower
    if found["epsilon"]:
        assert float(found["epsilon"]["text"]) <= found["epsilon"]["value"]
    name, *arguments = shlex.split(found["command"])
    assert name == "tightrope"
    assert command_line(arguments) == 0
    printed = capsys.readouterr().out
    assert " ".join(same.sentences[0].split()) in " ".join(printed.split())
    exec(compile(found["python"], "copied", "exec"), {})
    assert " ".join(capsys.readouterr().out.split()) == " ".join(printed.split())
    assert tr.verify(found["json"]).proved


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"design": ""}, "say what was decided by chance|design says what was decided by chance"),
        ({"scores": "1,2\n"}, "column score once"),
        ({"scores": 7}, "scores must be a text"),
        ({"scores": "score,member\n\ud800,1\n"}, "line 2: "),
        ({"name": ["a"]}, "name must be a text"),
        ({"delta": "x"}, "delta must be a number"),
        ({"text": "Gaussian("}, "never closed|column|expected"),
        ({"text": f"{CLAIM}.poisson(rate=0.1)", "design": "random-split"}, "about another relation"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], told: str) -> None:
    assert re.search(told, asked(**changed)["error"])


def test_a_file_whose_name_looks_like_an_option() -> None:
    assert asked(name="--help")["command"].startswith("tightrope audit ./--help --runs")
