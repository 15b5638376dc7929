"""Figures come out whole: every kind of mark, values that cannot stand on a logarithmic axis, and the stated width."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from matplotlib.image import imread

from studies.drawing import draw, said
from studies.figure import Dot, Figure, Line, Panel, Shape


@pytest.fixture
def figure() -> Figure:
    lines = [
        Line("certified, falls to 0", [1.0, 2.0, 3.0], [0.1, 0.01, 0.0], [0.09, 0.0, 0.0]),
        Line("bound without an answer", [1.0, 2.0, 3.0], [0.5, math.inf, 0.2]),
    ]
    first = Panel(
        "bounds", "x", "y", lines=lines, dots=[Dot("theirs", 2.0, 0.3)], target=(2.0, 1e-4), y_limits=(1e-6, 1)
    )
    shapes = [Shape("curve", [0.0, 1.0], [0.0, 1.0]), Shape("area", [0.0, 1.0], [1.0, 1.0], floor=[0.0, 1.0])]
    return Figure("figure-00", "title", "caption", [first, Panel("shapes", "x", "y", shapes=shapes, log_y=False)])


def test_a_figure_is_written_and_has_ink(figure: Figure, tmp_path: Path) -> None:
    draw(figure, tmp_path / "a.png")
    pixels = imread(tmp_path / "a.png")[:, :, :3]
    height, width = pixels.shape[:2]
    assert width > 1.5 * height
    for half in (pixels[:, : width // 2], pixels[:, width // 2 :]):
        assert half.min() < 0.3
        assert (half < 0.9).mean() > 0.01


def test_the_width_is_rounded_up(figure: Figure) -> None:
    assert figure.width == 1.0  # a lower end of 0
    assert said(0.00123).endswith("at most 0.002 times the upper")
    assert said(0.0).endswith("at most 0 times the upper")
