"""The loss of every mechanism, in both directions, against the oracle: also at its atoms and next to them."""

from __future__ import annotations

import math

import pytest
from flint import arb

import tightrope as tr
from tests.conformance.cases import Case, last_epsilon, losses, sampled
from tests.conformance.containment import misses
from tests.oracle.continuous import Logistic
from tests.oracle.precision import ball, precision
from tests.oracle.truth import Truth
from tests.search import shared


def places(case: Case) -> list[float]:
    """Far out, next to 0, inside, and at up to three atoms, as doubles."""
    back = "add" if case.direction == "remove" else "remove"
    low, high = -last_epsilon(Truth(case.truth.law, case.truth.rate, back)), last_epsilon(case.truth)
    atoms = [near for loss in losses(case.truth)[:3] for near in (math.nextafter(loss, -math.inf), loss)]
    atoms = atoms[:1] if isinstance(case.truth.law, Logistic) else atoms  # the oracle is not made for its ends
    return [low - 1.0, 0.3 * low, 0.0, 0.6 * high, high + 1.0, *atoms][: 7 if case.blur else 11]


@pytest.mark.parametrize("cases", sampled((0.3, 1.0)))
def test_one_use(cases: list[Case]) -> None:
    for case in cases:
        points = places(case)
        with precision(200):
            for t, above, below in zip(
                points,
                case.mechanism.pdp(points, direction=case.direction),
                case.mechanism.loss_cdf(points, direction=case.direction),
                strict=True,
            ):
                truth = case.truth.tails(t)
                blur = arb(0, case.blur)
                assert not misses(above, truth.p_above + blur), f"{case}: pdp({t!r}): {misses(above, truth.p_above)}"
                assert not misses(below, truth.p_below + blur), (
                    f"{case}: loss_cdf({t!r}): {misses(below, truth.p_below)}"
                )
                assert above.width <= 1e-12 or case.blur, f"{case}: pdp({t!r}) is {above!r}"


@pytest.mark.parametrize("cases", sampled((0.3,)))
def test_quantiles(cases: list[Case]) -> None:
    """At the ends of the interval: the quantile is not above one, and not below the other."""
    for case in cases:
        for p in shared((1e-6, 0.4, 0.99), case.direction):
            found = case.mechanism.loss_quantile(p, direction=case.direction, accuracy=None if case.blur else 1e-5)
            assert not wrong_quantile(found, case.truth, p), f"{case}: loss_quantile({p!r}) = {found!r}"


def wrong_quantile(found: tr.Bound, truth: Truth, p: float) -> bool:
    """Whether P[l <= upper] is below p, or P[l <= t] is at least p at the double before the lower end."""
    with precision(200):
        if found.lower == math.inf:
            return bool(arb(1) - arb(p) >= ball(truth.infinite_mass()))
        short = found.upper < math.inf and truth.tails(found.upper).p_below < p
        beyond = math.nextafter(found.lower, -math.inf)
        return bool(short or (beyond > -math.inf and truth.tails(beyond).p_below > p))
