"""Survivors that were argued away: tests/mutations/survivors.toml."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from functools import cache

from benchmarks.mutants.reach import ROOT

FILE = ROOT / "tests" / "mutations" / "survivors.toml"


@cache
def table() -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = tomllib.loads(FILE.read_text()) if FILE.exists() else {}
    return found


def verdict(row: Mapping[str, object]) -> dict[str, str] | None:
    """The argument about this very change, else the rule of its file; None where there is none."""
    for each in table().get("survivor", []):
        if each["path"] == row["path"] and each["before"] == row["before"] and each["after"] == row["after"]:
            return each
    for each in table().get("rule", []):
        if fnmatch.fnmatch(str(row["path"]), each["path"]):
            return each
    return None
