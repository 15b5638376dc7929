"""The composition of finite laws, atom by atom.

A law with atoms (p_i, l_i) used k times has the atoms sum n_i l_i with the multinomial masses of (n_i); laws multiply.
For two atoms only a window around the mean is listed: by Hoeffding the mass at a distance above T from the mean k p
is at most 2 exp(-2 T^2 / k), which is DROPPED at T = sqrt(WINDOW k).
Guarantee: exact up to the dropped mass, which is returned. Proof: docs/proofs/closed_forms.md.
Reference: Kairouz, Oh, Viswanath 2017, Thm 3.3 (two atoms); Hoeffding 1963, Thm 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from flint import arb

from ...facets.finite import Atom, FiniteLaw, power, product
from ...kernels.ball import spreads
from ...kernels.enclosure import Enclosure, count_enclosure, exact
from ...kernels.multinomial import multinomial_masses
from .tuning import ATOMS_MAX, ROW_ENTRIES_MAX

WINDOW = 381.5  # 2 exp(-763) < 2.3e-331
DROPPED = 5e-324

FiniteTerm = tuple[FiniteLaw, int]


class FloatList(NamedTuple):
    """Losses and P-masses of the composition in float64, and a bound on the P-mass left out."""

    loss: Enclosure
    mass: Enclosure
    dropped: float


class BallList(NamedTuple):
    """Atoms of the composition in balls, and a bound on the P-mass left out."""

    atoms: list[Atom]
    dropped: float


def listed_atoms(terms: Sequence[FiniteTerm]) -> int:
    """How many atoms the composition lists; more than ATOMS_MAX where there are too many to count."""
    total = 1
    for law, count in terms:
        total *= _rows(law.size(), count)
        if total > ATOMS_MAX:
            return ATOMS_MAX + 1
    return total


def _rows(atoms: int, count: int) -> int:
    if atoms <= 1:
        return 1
    if atoms == 2:
        return min(count + 1, 2 * math.isqrt(int(WINDOW * count)) + 8) if count < 2**52 else ATOMS_MAX + 1
    if count == 1:
        return atoms
    rows = math.comb(count + atoms - 1, atoms - 1) if count + atoms < ATOMS_MAX**0.5 else ATOMS_MAX + 1
    return rows if rows * atoms < ROW_ENTRIES_MAX else ATOMS_MAX + 1


def float_law(terms: Sequence[FiniteTerm]) -> FloatList:
    """The composition in float64."""
    loss, mass, dropped = exact(np.zeros(1)), exact(np.ones(1)), 0.0
    for law, count in terms:
        more_loss, more_mass, cut = _float_power(law, count)
        loss = Enclosure(loss.value[:, None], loss.radius[:, None]) + more_loss
        mass = Enclosure(mass.value[:, None], mass.radius[:, None]) * more_mass
        loss, mass = _flat(loss), _flat(mass)
        dropped += cut
    return FloatList(loss, mass, dropped)


def _float_power(law: FiniteLaw, count: int) -> FloatList:
    floats, atoms = law.floats, law.size()
    if count == 1 or atoms == 0:
        return FloatList(floats.loss, floats.p, 0.0)
    times = count_enclosure(count)
    survival = ((-floats.infinite).log1p() * times).exp()
    if atoms == 1:
        return FloatList(floats.loss * times, exact(np.ones(1)) * survival, 0.0)
    kept = 1.0 - floats.infinite
    rows, dropped = _float_rows(floats.p.value / float(kept.value), count)
    loss = exact(np.zeros(len(rows)))
    for index in range(atoms):
        loss = loss + exact(rows[:, index].astype(np.float64)) * floats.loss[index]
    return FloatList(loss, multinomial_masses(rows, floats.p / kept) * survival, dropped)


def _float_rows(probabilities: npt.NDArray[np.float64], count: int) -> tuple[npt.NDArray[np.int64], float]:
    if len(probabilities) == 2:
        first, last = _window(float(probabilities[0]), count)
        uses = np.arange(first, last + 1, dtype=np.int64)
        return np.stack([uses, count - uses], axis=1), DROPPED if last - first < count else 0.0
    return np.array(list(spreads(count, len(probabilities))), dtype=np.int64), 0.0


def _window(probability: float, count: int) -> tuple[int, int]:
    """First and last number of uses of one atom that are listed; the slack covers the rounding of the mean."""
    reach = math.isqrt(int(WINDOW * count)) + 3 + int(count * 2.0**-50)
    mean = int(probability * count)
    return max(0, mean - reach), min(count, mean + reach)


def _flat(numbers: Enclosure) -> Enclosure:
    return Enclosure(numbers.value.ravel(), numbers.radius.ravel())


def ball_law(terms: Sequence[FiniteTerm]) -> BallList:
    """The composition in balls, at the working precision."""
    powers = [_ball_power(law.listed(), count) for law, count in terms]
    return BallList(product(atoms for atoms, _ in powers), sum(dropped for _, dropped in powers))


def _ball_power(atoms: list[Atom], count: int) -> tuple[list[Atom], float]:
    if count > 1 and len(atoms) == 2:
        return _ball_binomial(atoms[0], atoms[1], count)
    return power(atoms, count), 0.0


def _ball_binomial(one: Atom, other: Atom, count: int) -> tuple[list[Atom], float]:
    """Masses by ratios of neighbours, from the first of the window on."""
    first, last = _window(float((one.p / (one.p + other.p)).mid()), count)
    choices = (arb(count + 1).lgamma() - arb(first + 1).lgamma() - arb(count - first + 1).lgamma()).exp()
    p = choices * one.p**first * other.p ** (count - first)
    q = choices * one.q**first * other.q ** (count - first)
    p_odds, q_odds = one.p / other.p, one.q / other.q
    listed = []
    for uses in range(first, last + 1):
        listed.append(Atom(p, q, uses * one.loss + (count - uses) * other.loss))
        ratio = arb(count - uses) / (uses + 1)
        p, q = p * ratio * p_odds, q * ratio * q_odds
    return listed, DROPPED if last - first < count else 0.0
