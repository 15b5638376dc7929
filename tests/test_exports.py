"""The public names, pinned: a change here is a change of the interface."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import tightrope

EXPORTS = {
    "AccuracyNotReached",
    "ApproximateDP",
    "Bound",
    "BracketNotFound",
    "Budget",
    "Calibration",
    "Certificate",
    "Comparison",
    "Curve",
    "DataError",
    "Density",
    "Direction",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "ExpressionError",
    "Finite",
    "GDP",
    "Gaussian",
    "Histograms",
    "InvalidParameter",
    "Laplace",
    "Mechanism",
    "PureDP",
    "RandomizedResponse",
    "Relation",
    "TightropeError",
    "TruncatedGaussian",
    "TruncatedLaplace",
    "UnsupportedMechanism",
    "calibrate",
    "compare",
    "compose",
    "draw_curves",
    "dump",
    "load",
    "parse",
}


def test_the_facade_exports_exactly_this() -> None:
    public = {
        name
        for name, value in vars(tightrope).items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and name != "annotations"
    }
    assert public == EXPORTS
    assert tightrope.__version__.count(".") == 2


def test_every_registered_mechanism_is_exported() -> None:
    from tightrope.registry import MECHANISMS

    assert {name: entry.make for name, entry in MECHANISMS.items()} == {
        name: getattr(tightrope, name) for name in MECHANISMS
    }


def test_importing_the_package_leaves_heavy_modules_alone() -> None:
    heavy = ("matplotlib", "scipy.stats", "scipy.optimize", "rich", "mpmath")
    code = f"import sys, tightrope.cli.app; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"
