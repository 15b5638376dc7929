from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import tightrope as tr
from tests.cli.test_app import RESULT, Shell
from tests.cli.test_app import shell as shell
from tightrope.cli import entries
from tightrope.cli.portrait import draw, lines
from tightrope.core.text.registry import JOINS, MECHANISMS, TRANSFORMS
from tightrope.version import install_command


def test_the_listing_names_everything_with_its_keywords(shell: Shell) -> None:
    out = shell("mechanisms").out
    for name in ("Gaussian(sigma, sensitivity=1.0)", "Finite(p, q)", ".poisson(rate, neighbours=", "tr.Density(log_p"):
        assert name in out
    for name in (*MECHANISMS, *TRANSFORMS, *JOINS):
        assert f"{name}(" in out
    assert all(len(line) <= 120 for line in out.splitlines())


def test_one_mechanism_with_its_texts_and_its_answer(shell: Shell) -> None:
    out = shell("mechanisms", "Laplace").out
    answer = tr.parse(tr.Laplace.example).epsilon(delta=1e-6)
    for words in (
        "Laplace(scale, sensitivity=1.0)",
        "P = Laplace(sensitivity, scale)",
        "Prop. 1",
        "Tight",
        str(answer),
    ):
        assert words in out
    assert f'$ tightrope epsilon "{tr.Laplace.example}" --delta 1e-6' in out
    assert "docs/mechanisms.md#laplace" in out


@pytest.mark.parametrize("name", [".poisson", "poisson", ".poisson(rate=0.1)"])
def test_a_transformation_with_its_dot_or_without(shell: Shell, name: str) -> None:
    out = shell("mechanisms", name).out
    assert out.startswith(".poisson(rate, neighbours='add_remove')")
    assert "Zhu, Dong, Wang 2021" in out
    assert "(docs/proofs/poisson.md)" in out
    assert "docs/transformations.md#poisson" in out


def test_an_infinite_epsilon_is_no_example(shell: Shell) -> None:
    assert tr.parse(tr.PrivacyCurve.example).epsilon(delta=1e-6).upper == float("inf")
    assert f'tightrope delta "{tr.PrivacyCurve.example}" --epsilon 1' in shell("mechanisms", "PrivacyCurve").out


def test_what_no_text_can_hold_is_shown_in_python(shell: Shell) -> None:
    out = shell("mechanisms", "tr.Density").out
    assert "own = tr.Density(" in out
    assert "example" not in out


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("gausian",), "did you mean Gaussian?"),
        ((".poison",), "did you mean poisson?"),
        ((".Gaussian",), "did you mean Gaussian?"),
        (("qqqq\nqq",), "lists all of them"),
        (("the",), "lists all of them"),
        (("above threshold",), "; SparseVector speaks of it"),
        (("DPFTRL",), "; TreeAggregation, MatrixMechanism speak of it"),
        (("k-RR",), "; RandomizedResponse speaks of it"),
        (("tree",), "; TreeAggregation, training speak of it"),
        (("filter",), "no filter on privacy-loss distributions"),
        (("--plot", "a.png"), "tightrope mechanisms NAME --plot FILE"),
        (("Laplace", "--plot", "a.gif"), "png, pdf, svg"),
        (("Density", "--plot", "a.png"), "no text can hold"),
    ],
)
def test_what_is_wrong_takes_one_line(shell: Shell, arguments: tuple[str, ...], said: str) -> None:
    outcome = shell("mechanisms", *arguments)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_the_picture(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = tmp_path / "a.svg"
    assert str(picture) in shell("mechanisms", "PureDP", "--plot", str(picture)).out
    assert "guessing" in (drawn := picture.read_text("utf-8"))
    assert "PureDP(epsilon=0.1) * 20" in drawn
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert install_command("plot") in shell("mechanisms", "PureDP", "--plot", str(picture)).err


def test_a_curve_that_stays_up_is_drawn_beyond_its_fall() -> None:
    left = draw([tr.ApproximateDP(epsilon=1, delta=1e-3)]).axes[0]
    assert left.get_xlim()[1] > 1.2
    assert draw([tr.PureDP(epsilon=1)]).axes[0].get_xlim()[1] < 1.1


def test_what_a_picture_shows() -> None:
    made = {name: [str(each) for each in lines(tr.parse(entry.make.example))] for name, entry in shown().items()}
    assert made["Gaussian"] == ["Gaussian(sigma=2.0)", "Gaussian(sigma=2.0) * 10"]
    assert made["GDP"] == ["GDP(mu=0.5)", "GDP(mu=0.5) * 10"]
    assert made["group"] == ["Laplace(scale=10.0)", "Laplace(scale=10.0).group(size=3)"]
    assert len(made["parallel"]) == 4
    assert made["compose"][-1] == "Gaussian(sigma=2.0) * 10 + Laplace(scale=10.0)"


def shown() -> dict[str, entries.Entry]:
    both = {**entries.mechanisms(), **entries.transformations()}
    return {name: entry for name, entry in both.items() if entry.make.example}


def test_as_json(shell: Shell) -> None:
    document = json.loads(shell("mechanisms", "Gaussian", "--json").out)
    assert document["parameters"] == [{"name": "sigma"}, {"name": "sensitivity", "default": 1.0}]
    assert document["example"] == tr.Gaussian.example
    RESULT.validate({"schema": 1, **document["answer"]})
    everything = json.loads(shell("mechanisms", "--json").out)["entries"]
    assert [each["name"] for each in everything] == [*entries.mechanisms(), *entries.transformations()]
    assert "snippet" in json.loads(shell("mechanisms", "Density", "--json").out)
