"""compare: rows, words, refusals, the command and its plots."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import tightrope as tr
from tightrope.cli.compare import compare as command
from tightrope.compare import compare, growth
from tightrope.compare.comparison import distance
from tightrope.compare.methods import METHODS, Kind
from tightrope.convert.renyi import markov_delta, renyi_delta
from tightrope.errors import InvalidParameter

RUN = "RandomizedResponse(p=0.6) * 20"


def test_every_method_answers_the_same_question() -> None:
    found = compare(tr.parse(RUN), delta=1e-4)
    assert [row.method for row in found.rows] == [method.name for method in METHODS]
    assert found.truth == tr.parse(RUN).epsilon(1e-4)
    for row in found.rows:
        if row.kind is Kind.UPPER:
            assert row.value >= found.truth.lower
        assert row.why
        assert "\n" not in row.why
    best = {row.method: row for row in found.rows}["optimal, best point"]
    assert best.distance == "exact" or best.value <= found.truth.upper * (1 + 1e-9)
    assert compare(tr.parse(RUN), epsilon=1.0).quantity == "delta"


def test_distances_in_words() -> None:
    truth = tr.Bound(1.0, 1.0000001)
    assert distance(1.00000005, truth, "epsilon") == "exact"
    assert distance(0.9, truth, "epsilon") == "too low by 10 %"
    assert distance(1.5, truth, "epsilon") == "50 % above"
    assert distance(30.0, truth, "epsilon") == "30 times"
    assert distance(2500.0, truth, "epsilon") == "2,500 times"
    assert distance(math.inf, truth, "epsilon") == "says nothing"
    assert distance(1.0, tr.Bound(0.1, 0.2), "delta") == "says nothing"
    assert distance(math.inf, tr.Bound(math.inf, math.inf), "epsilon") == "exact"
    assert distance(0.25, tr.Bound(0.0, 0.0), "delta") == "0.25 above 0"


def test_bad_questions_are_refused() -> None:
    run = tr.parse(RUN)
    for settings in ({}, {"delta": 0.1, "epsilon": 1.0}, {"delta": 1.5}, {"epsilon": -1.0}, {"delta": math.nan}):
        with pytest.raises(InvalidParameter):
            compare(run, **settings)
    for counts in ((), (0, 1), (3, 2), (1.5,)):
        with pytest.raises(InvalidParameter):
            growth(run, counts, delta=0.1)  # type: ignore[arg-type]


def test_growth_repeats_the_run() -> None:
    found = growth(tr.parse("PureDP(epsilon=0.1)"), [1, 4, 16], delta=1e-5)
    assert [each.truth.upper for each in found] == sorted(each.truth.upper for each in found)
    assert found[2].truth == (tr.PureDP(epsilon=0.1) * 16).epsilon(1e-5)


def test_the_command_prints_methods_and_reasons() -> None:
    result = CliRunner().invoke(command, [RUN, "--delta", "1e-4"], standalone_mode=False)
    assert result.exception is None
    for method in METHODS:
        assert method.name in result.output
        assert method.why in result.output
        assert method.kind.value in result.output
    # A printed bound is still one.
    line = next(line for line in result.output.splitlines() if line.strip().startswith("zCDP"))
    assert float(line.split()[1]) >= {row.method: row.value for row in compare(tr.parse(RUN), delta=1e-4).rows}["zCDP"]


def test_the_command_answers_in_json() -> None:
    result = CliRunner().invoke(command, [RUN, "--epsilon", "1", "--json"], standalone_mode=False)
    document = json.loads(result.output)
    assert document["schema"] == 1
    assert document["quantity"] == "delta"
    assert len(document["methods"]) == len(METHODS)
    several = CliRunner().invoke(command, [RUN, "--delta", "1e-3", "--over", "1,2", "--json"], standalone_mode=False)
    assert len(json.loads(several.output)["results"]) == 2


@pytest.mark.parametrize("options", [("--delta", "0.1", "--over", "1,x"), ("--delta", "0.1", "--over", "2,1"), ()])
def test_the_command_refuses_in_one_line(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(command, [RUN, *options], standalone_mode=False)
    assert isinstance(result.exception, InvalidParameter)
    assert "\n" not in str(result.exception)


def test_plots_are_written(tmp_path: Path) -> None:
    for options in (("--plot", "one.png"), ("--over", "1,2,4", "--plot", "growth.svg")):
        name = tmp_path / options[-1]
        arguments = [RUN, "--delta", "1e-3", *options[:-1], str(name)]
        result = CliRunner().invoke(command, arguments, standalone_mode=False)
        assert result.exception is None
        assert name.stat().st_size > 5000
    refused = CliRunner().invoke(command, [RUN, "--delta", "1e-3", "--plot", "plot.gif"], standalone_mode=False)
    assert isinstance(refused.exception, InvalidParameter)


def test_sampled_cut_noise_keeps_its_atom() -> None:
    """Sampled for add, the infinite mass of cut noise is a finite loss, which the moments must not forget."""
    cut = tr.TruncatedGaussian(sigma=10.0, bounds=(-3.0, 3.0), mode="cut")
    run = cut.poisson(rate=0.5) * 10 + tr.Finite(p=(0.999999, 0.000001), q=(0.01, 0.99))
    truth = run.delta(9.0)
    assert renyi_delta(run, 9.0) >= truth.lower > 0.98
    assert markov_delta(run, 9.0) >= truth.lower
