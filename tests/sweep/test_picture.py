"""Pictures of sweeps: what stands where, which scale an axis has, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tightrope as tr
from tightrope.cli.app import run
from tightrope.sweep.picture import _Scale, scene_of
from tightrope.sweep.table import Sweep, SweepRow

SIGMAS, RATES = (0.5, 1.0, 2.0, 4.0), (1e-3, 1e-2, 1e-1)


def table(*, facets: tuple[float, ...] = (1e-6,), counts: tuple[int, ...] = (1,), quantity: str = "epsilon") -> Sweep:
    """Rows whose numbers tell where they belong."""
    rows: list[SweepRow] = []
    for sigma in SIGMAS:
        for rate in RATES:
            for delta in facets:
                for count in counts:
                    told = {"sigma": sigma, "rate": rate, "delta": delta, "count": count}
                    rows.append(SweepRow(len(rows), told, quantity, lower=rate / sigma, upper=1.2345678 * rate / sigma))
    return Sweep("make", f"{quantity}()", ("sigma", "rate", "delta", "count"), tuple(rows))


def test_a_map_has_the_end_that_is_promised_in_its_cells() -> None:
    rows = list(table())
    rows[1] = replace(rows[1], lower=None, upper=None, error="no")
    rows[2] = replace(rows[2], ended="time")
    axes = replace(table(), rows=tuple(rows)).plot(x="sigma", y="rate").axes
    mesh = axes[0].collections[0]
    numbers = mesh.get_array()
    assert numbers[1][2] == 1.2345678 * 1e-2 / 2.0
    assert numbers.mask[1][0]
    assert (axes[0].get_xscale(), axes[0].get_yscale()) == ("log", "log")
    assert "0.00618" in {each.get_text() for each in axes[0].texts}  # 0.0061728, and not below it
    assert axes[1].get_ylabel() == "epsilon, at most: 0.000309 to 0.247"
    assert [each.get_text() for each in axes[0].get_legend().get_texts()] == ["no number", "ended early"]
    lower = table(quantity="tradeoff").plot(x="sigma", y="rate").axes
    assert lower[0].collections[0].get_array()[1][2] == 1e-2 / 2.0
    assert "at least" in lower[1].get_ylabel()


def test_one_more_name_makes_panels_and_two_are_refused(tmp_path: Path) -> None:
    figure = table(facets=(1e-6, 1e-4, 1e-3)).plot(tmp_path / "panels.svg", x="sigma", y="rate")
    assert [each.get_title(loc="left") for each in figure.axes[:3]] == [
        "delta = 1e-06",
        "delta = 0.0001",
        "delta = 0.001",
    ]
    assert (tmp_path / "panels.svg").stat().st_size > 1000
    with pytest.raises(tr.InvalidParameter, match="delta and count vary too"):
        table(facets=(1e-6, 1e-4), counts=(1, 2)).plot(x="sigma", y="rate")
    for wrong, match in (
        ({"x": "sigam", "y": "rate"}, "did you mean sigma"),
        ({"x": "rate", "y": "rate"}, "not both rate"),
        ({"x": "sigma", "y": "rate", "value": "delta"}, "value is one of epsilon, value, lower, upper, seconds"),
    ):
        with pytest.raises(tr.InvalidParameter, match=match):
            table().plot(**wrong)


def test_scattered_configurations_are_points() -> None:
    rows = tuple(row for row in table(facets=(1e-6, 1e-4), counts=(1, 2)) if (row.index * 7) % 5 < 2)
    kept = tuple(row for row in rows if row.configuration["sigma"] != row.configuration["rate"] * 500)
    axes = replace(table(), rows=kept).plot(x="sigma", y="rate").axes[0]
    assert len(axes.collections[0].get_offsets()) == len(kept)
    assert "any delta, count" in axes.get_title(loc="left")


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ((1, 2, 3, 4), False),
        ((1, 10, 100), True),
        ((1, 100), True),
        ((1, 2), False),
        ((0, 1, 10), False),
        ((0.5, 0.7, 1.0, 1.4, 2.0), True),
    ],
)
def test_scales(values: tuple[float, ...], log: bool) -> None:
    scale = _Scale.of(values)
    assert scale.log == log
    edges = scale.edges()
    assert all(low < value < high for low, value, high in zip(edges, sorted(values), edges[1:], strict=False))
    assert not _Scale.of(("b", "a", 1.0)).numeric


def test_values_other_than_bounds() -> None:
    rows = [replace(row, value=float(row.index)) for row in table()]
    scene = scene_of(rows, ("sigma", "rate"), "sigma", "rate", None)
    assert (scene.value, scene.places[3].number) == ("value", 3.0)


def test_the_command_draws_and_refuses_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definition, out, picture = tmp_path / "sweep.toml", tmp_path / "out.csv", tmp_path / "map.png"
    definition.write_text(
        'make = "Gaussian(sigma={sigma}) * {count}"\nask = "delta(epsilon=1)"\n'
        "[grid]\nsigma = [1, 2, 3]\ncount = [1, 10, 100]\n"
    )
    command = ["sweep", str(definition), "--out", str(out), "--workers", "1", "--plot"]
    assert run([*command, "x=sigma", "y=cuont", "value=delta", str(picture)]) == 2
    assert run([*command, "sigma", "count", "delta", str(picture)]) == 2
    assert run([*command, "x=sigma", "y=count", "value=delta", str(tmp_path / "map.gif")]) == 2
    assert not out.exists()
    assert run([*command, "y=count", "x=sigma", "value=delta", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    told = capsys.readouterr().err
    assert "did you mean count?" in told
    assert "--plot x=sigma y=rate value=epsilon map.png" in told
