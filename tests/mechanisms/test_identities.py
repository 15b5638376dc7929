"""Transformations that change nothing give the base's answer; those that hide more and more tell less and less."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tightrope as tr

BASES = (
    "Gaussian(sigma=1.5)",
    "DiscreteLaplace(scale=2.0)",
    "ApproximateDP(epsilon=0.5, delta=0.001)",
)
EPSILONS = [-0.5, 0.0, 0.3, 2.0]

# Calls after which each base is what it was.
SAME = (
    "{base}.poisson(rate=1)",
    "{base}.without_replacement(batch=7, records=7)",
    "{base}.without_replacement(batch=7, records=7, neighbours='add_remove')",
    "{base}.with_replacement(batch=1, records=1)",
    "{base}.truncated_poisson(rate=1, cap=8, records=7)",
    "{base}.group(size=1)",
    "parallel({base})",
    "parallel({base}, {base})",
    "{base}.best_of(law='geometric', mean=1)",
    "{base}.best_of(law='binomial', mean=1, shape=1)",
)
# What is the same as something else.
EQUAL = (
    ("PureDP(epsilon=1.0).shuffle(users=1)", "RandomizedResponse(epsilon=1.0)"),
    ("RandomizedResponse(epsilon=1.0).shuffle(users=1)", "RandomizedResponse(epsilon=1.0)"),
    ("Gaussian(sigma=1.5).poisson(rate=1, neighbours='replace')", "Gaussian(sigma=1.5, sensitivity=2)"),
    ("Gaussian(sigma=1.5).group(size=3)", "Gaussian(sigma=1.5, sensitivity=3)"),
    ("Gaussian(sigma=1.5).poisson(rate=0.25).group(size=1)", "Gaussian(sigma=1.5).poisson(rate=0.25)"),
    (
        "(Gaussian(sigma=1.5).poisson(rate=0.25) * 3).group(size=2)",
        "Gaussian(sigma=1.5).poisson(rate=0.25).group(size=2) * 3",
    ),
    ("Gaussian(sigma=1.5).truncated_poisson(rate=0.25, cap=8, records=7)", "Gaussian(sigma=1.5).poisson(rate=0.25)"),
    (
        "Gaussian(sigma=1.5).without_replacement(batch=2, records=8, neighbours='add_remove')",
        "Gaussian(sigma=1.5).poisson(rate=0.25)",
    ),
)


def _response(call: str) -> str:
    """Under the relation that the call needs."""
    needed = "replace" if "with" in call or "best_of" in call else "add_remove"
    return f"RandomizedResponse(epsilon=1.0, neighbours='{needed}')"


IDENTITIES = [
    *((call.format(base=base), base) for call in SAME for base in (*BASES, _response(call))),
    *EQUAL,
]


@pytest.mark.parametrize(("changed", "same"), IDENTITIES, ids=lambda text: text)
def test_it_changes_nothing(changed: str, same: str) -> None:
    for count in (1, 3):
        for epsilon, one, other in zip(
            EPSILONS,
            (tr.parse(changed) * count).delta(EPSILONS),
            (tr.parse(same) * count).delta(EPSILONS),
            strict=True,
        ):
            assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), rel=1e-9, abs=1e-15), epsilon
            assert one.lower <= other.upper
            assert other.lower <= one.upper


def test_the_cell_that_tells_most_decides() -> None:
    one, other = (
        tr.parse(text).delta(EPSILONS) for text in ("parallel(Gaussian(sigma=1.5), Gaussian(sigma=3))", BASES[0])
    )
    assert [bound.upper for bound in one] == pytest.approx([bound.upper for bound in other], rel=1e-9)


# From what tells most to what tells least; the last of each tells next to nothing.
FALLING = {
    "rates": [f"Gaussian(sigma=1).poisson(rate={rate})" for rate in (1, 0.9, 0.5, 0.1, 1e-3, 1e-9)],
    "rates under replace": [
        f"Gaussian(sigma=1).poisson(rate={rate}, neighbours='replace')" for rate in (1, 0.9, 0.5, 0.1, 1e-3, 1e-9)
    ],
    "records": [
        f"Gaussian(sigma=1).without_replacement(batch=2, records={records})" for records in (2, 3, 10, 10**4, 10**9)
    ],
    "records of draws": [
        f"Gaussian(sigma=1).with_replacement(batch=2, records={records})" for records in (1, 2, 10, 10**4, 10**9)
    ],
    "rates of truncated samples": [
        f"Gaussian(sigma=1).truncated_poisson(rate={rate}, cap=5, records=20)" for rate in (0.1, 1e-3, 1e-9)
    ],
    "users": [f"PureDP(epsilon=2).shuffle(users={users})" for users in (1, 2, 5, 30, 1000, 10**5)],
    "users of a named one": [
        f"RandomizedResponse(epsilon=2, categories=3).shuffle(users={users})" for users in (1, 2, 5, 30, 1000)
    ],
    "groups": [f"Gaussian(sigma=1).poisson(rate=0.01).group(size={size})" for size in (32, 8, 3, 2, 1)],
    "runs": [f"PureDP(epsilon=0.5).best_of(law='geometric', mean={mean})" for mean in (100, 10, 2, 1)],
}


@pytest.mark.parametrize("chain", [pytest.param(c, id=n) for n, c in FALLING.items()])
def test_what_hides_more_tells_less(chain: list[str]) -> None:
    for epsilon in (0.0, 0.5):
        bounds = [tr.parse(text).delta(epsilon) for text in chain]
        for more, less in pairwise(bounds):
            assert less.lower <= more.upper
            assert less.upper <= more.upper * (1 + 1e-9)
