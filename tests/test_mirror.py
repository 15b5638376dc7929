"""tests/ mirrors src/: whoever knows where the code is finds its tests."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "src" / "tightrope"
# What is about the package as a whole, or about no part of it.
ROOMS = (PACKAGE, PACKAGE / "core")  # tests of core/engines are in tests/engines
OWN = ("browser", "conformance", "mutations", "oracle", "properties", "reference", "studies")


def mirrored() -> list[Path]:
    """Folders with tests of one folder of the package."""
    inside = (path for path in TESTS.rglob("*") if path.is_dir() and path.name != "__pycache__")
    return sorted(path.relative_to(TESTS) for path in inside if path.relative_to(TESTS).parts[0] not in OWN)


def parts(folder: Path) -> list[Path]:
    """What the folder of the package has that a folder of tests is about."""
    return sorted(part for room in ROOMS if (room / folder).is_dir() for part in (room / folder).iterdir())


def test_every_folder_is_one_of_the_package() -> None:
    missing = [str(path) for path in mirrored() if not parts(path)]
    assert not missing, f"src/tightrope has no {', '.join(missing)}: move its tests to the folder of what they test"


def test_tests_of_a_folder_are_in_it() -> None:
    """tests/engines/test_contour_x.py belongs into tests/engines/contour."""
    misplaced = [
        f"{path.relative_to(TESTS)} belongs into {(folder / part.name)}"
        for folder in [Path(), *mirrored()]
        for part in parts(folder)
        if part.is_dir()
        for path in sorted((TESTS / folder).glob(f"test_{part.name}*.py"))
    ]
    assert not misplaced, "; ".join(misplaced)
