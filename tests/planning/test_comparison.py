"""compare: rows, words, refusals, the command and its plots."""

from __future__ import annotations

import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import tightrope as tr
from tightrope.cli.compare import compare as command
from tightrope.core.conversions.renyi_accountant import markov_delta, renyi_delta
from tightrope.core.planning.comparison import Comparison, Row, _row, compare, distance, growth
from tightrope.core.planning.methods import METHODS, Kind
from tightrope.core.planning.pictures import draw_growth
from tightrope.core.values import compute_budget
from tightrope.core.values.errors import InvalidParameter

RUN = "RandomizedResponse(p=0.6) * 20"


def test_every_method_answers_the_same_question() -> None:
    found = compare(tr.parse(RUN), delta=1e-4)
    assert {row.method for row in found.rows} == {method.name for method in METHODS}
    assert found.truth == tr.parse(RUN).epsilon(1e-4)
    for row in found.rows:
        if row.kind is Kind.UPPER:
            assert row.value >= found.truth.lower
        assert row.why
        assert "\n" not in row.why
        assert row.seconds >= 0.0
    best = {row.method: row for row in found.rows}["optimal, best point"]
    assert best.distance == "exact" or best.value <= found.truth.upper * (1 + 1e-9)
    assert compare(tr.parse(RUN), epsilon=1.0, methods="zcdp").quantity == "delta"


def test_rows_are_sorted_by_nearness_and_approximations_come_last() -> None:
    found = compare(tr.parse("Gaussian(sigma=1).poisson(rate=0.01) * 100"), epsilon=1.0)
    kinds = [row.kind is Kind.APPROXIMATION for row in found.rows]
    assert kinds == sorted(kinds)
    bounds = [row for row in found.rows if row.kind is Kind.UPPER]
    assert [row.value for row in bounds] == sorted(row.value for row in bounds)
    assert [row.silent for row in bounds] == sorted(row.silent for row in bounds)
    assert bounds[-1].silent


def test_methods_are_chosen_by_name() -> None:
    run = tr.parse(RUN)

    def names(methods: object) -> set[str]:
        return {row.method for row in compare(run, delta=1e-4, methods=methods).rows}  # type: ignore[arg-type]

    assert names("zcdp") == {"zCDP (Bun, Steinke 2016)", "zCDP, best conversion (Canonne et al. 2020)"}
    assert names(["Renyi, best", " clt "]) == {"Renyi, best conversion (Balle et al. 2020)", "Gaussian limit (CLT)"}
    assert names("moments accountant") == names("mironov") == {"moments accountant (Mironov 2017)"}
    assert names(("optimal", "optimal, one point")) == {"optimal, one point", "optimal, best point"}
    for wrong in ("gdpp", "", ["zCDP", "nothing"], [], [3]):
        with pytest.raises(InvalidParameter, match="method"):
            names(wrong)


def test_classical_conversions_of_divergences_beside_the_best_one() -> None:
    """zCDP: Bun and Steinke's formula, and the best factor; what is known by divergences alone is said to be so."""
    for run, whole in ((tr.ZCDP(rho=0.1) * 5, 0.5), (tr.Gaussian(sigma=1.0), 0.5)):
        found = compare(run, delta=1e-5, methods=["zcdp", "renyi", "moments"])
        rows = {row.method: row.value for row in found.rows}
        classical = whole + 2 * math.sqrt(whole * math.log(1e5))
        assert rows["zCDP (Bun, Steinke 2016)"] == pytest.approx(classical, rel=1e-12)
        assert rows["moments accountant (Mironov 2017)"] == pytest.approx(classical, rel=1e-9)
        sharp = rows["zCDP, best conversion (Canonne et al. 2020)"]
        assert rows["Renyi, best conversion (Balle et al. 2020)"] == pytest.approx(sharp, rel=1e-9)
        assert found.truth.lower <= sharp < classical
        assert ("with these Renyi divergences" in str(found).splitlines()[3]) == isinstance(run.terms[0][0], tr.ZCDP)
    mixed = compare(tr.ZCDP(rho=0.1) + tr.PureDP(epsilon=0.1), epsilon=1.0, methods="zcdp")
    assert "the law of the summed loss" in str(mixed)
    both = compare(tr.ZCDP(rho=0.1) + tr.RenyiCurve(orders=[2.0], divergences=[0.1]), epsilon=1.0, methods="zcdp")
    assert "with these Renyi divergences" in both.why


def test_distances_in_words() -> None:
    truth = tr.Bound(1.0, 1.0000001)
    assert distance(1.00000005, truth, "epsilon") == "exact"
    assert distance(0.9, truth, "epsilon") == "10 % too low"
    assert distance(1.5, truth, "epsilon") == "50 % too high"
    assert distance(1.999, truth, "epsilon") == "2 times too high"
    assert distance(2.0, truth, "epsilon") == "2 times too high"
    assert distance(30.0, truth, "epsilon") == "30 times too high"
    assert distance(99.96, truth, "epsilon") == "100 times too high"
    assert distance(2500.0, truth, "epsilon") == "2,500 times too high"
    assert distance(3e12, truth, "epsilon") == "3.0e12 times too high"
    assert distance(1.0000002, truth, "epsilon") == "under 0.0001 % too high"
    assert distance(1e-30, truth, "epsilon") == "1.0e30 times too low"
    assert distance(5e-324, truth, "epsilon") == "beyond 1e308 times too low"
    assert distance(0.0, truth, "epsilon") == "1 too low"
    assert distance(math.inf, truth, "epsilon") == "says nothing"
    assert distance(1.0, tr.Bound(0.1, 0.2), "delta") == "says nothing"
    assert distance(math.inf, tr.Bound(math.inf, math.inf), "epsilon") == "exact"
    assert distance(3.0, tr.Bound(math.inf, math.inf), "epsilon") == "too low: there is no finite one"
    assert distance(0.25, tr.Bound(0.0, 0.0), "delta") == "0.25 too high"


def test_no_distance_has_an_exponent_where_a_reader_expects_none() -> None:
    for value in (1.0 + step / 997.0 for step in range(0, 1200, 7)):
        for truth in (tr.Bound(1.0, 1.0), tr.Bound(4.0, 4.0)):
            words = distance(value, truth, "epsilon")
            assert "e" not in words.replace("exact", "").replace("times", ""), (value, words)


def test_an_allowance_ends_the_comparison_and_says_so() -> None:
    with compute_budget.allowance(1e-9):
        spent = _row(METHODS[0], tr.parse(RUN), "epsilon", 1e-4, tr.Bound(1.0, 1.1), 1.0)
    assert spent.distance == "time ran out"
    assert spent.value == math.inf
    assert spent.silent
    shown = str(Comparison("run", "epsilon", 1e-4, tr.Bound(1.0, 1.1), (spent,)))
    assert "-" in shown.splitlines()[4].split()
    assert "more seconds" in shown
    several = tr.compose(tr.Gaussian(sigma=1 + index / 30).poisson(rate=0.01) for index in range(30))
    slow = next(method for method in METHODS if method.name == "optimal, best point")
    with compute_budget.allowance(0.4) as meter:
        assert _row(slow, several, "epsilon", 1e-5, tr.Bound(0.1, 0.2), 0.5).distance == "time ran out"
        left = meter.left
    assert left >= 0.4 * 0.49 * compute_budget.UNITS_PER_SECOND * (1.0 - compute_budget.GRACE)
    mixture = tr.GaussianMixture(sigma=2, shifts=[0, 1, 2], weights=[0.25, 0.5, 0.25])  # whose pair costs some balls
    assert compare(mixture, delta=1e-4, methods="naive", seconds=1e-6).rows[0].late
    for wrong in (0.0, -1.0, math.nan, "x"):
        with pytest.raises(InvalidParameter, match="seconds"):
            compare(tr.parse(RUN), delta=1e-4, seconds=wrong)  # type: ignore[arg-type]


def test_bad_questions_are_refused() -> None:
    run = tr.parse(RUN)
    for settings in ({}, {"delta": 0.1, "epsilon": 1.0}, {"delta": 1.5}, {"epsilon": -1.0}, {"delta": math.nan}):
        with pytest.raises(InvalidParameter):
            compare(run, **settings)
    for counts in ((), (0, 1), (3, 2), (1.5,)):
        with pytest.raises(InvalidParameter):
            growth(run, counts, delta=0.1)  # type: ignore[arg-type]


def test_growth_repeats_the_run() -> None:
    found = growth(tr.parse("PureDP(epsilon=0.1)"), [1, 4, 16], delta=1e-5, methods="zcdp")
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
    name = "zCDP (Bun, Steinke 2016)"
    line = next(line for line in result.output.splitlines() if line.strip().startswith(name))
    value = {row.method: row.value for row in compare(tr.parse(RUN), delta=1e-4, methods="zcdp").rows}[name]
    assert Fraction(line.strip().removeprefix(name).split()[0]) >= value


@pytest.mark.parametrize("expression", ["Laplace(scale=200)", "Gaussian(sigma=1).poisson(rate=0.01) * 100"])
@pytest.mark.parametrize("question", [("--delta", "1e-4"), ("--epsilon", "0.3")])
def test_columns_are_kept_apart_and_in_line(expression: str, question: tuple[str, str]) -> None:
    arguments = [expression, *question, "--method", "renyi, best", "--method", "naive", "--method", "CLT"]
    output = CliRunner().invoke(command, arguments, standalone_mode=False).output
    title, blank, *lines = output.splitlines()
    assert title.endswith(str(tr.parse(expression)))
    assert blank == ""
    rows = [re.split(r" {2,}", line.strip()) for line in lines[::2]]
    assert [len(row) for row in rows] == [4] * 4
    assert rows[0][0] == "certified"
    assert all(re.fullmatch(r"<?\d+\.\d{3} s", row[3]) for row in rows)
    assert len({line.index(row[2]) for line, row in zip(lines[::2], rows, strict=True)}) == 1


def test_a_comparison_is_shown_in_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(tr.parse(RUN), delta=1e-4, methods=["zcdp", "renyi, best"])
    assert str(found).splitlines()[0] == f"epsilon at delta 0.0001 of {tr.parse(RUN)!r}"
    page = found._repr_html_()
    assert page.startswith('<img src="data:image/png;base64,')
    assert page.count("<tr>") == 5
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert found._repr_png_() is None
    assert found._repr_html_().startswith("<table>")


def test_a_comparison_is_drawn_on_axes_of_ones_own() -> None:
    found = compare(tr.parse(RUN), delta=1e-4, methods=["zcdp", "clt"])
    figure = found.plot()
    assert figure.axes[0].get_title("left") == found.expression
    assert figure.axes[0].get_yticklabels()[0].get_text() == "certified"
    assert found.plot(ax=figure.axes[0]) is figure
    assert found.plot(log=True).axes[0].get_xscale() == "log"
    assert found.plot(log=False).axes[0].get_xscale() == "linear"


def row(method: str, value: float, kind: Kind = Kind.UPPER) -> Row:
    return Row(method, value, kind, distance(value, tr.Bound(1e-9, 1.1e-9), "delta"), "")


def test_an_approximation_does_not_stretch_the_axis() -> None:
    rows = (
        row("zCDP (Bun, Steinke 2016)", 1e-5),
        row("naive composition", 1.0),
        row("Gaussian limit (CLT)", 1e-200, Kind.APPROXIMATION),
    )
    found = Comparison("run", "delta", 1.0, tr.Bound(1e-9, 1.1e-9), rows)
    axes = found.plot().axes[0]
    low, high = axes.get_xlim()
    assert 1e-11 < low < 1e-9
    assert 1e-5 < high < 1e-3
    assert [str(line.get_marker()) for line in axes.lines if len(line.get_xdata()) == 1] == ["o", "<"]
    grown = draw_growth([found, found], [1, 2], "run").axes[0]
    assert grown.get_ylim()[0] > 1e-11
    names = [text.get_text() for text in grown.get_legend().get_texts()]
    assert names == ["zCDP (Bun, Steinke 2016)", "certified", "Gaussian limit (CLT) (no bound)"]


def test_the_command_answers_in_json() -> None:
    result = CliRunner().invoke(command, [RUN, "--epsilon", "1", "--json"], standalone_mode=False)
    document = json.loads(result.output)
    assert document["schema"] == 1
    assert document["quantity"] == "delta"
    assert len(document["methods"]) == len(METHODS)
    arguments = [RUN, "--delta", "1e-3", "--over", "1,2", "--method", "zcdp", "--json"]
    several = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert len(json.loads(several.output)["results"]) == 2


@pytest.mark.parametrize("options", [("--delta", "0.1", "--over", "1,x"), ("--delta", "0.1", "--over", "2,1"), ()])
def test_the_command_refuses_in_one_line(options: tuple[str, ...]) -> None:
    result = CliRunner().invoke(command, [RUN, *options], standalone_mode=False)
    assert isinstance(result.exception, InvalidParameter)
    assert "\n" not in str(result.exception)


def test_plots_are_written(tmp_path: Path) -> None:
    for options in (("--plot", "one.png"), ("--over", "1,2,4", "--plot", "growth.svg")):
        name = tmp_path / options[-1]
        arguments = [RUN, "--delta", "1e-3", "--method", "zcdp", "--method", "clt", *options[:-1], str(name)]
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
