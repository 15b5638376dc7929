"""A text where a number belongs is refused as a text."""

from __future__ import annotations

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
