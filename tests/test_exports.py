"""The public names beside the mechanisms, pinned: a change here is a change of the interface."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import tightrope
import tightrope.extend
from benchmarks import house_tree
from release import api_python
from tightrope.core.text import catalogue

EXPORTS = {
    "AccuracyNotReached",
    "AuditPlan",
    "AuditResult",
    "Bound",
    "BracketNotFound",
    "BucketList",
    "Buckets",
    "ErrorBreakdown",
    "Calibration",
    "Certificate",
    "Comparison",
    "Concentrated",
    "Curve",
    "DataError",
    "Direction",
    "Epochs",
    "ExpressionError",
    "Frontier",
    "InternalContradiction",
    "InvalidParameter",
    "Leaf",
    "LossLaw",
    "Mechanism",
    "Relation",
    "Report",
    "Risk",
    "Samplings",
    "Sweep",
    "TailPair",
    "Target",
    "TightropeError",
    "Tradeoffs",
    "UnsupportedMechanism",
    "Verification",
    "WorkExhausted",
    "audit",
    "by_sampling",
    "calibrate",
    "compare",
    "compose",
    "draw_curves",
    "draw_tradeoffs",
    "dump",
    "frontier",
    "load",
    "parallel",
    "parse",
    "plan_audit",
    "report",
    "sweep",
    "verify",
}


def test_the_facade_exports_exactly_this() -> None:
    public = {
        name
        for name, value in vars(tightrope).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert public == EXPORTS | {name for name in vars(catalogue) if not name.startswith("_")}
    assert tightrope.__version__.count(".") == 2


def test_every_name_of_an_extension_is_there() -> None:
    for title, names in api_python.extensions().items():
        module = import_module(f"tightrope.extend.{title}")
        assert sorted(module.__all__) == sorted(set(names)), title
        assert all(hasattr(module, name) for name in names), title
        assert title in (tightrope.extend.__doc__ or "").split(), f"tightrope.extend does not say what {title} is"


def test_an_extension_is_loaded_where_it_is_asked_for() -> None:
    code = "import sys, tightrope; before = set(sys.modules); import tightrope.extend; print(set(sys.modules) - before)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "set()"


def test_importing_the_package_leaves_heavy_modules_alone() -> None:
    heavy = ("matplotlib", "scipy.stats", "scipy.optimize", "rich", "mpmath")
    code = f"import sys, tightrope.cli.app; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_engines_are_loaded_by_the_first_question() -> None:
    code = "import sys, tightrope; print([name for name in ('scipy', 'tightrope.core.engines') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


def test_families_are_loaded_by_the_first_question_about_them() -> None:
    code = "import sys, tightrope.cli.app; print(*sorted(name for name in sys.modules if 'losses.' in name))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = {name.removeprefix("tightrope.core.") for name in found.split()}
    assert {name for name in loaded if house_tree.is_family(name)} == {"losses.own"}
