"""The settings of privacy buckets on the command line."""

from __future__ import annotations

import json

import pytest

import tightrope as tr
from tightrope.cli.app import run

RUN = "Gaussian(sigma=20.0) * 64"
KNOBS = ("--factor", "1.002", "--buckets", "400", "--free-infinity", "1e-12")


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert run(arguments) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("more", [(), ("--engine", "buckets")])
def test_settings_imply_the_engine(capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    found = answered(capsys, "delta", RUN, "--epsilon", "1", *KNOBS, "--no-error-correction", "--json", *more)
    knobs = tr.Buckets(factor=1.002, buckets=400, free_infinity=1e-12, error_correction=False)
    bound = tr.parse(RUN).delta(1.0, engine=knobs)
    assert bound.certificate is not None
    assert (found["lower"], found["upper"]) == (bound.lower, bound.upper)
    assert found["certificate"]["parameters"] == dict(bound.certificate.parameters)  # type: ignore[index]


def test_other_commands_take_them(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(capsys, "epsilon", RUN, "--delta", "1e-5", *KNOBS, "--json")
    assert found["certificate"]["parameters"]["n"] == 400  # type: ignore[index]
    assert run(("curve", RUN, "--points", "2", "--to", "1", *KNOBS)) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    target = ("--epsilon", "1", "--delta", "1e-3", "--tolerance", "0.2")
    found = answered(capsys, "calibrate", "Gaussian(sigma=?) * 64", *target, "--buckets", "400", "--json")
    assert found["parameter"] == "sigma"


@pytest.mark.parametrize(
    "wrong, told",
    [
        (("--factor", "1.1", "--engine", "lattice"), "leave out --engine lattice"),
        (("--no-error-correction", "--engine", "contour"), "leave out --engine contour"),
        (("--factor", "1"), "above 1"),
        (("--buckets", "3"), "even"),
        (("--buckets", "10", "--proof"), "leave out proof"),
        (("--factor", "1.000000000001"), "take a larger factor"),
    ],
)
def test_one_line_for_what_is_wrong(capsys: pytest.CaptureFixture[str], wrong: tuple[str, ...], told: str) -> None:
    assert run(("delta", RUN, "--epsilon", "1", *wrong)) == 2
    out, err = capsys.readouterr()
    assert not out
    assert told in err
    assert err.count("\n") == 1
