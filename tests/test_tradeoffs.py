"""Trade-off curves as values, and their pictures."""

from __future__ import annotations

import math
import pickle
import struct
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest

import tightrope as tr
from tightrope.plotting.tradeoff import GUESSING

BOUNDS = (tr.Bound(1.0, 1.0), tr.Bound(0.25, 0.375), tr.Bound(0.0, 0.0))
CURVE = tr.Tradeoffs((0.0, 0.25, 1.0), BOUNDS, (math.inf, 1.0, 0.0))


def test_a_curve_is_a_sequence_of_rates() -> None:
    assert isinstance(CURVE, Sequence)
    assert list(CURVE) == list(zip((0.0, 0.25, 1.0), BOUNDS, strict=True))
    assert CURVE[1] == CURVE[-2] == (0.25, BOUNDS[1])
    assert CURVE[1:] == tr.Tradeoffs((0.25, 1.0), BOUNDS[1:], (1.0, 0.0))
    assert len(CURVE[:0]) == 0
    assert hash(CURVE) == hash(CURVE[:])
    assert pickle.loads(pickle.dumps(CURVE)) == CURVE
    with pytest.raises(tr.InvalidParameter, match="rise"):
        CURVE[::-1]


def test_a_curve_says_what_it_holds_in_one_line() -> None:
    words = "false negative rate in"
    assert str(CURVE) == (
        f"{words} {BOUNDS[0]} at false positive rate 0 to {BOUNDS[2]} at false positive rate 1, 3 points"
    )
    assert repr(CURVE[1:2]) == f"<Tradeoffs: {words} {BOUNDS[1]} at false positive rate 0.25>"
    assert str(CURVE[:0]) == "no points"


def test_what_no_curve_can_be() -> None:
    for fprs, bounds, slopes in (
        ((0.5,), BOUNDS, (1.0,)),
        ((0.5,), BOUNDS[:1], ()),
        ((0.5, 0.25), BOUNDS[:2], (1.0, 1.0)),
        ((1.5,), BOUNDS[:1], (1.0,)),
        ((0.5,), BOUNDS[:1], (-1.0,)),
        ((math.nan,), BOUNDS[:1], (1.0,)),
    ):
        with pytest.raises(tr.InvalidParameter):
            tr.Tradeoffs(fprs, bounds, slopes)


def test_a_table_and_its_complement() -> None:
    assert CURVE.to_csv() == "fpr,lower,upper\n0.0,1.0,1.0\n0.25,0.25,0.375\n1.0,0.0,0.0\n"
    found = CURVE.tprs[1]
    assert (found.lower, found.upper) == (0.625, 0.75)
    small = tr.Tradeoffs((0.0,), (tr.Bound(1e-20, 0.1),), (math.inf,)).tprs[0]
    assert Fraction(small.lower) <= 1 - Fraction(0.1) < 1 - Fraction(1e-20) <= Fraction(small.upper) == 1
    assert CURVE.tprs[2].upper == 1.0
    assert CURVE.tprs[0].lower == 0.0


def test_a_frame_has_the_columns_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("pandas")
    stand_in.DataFrame = dict  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", stand_in)
    assert list(CURVE.to_frame()) == ["fpr", "lower", "upper"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(tr.InvalidParameter, match="pip install pandas"):
        CURVE.to_frame()


def test_between_rates_lines_are_below_and_chords_above() -> None:
    """f >= 0.25 - (y - 0.25), and below the chords of (0, 1), (0.25, 0.375), (1, 0)."""
    assert CURVE.at(0.25) == BOUNDS[1]
    before, after = CURVE.at(0.125), CURVE.at(0.4375)
    assert before.lower == pytest.approx(0.375, rel=1e-14)
    assert before.lower <= 0.375
    assert before.upper == pytest.approx(0.6875, rel=1e-14)
    assert before.upper >= 0.6875
    assert after.lower == pytest.approx(0.0625, rel=1e-14)
    assert after.lower <= 0.0625
    assert after.upper == pytest.approx(0.28125, rel=1e-14)
    assert after.upper >= 0.28125
    assert CURVE.at(0.75).lower == 0.0
    assert CURVE[:0].at(0.25) == tr.Bound(0.0, math.nextafter(0.75, 1.0))
    assert CURVE[1:2].at(1e-320).upper == 1.0
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(tr.InvalidParameter, match="fpr"):
            CURVE.at(wrong)


def test_two_pictures_and_each_of_them(tmp_path: Path) -> None:
    path = tmp_path / "f.png"
    figure = CURVE.plot(path, "mine")
    assert struct.unpack(">II", path.read_bytes()[16:24]) > (1000, 500)
    missed, found = figure.axes
    assert [axes.get_ylabel() for axes in (missed, found)] == ["false negative rate", "true positive rate"]
    assert (found.get_xscale(), found.get_yscale()) == ("log", "log")
    assert figure.get_suptitle() == "mine"
    assert "certified" in figure.get_supxlabel()
    for log, words in ((True, "true positive rate"), (False, "false negative rate")):
        (axes,) = CURVE.plot(log=log).axes
        assert axes.get_ylabel() == words
        assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == GUESSING
    for nothing in (CURVE[:0].plot, lambda: tr.draw_tradeoffs({})):
        with pytest.raises(tr.InvalidParameter, match="nothing to draw"):
            nothing()
    with pytest.raises(tr.InvalidParameter, match="png, pdf, svg"):
        CURVE.plot(tmp_path / "f.gif")
    assert CURVE[:0]._repr_png_() is None


def test_what_is_drawn_holds_at_every_rate() -> None:
    """The lines of the picture are the ends that the curve knows, at hundreds of rates between the three."""
    (axes,) = CURVE.plot(log=False).axes
    lower, upper = axes.lines[0], axes.lines[1]
    assert len(lower.get_xdata()) > 200
    for rate, low, high in zip(lower.get_xdata(), lower.get_ydata(), upper.get_ydata(), strict=True):
        known = CURVE.at(float(rate))
        assert (low, high) == (known.lower, known.upper)


def test_several_in_one_picture_and_on_axes_of_ones_own() -> None:
    other = tr.RandomizedResponse(p=0.75, name="$coin_1$").tradeoff_curve(points=4)
    figure = tr.draw_tradeoffs({"mine": CURVE, "": other}, title="two")
    missed = figure.axes[0]
    assert [text.get_text() for text in missed.get_legend().get_texts()] == ["mine", r"\$coin_1\$", GUESSING]
    before = len(missed.collections)
    assert CURVE[:2].plot(ax=missed, label="again") is figure
    assert len(missed.collections) == before + 1
    assert [text.get_text() for text in missed.get_legend().get_texts()].count(GUESSING) == 1
    assert tr.draw_tradeoffs([other]).get_suptitle() == r"\$coin_1\$"
