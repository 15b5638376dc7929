"""Curves and their plots."""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import tightrope as tr
from tightrope.core.engines.contour import engine
from tightrope.plotting.style import Series, draw

BOUNDS = (tr.Bound(0.25, 0.5), tr.Bound(0.0, 1e-300), tr.Bound(0.0, 0.0))
CURVE = tr.Curve(epsilons=(0.0, 0.1, 1.0), bounds=BOUNDS)


def test_a_curve_is_a_sequence_of_points() -> None:
    assert len(CURVE) == 3
    assert list(CURVE) == list(zip((0.0, 0.1, 1.0), BOUNDS, strict=True))


def test_csv_keeps_every_digit() -> None:
    assert CURVE.to_csv() == "epsilon,lower,upper\n0.0,0.25,0.5\n0.1,0.0,1e-300\n1.0,0.0,0.0\n"


def test_one_bound_per_epsilon() -> None:
    with pytest.raises(tr.InvalidParameter, match="one bound per epsilon"):
        tr.Curve(epsilons=(0.0,), bounds=BOUNDS)


def test_a_mechanism_makes_a_curve_of_its_deltas() -> None:
    mechanism = tr.Laplace(scale=1.0)
    curve = mechanism.curve(0.0, 2.0, 5)
    assert curve.epsilons == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert curve.bounds == mechanism.delta([0.0, 0.5, 1.0, 1.5, 2.0])
    assert curve.bounds[-1] == tr.Bound(0.0, 0.0)


def test_a_slice_is_a_curve() -> None:
    assert isinstance(CURVE, Sequence)
    assert CURVE[1] == CURVE[-2] == (0.1, BOUNDS[1])
    assert CURVE[1:] == tr.Curve((0.1, 1.0), BOUNDS[1:])
    assert CURVE[::2].epsilons == (0.0, 1.0)
    assert len(CURVE[:0]) == 0
    assert list(reversed(CURVE)) == list(CURVE)[::-1]
    assert (0.1, BOUNDS[1]) in CURVE
    assert CURVE.index((1.0, BOUNDS[2])) == 2
    with pytest.raises(IndexError):
        CURVE[3]
    with pytest.raises(tr.InvalidParameter, match="rise"):
        CURVE[::-1]


def test_a_curve_says_what_it_holds_in_one_line() -> None:
    assert str(CURVE) == f"delta in {BOUNDS[0]} at epsilon 0 to {BOUNDS[2]} at epsilon 1, 3 points"
    assert str(CURVE[:1]) == f"delta in {BOUNDS[0]} at epsilon 0"
    assert repr(CURVE[:0]) == "<Curve: no points>"


def test_epsilons_of_ones_own() -> None:
    mechanism = tr.Laplace(scale=1.0)
    curve = mechanism.curve(epsilons=[0.1, 0.7, 0.9])
    assert curve == tr.Curve((0.1, 0.7, 0.9), mechanism.delta([0.1, 0.7, 0.9]))
    assert len(mechanism.curve(epsilons=(each / 10 for each in range(3)))) == 3
    for wrong in ([], [0.5, 0.1], [0.1, 0.1], [-0.1, -0.2], ["x"], [math.inf], "0.5", 0.5):
        with pytest.raises(tr.InvalidParameter, match="epsilon"):
            mechanism.curve(epsilons=wrong)
    with pytest.raises(tr.InvalidParameter, match="either epsilons"):
        mechanism.curve(0.0, 2.0, epsilons=[0.1])


def test_a_frame_has_the_columns_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("pandas")
    stand_in.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    assert CURVE.to_frame() == {"epsilon": (0.0, 0.1, 1.0), "lower": [0.25, 0.0, 0.0], "upper": [0.5, 1e-300, 0.0]}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(tr.InvalidParameter, match="pip install pandas"):
        CURVE.to_frame()


def test_a_frame_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = CURVE.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["epsilon", "lower", "upper"]
    assert frame["upper"].tolist() == [0.5, 1e-300, 0.0]
    assert str(frame["lower"].dtype) == "float64"


def test_several_curves_in_one_figure_with_zeros_and_labels(tmp_path: Path) -> None:
    path = tmp_path / "many.png"
    series = [
        Series(f"number {index}", (0.0, 1.0, 2.0), (0.1, 0.0, 0.0), (0.2 + index / 20, 0.01, 0.0)) for index in range(7)
    ]
    draw([*series, Series("nothing", (0.0, 1.0), (0.0, 0.0), (0.0, 0.0))], path)
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert width > height > 500


def test_curves_share_an_axis_with_labels_of_ones_own() -> None:
    wide = tr.Laplace(scale=1.0).curve(0.0, 3.0, 4)
    for log in (True, False):
        figure = tr.draw_curves({"mine": CURVE, "yours": wide}, title="both", log=log)
        (axes,) = figure.axes
        assert [text.get_text() for text in axes.get_legend().get_texts()] == ["mine", "yours"]
        assert axes.get_title("left") == "both"
        assert axes.get_yscale() == ("log" if log else "linear")
        assert axes.get_xlim()[1] >= 3.0


def test_a_plot_goes_on_the_axes_that_it_is_given(tmp_path: Path) -> None:
    figure = CURVE.plot(label="one")
    (axes,) = figure.axes
    assert axes.get_title("left") == "one"
    assert "differ by at most" in figure.get_supxlabel()
    again = tr.Laplace(scale=1.0).curve(0.0, 3.0, 4).plot(tmp_path / "two.svg", "two", ax=axes)
    assert again is figure
    assert axes.get_title("left") == ""
    assert figure.get_supxlabel() == ""  # it spoke of the first curve alone
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert (tmp_path / "two.svg").stat().st_size > 5000
    assert len({line.get_color() for line in axes.lines}) == 2
    linear = CURVE.plot(log=False).axes[0]
    CURVE.plot(ax=linear)
    assert linear.get_yscale() == "linear"


def test_curves_are_called_as_their_mechanisms_are() -> None:
    names = ("_first $5", "$x$", "second")
    curves = [tr.Gaussian(sigma=2.0, name=name).curve(0.0, 1.0, 3) for name in names]
    figure = tr.draw_curves(curves)
    figure.canvas.draw()
    shown = [text.get_text().strip().replace("\\$", "$") for text in figure.axes[0].get_legend().get_texts()]
    assert shown == list(names)
    assert curves[2].plot().axes[0].get_title("left") == "second"
    assert curves[2].plot(label="mine").axes[0].get_title("left") == "mine"


def test_a_plot_lies_in_a_part_of_a_figure() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    left, _ = figure.subfigures(1, 2)
    assert CURVE.plot(ax=left.subplots()) is figure


def test_both_ends_lie_within_the_axes() -> None:
    curve = tr.Curve((0.0, 1.0, 2.0), (tr.Bound(0.5, 0.9), tr.Bound(1e-9, 1e-3), tr.Bound(0.0, 1e-5)))
    (axes,) = curve.plot().axes
    low, high = axes.get_ylim()
    assert low < 1e-9
    assert high >= 0.9
    assert len(axes.lines) == 2


def test_notebooks_get_a_picture_where_there_is_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    data = CURVE._repr_png_()
    assert data is not None
    assert data.startswith(b"\x89PNG")
    assert CURVE[:0]._repr_png_() is None
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert CURVE._repr_png_() is None
    with pytest.raises(tr.InvalidParameter, match=r"\[plot\]"):
        CURVE.plot("curve.png")


def test_nothing_cannot_be_drawn() -> None:
    for nothing in (CURVE[:0].plot, lambda: tr.draw_curves({})):
        with pytest.raises(tr.InvalidParameter, match="nothing to draw"):
            nothing()


def test_a_format_that_cannot_be_drawn_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("curve.txt", "curve", "png", ".png"):
        with pytest.raises(tr.InvalidParameter, match="png, pdf, svg"):
            CURVE.plot(name)
    assert list(tmp_path.iterdir()) == []


def test_what_rests_on_draws_says_so_wherever_it_is_drawn() -> None:
    drawn = tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95).curve(0.0, 1.0, 3)
    figure = drawn.plot(label="timings")
    assert "95 % confidence" in figure.get_supxlabel()
    CURVE.plot(ax=figure.axes[0], label="other")
    assert figure.get_supxlabel() == "holds with 95 % confidence"
    shared = drawn.plot(ax=CURVE.plot().axes[0], label="timings").axes[0]
    assert [text.get_text().replace("\n", " ") for text in shared.get_legend().get_texts()] == [
        "timings, holds with 95 % confidence"
    ]
    assert "confidence" in str(drawn.certificate)
    assert "confidence" in drawn.bounds[0]._repr_html_()


@pytest.mark.parametrize("spread", [1.5, 8.0, 100.0, 1e4, 1e30, 1e300])
def test_an_axis_has_a_few_numbers_that_lie_apart(spread: float) -> None:
    curve = tr.Curve((0.0, 1.0), (tr.Bound(0.9, 0.9), tr.Bound(0.9 / spread, 0.9 / spread)))
    for figure in (curve.plot(), curve.plot(ax=tr.Laplace(scale=1.0).curve(0.0, 0.1, 2).plot().axes[0])):
        figure.draw_without_rendering()
        labels = [label for label in figure.axes[0].get_yticklabels(which="both") if label.get_text()]
        low, high = figure.axes[0].get_window_extent().intervaly
        boxes = sorted(label.get_window_extent().intervaly.tolist() for label in labels)
        boxes = [box for box in boxes if low <= sum(box) / 2 <= high]
        assert len(boxes) >= 2
        assert all(one[1] <= two[0] for one, two in pairwise(boxes))


def test_a_curve_is_prepared_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tr.Gaussian(sigma=1).poisson(rate=0.01) * 1000
    prepared: list[object] = []
    prepare = engine.prepare
    monkeypatch.setattr(engine, "prepare", lambda *terms, **how: (prepared.append(how), prepare(*terms, **how))[1])
    curve = run.curve()
    assert len(prepared) <= 4
    for epsilon, bound in curve[::7]:
        alone = run.delta(epsilon)
        assert max(alone.lower, bound.lower) <= min(alone.upper, bound.upper)


def test_an_infinite_epsilon_after_others() -> None:
    """No evaluator is asked at infinity, though one is there already."""
    run = tr.Laplace(scale=3).poisson(rate=0.1) * 50
    for name in ("auto", "lattice"):
        first, last = run.delta(epsilon=[1.0, math.inf], engine=name)
        assert first.lower > 0.0
        assert (last.lower, last.upper) == (0.0, 0.0)
