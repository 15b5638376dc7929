"""A text where a number belongs is refused as a text."""

from __future__ import annotations

from typing import Any

import pytest

import tightrope as tr

RUN = tr.Gaussian(sigma=1.0)


@pytest.mark.parametrize("given", ["1e-5", "1" * 1000])
def test_a_text_is_no_number(given: str) -> None:
    for name, ask in (
        ("delta", lambda: RUN.epsilon(given)),  # type: ignore[call-overload]
        ("epsilon", lambda: RUN.delta(given)),  # type: ignore[call-overload]
        ("sigma", lambda: tr.Gaussian(sigma=given)),  # type: ignore[arg-type]
        ("rate", lambda: RUN.poisson(rate=given)),  # type: ignore[arg-type]
        ("count", lambda: RUN * given),  # type: ignore[operator]
    ):
        with pytest.raises(tr.InvalidParameter, match=f"^{name} must be a number, not the text '1") as caught:
            ask()
        assert repr(given)[:10] in str(caught.value)
        assert len(str(caught.value)) < 100


def test_no_text_is_a_number_anywhere() -> None:
    ask: Any = RUN
    make: Any = tr
    for refused in (
        lambda: make.Finite(p=["0.5", "0.5"], q=[0.5, 0.5]),
        lambda: make.Finite(p="1", q="1"),
        lambda: make.TruncatedGaussian(sigma=1, bounds=["-1", "1"]),
        lambda: make.TruncatedGaussian(sigma=1, bounds="19"),
        lambda: make.TruncatedLaplace(scale=1, mean="0", bounds=[-5, 5]),
        lambda: make.RandomizedResponse(p=".5"),
        lambda: make.DiscreteGaussian(sigma=1, sensitivity="2"),
        lambda: ask.epsilon([1e-5, "1e-6"]),
        lambda: ask.epsilon(b"1"),
        lambda: ask.epsilon(1e-5, accuracy="1e-3"),
        lambda: ask.epsilon(1e-5, seconds="1"),
        lambda: ask.renyi("2"),
        lambda: ask.cgf("1"),
        lambda: ask.phi("1"),
        lambda: ask.curve("0"),
        lambda: "3" * RUN,  # type: ignore[operator]
    ):
        with pytest.raises(tr.InvalidParameter) as caught:
            refused()
        assert len(str(caught.value).splitlines()) == 1
