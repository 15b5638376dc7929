"""Every claim is decided again, and compared with the committed record."""

from __future__ import annotations

import pytest

from studies import claim
from studies.reproduce import CLAIMS

# Upper bounds of other theories, recorded as one number: minimisers may stop elsewhere on another machine.
SAME = 1e-3


@pytest.mark.parametrize("each", CLAIMS, ids=lambda each: each.key)
def test_claims_are_decided_as_recorded(each: claim.Claim) -> None:
    found, recorded = claim.decide(each), claim.read()[each.key]
    assert found.holds == recorded.holds
    assert found.numbers.keys() == recorded.numbers.keys()
    for name, bound in found.numbers.items():
        other = recorded.numbers[name]
        if other.lower == other.upper:
            assert bound.upper == pytest.approx(other.upper, rel=SAME)
        else:
            assert bound.lower <= other.upper
            assert other.lower <= bound.upper


def test_orders_are_rounded_outward() -> None:
    orders = claim.orders_below(claim.Bound(1e-7, 1e-5), 1e-3)
    assert orders.lower < 2.0 < 4.0 < orders.upper
    assert orders.width < 2.0 + 1e-12
