"""Binomial masses and tails in balls: a sum where it has few terms, else Arb's beta function.

From the mean on the masses fall, and their ratios with them, so what follows a term is at most a geometric series.
Guarantee: exact, in balls.
"""

from __future__ import annotations

from flint import arb, ctx

from ... import compute_budget

SUMMED_MAX = 20_000  # beyond, a beta function is faster: it takes twelve milliseconds at any size
BINOMIAL_TERM = 600.0  # units of work


def mass(n: int, k: int, p: arb, q: arb) -> arb:
    """Of k, where p and q = 1 - p are the chances."""
    if not 0 <= k <= n:
        return arb(0)
    if q.is_zero():
        return arb(int(k == n))
    logs = arb(n + 1).lgamma() - arb(k + 1).lgamma() - arb(n - k + 1).lgamma() + k * p.log() + (n - k) * q.log()
    return logs.exp()


def geometric(first: arb, ratio: arb) -> arb:
    """At or above the sum of the masses after the first, whose ratios fall from this one on; at most 1."""
    return (first * ratio / (1 - ratio)).min(arb(1)) if ratio < 1 else arb(1)


def at_least(n: int, least: int, p: arb, q: arb) -> arb:
    """Pr[k >= least]."""
    if least <= 0:
        return arb(1)
    if least > n:
        return arb(0)
    if least < n * p:
        return 1 - at_least(n, n - least + 1, q, p)
    value = _summed(n, least, p, q)
    return p.beta_lower(arb(least), arb(n - least + 1), True) if value is None else value


def at_most(n: int, most: int, p: arb, q: arb) -> arb:
    """Pr[k <= most]."""
    return at_least(n, n - most, q, p)


def _summed(n: int, least: int, p: arb, q: arb) -> arb | None:
    """Term by term; None where they are many."""
    term, odds, level = mass(n, least, p, q), p / q, arb(2) ** -ctx.prec
    total = term
    for k in range(least, min(n, least + SUMMED_MAX)):
        ratio = odds * (n - k) / (k + 1)
        if not (k - least) % 64:
            compute_budget.spend(64 * BINOMIAL_TERM)
            rest = geometric(term, ratio)
            if rest < level * total:
                return total + arb(0).union(rest)
        term *= ratio
        total += term
    return total if n - least <= SUMMED_MAX else None
