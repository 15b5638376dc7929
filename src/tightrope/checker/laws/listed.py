"""delta of finitely many atoms and unsampled Laplace uses, in balls: every outcome of the composition is listed.

delta(eps) = w + sum over outcomes of the atoms of p H(eps - l), H the profile of all Laplace uses together, or
(1 - e^eps)_+ without them. Proof: docs/proofs/checker_grids.md, "Lists" and "Laplace".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, prod

from flint import arb

from ..law import CheckedLaw, exact, precision
from .laplace import LaplaceLaw, Laplaces

LIST_OUTCOMES_MAX = 300_000
WORK_MAX = 6_000_000  # terms of all polynomials
LIST_BITS, LIST_BITS_MAX, ACCURATE = 192, 1 << 14, 96

Atoms = list[tuple[arb, arb]]  # P-mass and loss


def enclosed(terms: Sequence[tuple[CheckedLaw, int]], epsilon: arb) -> arb | None:
    """delta(epsilon); None where a law is of neither kind, or where there is too much to list."""
    edges = [(law.edge, count) for law, count in terms if isinstance(law, LaplaceLaw)]
    others = [(law, count) for law, count in terms if not isinstance(law, LaplaceLaw)]
    uses, signs = sum(count for _, count in edges), prod(count + 1 for _, count in edges)
    size = 1
    for law, count in others:
        atoms = law.atoms()
        if atoms is None:
            return None
        kinds = sum(not p.is_zero() and not q.is_zero() for p, q in atoms)
        size *= comb(count + kinds - 1, count) if kinds else 0
    if size > LIST_OUTCOMES_MAX or size * signs * max(uses, 1) > WORK_MAX:
        return None
    bits = LIST_BITS
    while True:
        with precision(bits):
            value = _delta(others, [(exact(edge), count) for edge, count in edges], epsilon)
        if value.is_exact() or value.rel_accuracy_bits() >= ACCURATE or bits >= LIST_BITS_MAX:
            return value
        bits *= 2  # what the residues cancel is not known beforehand


def _delta(others: Sequence[tuple[CheckedLaw, int]], edges: Sequence[tuple[arb, int]], epsilon: arb) -> arb:
    """The sum over the outcomes; those that P has not add nothing, those that Q has not add their mass w."""
    kept, outcomes = arb(1), [(arb(1), arb(0))]
    for law, count in others:
        kept *= (1 - law.infinite()) ** count
        listed = _power(
            [(p, (p / q).log()) for p, q in law.atoms() or () if not p.is_zero() and not q.is_zero()], count
        )
        outcomes = [(p * mass, loss + more) for p, loss in outcomes for mass, more in listed]
    profile = Laplaces(edges) if edges else None
    total = 1 - kept
    for p, loss in outcomes:
        total += p * (profile.at(epsilon - loss) if profile else -(epsilon - loss).min(arb(0)).expm1())
    return total


def _power(atoms: Atoms, count: int) -> Atoms:
    """count uses: the number of uses of the first atom is binomial, the rest are uses of the others."""
    if not atoms:
        return []
    (p, loss), others = atoms[0], atoms[1:]
    if not others:
        return [(p**count, loss * count)]
    found = []
    for n in range(count + 1):
        ways = comb(count, n) * p**n
        found += [(ways * mass, loss * n + more) for mass, more in _power(others, count - n)]
    return found
