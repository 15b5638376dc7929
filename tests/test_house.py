"""The ruler of the house runs, and what docs/house.md shows as reached stays reached."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from benchmarks import house, house_tree

ROOT = Path(__file__).resolve().parent.parent


def test_what_was_reached_stays_reached() -> None:
    page = (ROOT / "docs" / "house.md").read_text("utf-8")
    shown = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    rows = {row.what: row for row in house.measured(house.house_at(ROOT))}
    assert [cells[0] for cells in shown[1:]] == list(rows)
    for what, _, now, wanted, reached in shown[1:]:
        row = rows[what]
        places = "\n".join(row.where)
        assert row.reached or reached == "no" or not row.held, (
            f"{what}: was {now}, is {row.now}, wanted {wanted}\n{places}"
        )


def test_contracts_about_applications_name_every_module() -> None:
    """A module that is new stands in the lists of pyproject.toml: what applications leave alone, who draws nothing."""
    package = ROOT / "src" / "tightrope"
    every = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    contracts = {
        each["name"]: each
        for each in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    }
    apart = contracts["Applications import tightrope and tightrope.extend"]
    applications = set(contracts["Applications are independent of each other"]["modules"])
    assert set(apart["source_modules"]) == applications
    rest = {f"tightrope.{name}" for name in every} - {"tightrope.__init__"}
    assert {*apart["forbidden_modules"], *applications, "tightrope.extend", "tightrope.__main__"} == rest
    assert {*contracts["Plotting alone imports matplotlib"]["source_modules"], "tightrope.plotting"} == rest
    core = {f"core.{path.stem}" for path in (package / "core").iterdir() if not path.stem.startswith("__")}
    layers = contracts["Each layer imports only from those beneath it"]["layers"]
    assert {name for name in layers if name.startswith("core.")} == core
    losses = {path.stem for path in (package / "core" / "losses").iterdir() if not path.stem.startswith("__")}
    families = {f"tightrope.core.losses.{name}" for name in losses if house_tree.is_family(f"losses.{name}")}
    assert set(contracts["Engines know no family"]["forbidden_modules"]) == families


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("def f(pair):\n    return isinstance(pair, Room)\n", "recognition"),
        ("def f(pair):\n    match pair:\n        case Room():\n            return 1\n", "recognition"),
        ("def f(pair):\n    return type(pair) is Room\n", "recognition"),
        ("def f(pair):\n    from ..losses.room import Room\n    return Room\n", "family_imports"),
        ("def f(x):\n    return x * (1.0 + 1e-12)\n", "slack_lines"),
        ("def f(x):\n    return math.nextafter(x, math.inf)\n", "slack_lines"),
        ("def f(a, b, c, d, e, f, g, h):\n    return a\n", "wide_functions"),
        ("class Room:\n    pass\n", "duplicate_classes"),
        ("LIMIT, OTHER = 3, 5.0\n", "scattered_constants"),
    ],
)
def test_the_ruler_sees(tmp_path: Path, text: str, measure: str) -> None:
    for name, body in (("core/losses/room.py", "class Room:\n    pass\n"), ("core/engines/asking.py", text)):
        path = tmp_path / "src" / "tightrope" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, "utf-8")
    assert not getattr(house, measure)(house.house_at(tmp_path)).reached
