"""What a composition with visible hits can come to: a number of hits per term, with its mass and its loss.

A use of ((1 - r) Q + r P, Q) is a hit where its base loss l exceeds l0 = log((1 - r)/r): what each pair tells of itself
(operators.visible_participation). Numbers of hits are binomial; those that are too rare to be seen are left out, and
their mass is bounded. Guarantee: masses and losses as balls, and a bound of the mass left out. Proof:
docs/proofs/hits.md, section 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flint import arb

from ... import compute_budget
from ...errors import Refusal, UnsupportedMechanism
from ...kernels.ball import BITS_START, upper_float, working_precision
from ...operators import finite_law, visible_participation
from ..closed_form.finite_part import BallList, FiniteTerm
from ..evaluation import Term
from ..extremes_of_loss import leaked
from . import tuning


class SampledUses(NamedTuple):
    """One sampled term that is removed: uses, rate, and the variance mu^2 of a hit's loss."""

    uses: int
    rate: arb
    variance: arb


class Outcome(NamedTuple):
    """A number of hits per term: its mass, the loss that it has for certain, the variance of the rest."""

    mass: arb
    loss: arb
    variance: arb


@dataclass(frozen=True)
class VisibleParticipationParts:
    """A composition with visible hits: sampled terms, and what all of it has in any case."""

    hits: tuple[SampledUses, ...]
    finite: tuple[FiniteTerm, ...]
    loss: arb  # of additions
    variance: arb  # of plain Gaussians
    infinite: arb
    hidden: arb  # at or above the mass of uses that are not seen
    blur: arb  # an addition's loss may be less by that


def visible_participation_parts(terms: Sequence[Term]) -> VisibleParticipationParts:
    """The composition sorted, or UnsupportedMechanism; at the working precision."""
    hits: list[SampledUses] = []
    finite: list[FiniteTerm] = []
    loss, variance, hidden, blur = arb(0), arb(0), arb(0), arb(0)
    for pair, count in terms:
        law, use = finite_law(pair), visible_participation(pair)
        if law is not None:
            finite.append((law, count))
        elif use is None:
            raise UnsupportedMechanism("its hits cannot be told from its misses")
        elif 0.0 < use.chance < 1.0:
            hits.append(SampledUses(count, arb(use.chance), use.variance))
        else:
            variance += count * use.variance
        if use is not None:
            loss, hidden, blur = loss + count * use.sure, hidden + count * use.hidden, blur + count * use.blur
        if not hidden + blur < tuning.HIDDEN_MAX:
            raise UnsupportedMechanism("its noise hides whether a record took part")
    if hidden.is_zero():
        raise UnsupportedMechanism("nothing in it is sampled")
    return VisibleParticipationParts(tuple(hits), tuple(finite), loss, variance, leaked(finite), hidden, blur)


def hides_too_much(hidden: arb, delta: float | None, accuracy: float) -> bool:
    """Whether hits that are not told from misses leave more of delta open than the accuracy allows."""
    return delta is not None and not 2.0 * upper_float(hidden) <= accuracy * delta


def participation_visible(terms: Sequence[Term], delta: float | None, accuracy: float) -> bool:
    """Whether hits are told from misses, so that their number is all that is hidden."""
    try:
        with working_precision(BITS_START):
            return not hides_too_much(visible_participation_parts(terms).hidden, delta, accuracy)
    except UnsupportedMechanism:
        return False


def listed(
    terms: Sequence[Term], parts: VisibleParticipationParts, finite: BallList, log_least: float
) -> tuple[list[Outcome], arb]:
    """Every number of hits that is likelier than e^log_least, and a bound of the mass of the others."""
    least = arb(log_least).exp()
    atoms = [Outcome(atom.p, parts.loss + atom.loss, parts.variance) for atom in finite.atoms]
    dropped = arb(finite.dropped)
    for term in parts.hits:
        masses, first, cut = _binomial(term, least)
        if len(masses) * len(atoms) > tuning.PRODUCTS_MAX:
            raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
        compute_budget.spend(tuning.MULTIPLICATION * len(masses) * len(atoms))
        dropped += cut
        hit, missed = term.rate.log(), (-term.rate).log1p()
        rows = [(mass, m * hit + (term.uses - m) * missed, m * term.variance) for m, mass in enumerate(masses, first)]
        joined: list[Outcome] = []
        for before in atoms:
            for mass, loss, variance in rows:
                both = before.mass * mass
                if both > least:
                    joined.append(Outcome(both, before.loss + loss, before.variance + variance))
                else:
                    dropped += both
        atoms = joined
        if len(atoms) > tuning.OUTCOMES_MAX:
            raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
    return atoms, dropped


def _binomial(term: SampledUses, least: arb) -> tuple[list[arb], int, arb]:
    """Binomial masses down to `least` on both sides of the mode, the first number, and a bound of the rest."""
    count = term.uses
    mode = min(int(count * float(term.rate.mid())), count)  # or next to it: any start will do
    at_mode = arb(count + 1).lgamma() - arb(mode + 1).lgamma() - arb(count - mode + 1).lgamma()
    top = (at_mode + mode * term.rate.log() + (count - mode) * (-term.rate).log1p()).exp()
    down, below = _side(term, mode, top, least, -1)
    up, above = _side(term, mode, top, least, 1)
    return down[::-1] + up[1:], mode - len(down) + 1, below + above


def _side(term: SampledUses, mode: int, top: arb, least: arb, step: int) -> tuple[list[arb], arb]:
    """The masses from the mode on to one side, and a bound of those beyond the last."""
    odds, end = term.rate / (1 - term.rate), term.uses if step > 0 else 0

    def ratio(m: int) -> arb:
        """Of the mass next to m to that of m."""
        return arb(term.uses - m) / (m + 1) * odds if step > 0 else arb(m) / (term.uses - m + 1) / odds

    m, mass = mode, top
    side: list[arb] = []
    while mass > least and len(side) <= tuning.OUTCOMES_MAX:
        if len(side) % 1000 == 0:
            compute_budget.spend(1000 * tuning.MULTIPLICATION)
        side.append(mass)
        if m == end:
            return side, arb(0)
        m, mass = m + step, mass * ratio(m)
    following = ratio(m)
    if not following < 1:
        raise UnsupportedMechanism("it has too many hits to list", Refusal.TOO_MUCH_WORK)
    return side, mass / (1 - following)  # the ratios fall, so the rest is below a geometric series
