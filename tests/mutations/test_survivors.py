"""Every argument about a survivor is about code that is still there."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tightrope"
KINDS = {"same value", "only wider", "a choice", "refuses", "speed", "margin", "says less", "words"}


def test_each_argument_is_about_the_code_as_it_is() -> None:
    table = tomllib.loads((ROOT / "tests" / "mutations" / "survivors.toml").read_text())
    for each in table["survivor"]:
        code = "".join((PACKAGE / each["path"]).read_text().split())
        assert "".join(each["before"].split()) in code, each
        assert each["before"] != each["after"], each


def test_each_verdict_is_a_kind_with_a_reason() -> None:
    table = tomllib.loads((ROOT / "tests" / "mutations" / "survivors.toml").read_text())
    for each in (*table["survivor"], *table["rule"]):
        assert each["kind"] in KINDS, each
        assert len(each["why"]) > 20, each
    assert all(list(PACKAGE.glob(each["path"])) for each in table["rule"])
