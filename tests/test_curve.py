"""Curves and their plots."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.plot import Series, draw

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


def test_a_format_that_cannot_be_drawn_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("curve.txt", "curve", "png", ".png"):
        with pytest.raises(tr.InvalidParameter, match="png, pdf, svg"):
            CURVE.plot(name)
    assert list(tmp_path.iterdir()) == []
