"""Nothing is left out of the table: every mechanism, transformation and facet that there is has its rows."""

from __future__ import annotations

from inspect import isabstract
from pathlib import Path

from tests.conformance import cases
from tightrope.core.mechanisms.base import Leaf, Mechanism
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS

TESTS = Path(__file__).parent.parent
SAMPLED = {"poisson"}  # what `cases.sampled` makes of every row
# Without the tails that the table asks for: held by tests/mechanisms/test_....py of that name.
OPAQUE = {"CharacteristicFunction", "RenyiCurve", "ZCDP", "GaussianSparseVector", "SkellamVector"}
EXPANDED = {"training"}  # stands for others; held by tests/mechanisms/test_training.py


def leaves(kind: type[Leaf] = Leaf) -> set[str]:
    """Every mechanism of the package that is not made from others, in the registry or not."""
    found: set[str] = set()
    for each in kind.__subclasses__():
        if each.__module__.startswith("tightrope."):
            found |= leaves(each) | (set() if isabstract(each) else {each.__name__})
    return found


def test_every_mechanism_has_a_row() -> None:
    held = {type(row.mechanism).__name__ for row in cases.ROWS} | OPAQUE | EXPANDED
    missing = sorted((leaves() | set(MECHANISMS)) - held)
    assert not missing, (
        f"no row for {', '.join(missing)}: add row(tr.{(missing or ['X'])[0]}(...), LAW) to ROWS in "
        "tests/conformance/cases.py, LAW the two output laws, written in tests/oracle without the package"
    )


def test_every_transformation_is_made_of_every_row() -> None:
    made = set(TRANSFORMS) | {name for name in SAMPLED if not hasattr(Mechanism, name)}
    brute = {name for name in TRANSFORMS if (TESTS / "mechanisms" / f"test_{name}.py").exists()}
    missing = sorted((made ^ SAMPLED) - brute)
    assert not missing, (
        f"no rows for {', '.join(missing)}: make them of every row in `sampled` of tests/conformance/cases.py, with "
        "their truth in tests/oracle/truth.py, and add the name to SAMPLED here; or, where brute force is all that "
        "tells, write tests/mechanisms/test_<name>.py"
    )
