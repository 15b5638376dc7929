"""Bounds and certificates as text: every printed interval contains the one it stands for."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tightrope as tr
from tightrope.core.values.bound import ErrorBreakdown, error_lines

FINITE = st.floats(allow_nan=False, allow_infinity=False)
FORMATS = ("", "f", "e", "g", "%", ".0f", ".3f", ".12f", ".0e", ".2e", ".1g", ".4g", ".17g", ".0%", ".2%", ".3")


def ends(text: str) -> list[Fraction]:
    assert text[0] == "["
    assert text[-1] == "]"
    words = text[1:-1].split(", ")
    return [Fraction(word.removesuffix("%")) / (100 if word.endswith("%") else 1) for word in words]


@given(FINITE, FINITE, st.sampled_from(FORMATS))
def test_every_format_rounds_outward(first: float, second: float, spec: str) -> None:
    bound = tr.Bound(min(first, second), max(first, second))
    low, high = ends(format(bound, spec))
    assert low <= Fraction(bound.lower)
    assert Fraction(bound.upper) <= high


@given(st.floats(1e-3, 1e3), st.integers(0, 6))
def test_a_format_is_as_narrow_as_its_digits(value: float, digits: int) -> None:
    low, high = ends(format(tr.Bound(value, value), f".{digits}f"))
    assert high - low <= Fraction(1, 10**digits)


def test_formats_as_people_write_them() -> None:
    bound = tr.Bound(2.0315893, 2.0315894)
    assert f"{bound:.3f}" == "[2.031, 2.032]"
    assert f"{bound:.2e}" == "[2.03e+00, 2.04e+00]"
    assert f"{bound:.4g}" == "[2.031, 2.032]"
    assert f"{bound:.1%}" == "[203.1%, 203.2%]"
    assert f"{bound}" == str(bound)
    assert f"{bound:>20.3f}|" == "      [2.031, 2.032]|"
    assert f"{bound:*^20.3f}" == "***[2.031, 2.032]***"
    assert f"{bound:30}|" == f"{bound!s:30}|"
    assert f"{tr.Bound(0.0, math.inf):.2f}" == "[0.00, inf]"
    assert f"{tr.Bound(1e-7, 2e-7):g}" == "[9.99999e-08, 2e-07]"  # the double 1e-7 lies below 1e-7
    assert f"{tr.Bound(-1e-9, 0.0):.2f}" == "[-0.01, 0.00]"


@pytest.mark.parametrize("spec", ["d", "s", ".3x", "+.3f", "0f!", "F", ".500f", ",", ".f", "99999"])
def test_other_formats_are_refused(spec: str) -> None:
    with pytest.raises(ValueError, match=r"\.3f"):
        format(tr.Bound(0.0, 1.0), spec)


def test_a_certificate_says_who_how_and_why_in_a_few_lines() -> None:
    bound = (tr.Gaussian(sigma=1.0).poisson(rate=0.01) * 1000).epsilon(1e-6)
    assert bound.certificate is not None
    text = str(bound.certificate)
    lines = dict(line.split(":", 1) for line in text.splitlines())
    assert lines["engine"].strip() == "contour"
    assert lines["arithmetic"].strip() == "float64"
    assert lines["direction"].strip() == "remove"
    assert lines["reason"].strip()
    assert lines["widest"].strip().startswith(bound.certificate.budget.widest.replace("_", " "))
    assert all(len(line) < 120 for line in text.splitlines())
    assert "<td>contour</td>" in bound.certificate._repr_html_()
    assert str(bound) in bound._repr_html_()
    loose = (tr.Exponential(epsilon=0.1) * 3).epsilon(1e-6).certificate
    assert "dominating pair" in str(loose)


def test_a_budget_has_its_widest_line_first() -> None:
    budget = ErrorBreakdown(error_lines(rounding=1e-12), error_lines(wrap_around=3e-10, rounding=1e-13))
    assert budget.widest == "wrap_around"
    assert str(budget).splitlines()[0] == "wrap around, 0 above and 3.0e-10 below"
    assert ErrorBreakdown().widest == ""
    assert str(ErrorBreakdown()) == "no error to account for"


def test_html_is_escaped() -> None:
    certificate = tr.Certificate("<b>", "float64", "1 < 2 & 3", tr.Direction.ADD)
    assert "1 &lt; 2 &amp; 3" in certificate._repr_html_()
    assert "&lt;b&gt;" in tr.Bound(0.0, 1.0, certificate)._repr_html_()
