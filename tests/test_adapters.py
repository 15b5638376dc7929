"""Adapters to other libraries, where the libraries are absent; with them, make test-interop tests more."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "tightrope"
ADAPTERS = ("dp_accounting", "opacus", "autodp", "flwr", "jax_privacy")
FOREIGN = re.compile(r"^\s*(?:from|import) (?:dp_accounting|opacus|autodp|torch|flwr|jax\w*)\b", re.MULTILINE)


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_missing_library_is_one_line_with_what_to_install(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for module in [module for module in sys.modules if module.startswith(f"tightrope.interop.{name}")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=rf"^tightrope\.interop\.{name} needs \w+: pip install '[^\n]+'$"):
        import_module(f"tightrope.interop.{name}")


def test_nothing_else_imports_them() -> None:
    outside = (path for path in PACKAGE.rglob("*.py") if "interop" not in path.parts)
    assert [str(path) for path in outside if FOREIGN.search(path.read_text("utf-8"))] == []
