"""Faults that the tests of the lattice must kill: each drops or weakens one error term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from flint import arb

from tests.engines import test_events as event_tests
from tests.engines.lattice import test_proof as proofs
from tests.engines.lattice import test_steps as parts
from tests.engines.lattice import test_work as work
from tightrope.core.engines import fallback_bounds as events
from tightrope.core.engines.lattice import compose as lattice_compose
from tightrope.core.engines.lattice import compose as lattice_law
from tightrope.core.engines.lattice import grid as lattice_masses
from tightrope.core.engines.lattice import native as lattice_narrowest
from tightrope.core.engines.lattice.proof import WholeUpper
from tightrope.core.engines.selection import Term
from tightrope.core.numerics.balls import upper_float

from .contour_faults import Fault, Patch


def drop_mass_outside(patch: Patch) -> None:
    patch.setattr(lattice_compose._Sides, "outside", lambda *arguments: 0.0)


def trust_the_input(patch: Patch) -> None:
    """What one use is off by, k uses multiply."""
    patch.setattr(lattice_law.Side, "push", lambda *arguments: np.asarray(1.0))


def ignore_cancellation(patch: Patch) -> None:
    patch.setattr(lattice_masses, "rounded_chord", lambda tail, upward: tail.value)


def drop_infinite_losses(patch: Patch) -> None:
    plain = WholeUpper.times

    def finite(one: WholeUpper, other: WholeUpper, bits: int, cut: int) -> WholeUpper:
        return replace(plain(one, other, bits, cut), infinite=0)

    patch.setattr(WholeUpper, "times", finite)


def forget_the_count_under_q(patch: Patch) -> None:
    """The event is found by any of k uses under Q too."""
    plain = events._some

    def once(terms: Sequence[Term], epsilon: float, threshold: float) -> arb:
        missed = arb(0)
        for pair, count in terms:
            tails = pair.ball_tails(arb(threshold))
            missed += (count - 1) * events._log_below(tails.q_above, tails.q_below)
        return plain(terms, epsilon, threshold) - arb(epsilon).exp() * missed.expm1()

    patch.setattr(events, "_some", once)


def round_events_up(patch: Patch) -> None:
    patch.setattr(events, "lower_float", upper_float)


def take_the_widest(patch: Patch) -> None:
    """The upper end of one evaluator below the lower end that another one proves."""
    patch.setattr(lattice_narrowest, "min", lambda found, key: max(found, key=key), raising=False)


FAULTS = (
    Fault(
        "an event of many uses counted once under Q",
        forget_the_count_under_q,
        lambda patch: event_tests.test_events_stay_below_all_outcomes(),
    ),
    Fault(
        "events rounded up",
        round_events_up,
        lambda patch: event_tests.test_one_use_is_met_from_below(),
    ),
    Fault(
        "mass outside a window that was cut forgotten",
        drop_mass_outside,
        work.test_a_window_that_was_cut_still_holds,
    ),
    Fault(
        "the wider of two upper ends taken",
        take_the_widest,
        lambda patch: work.test_the_narrowest_of_two(),
    ),
    Fault(
        "mass outside the window missing from the upper end",
        drop_mass_outside,
        lambda patch: parts.test_upper_end_in_narrow_windows(),
    ),
    Fault(
        "wrap-around counted in the lower end",
        drop_mass_outside,
        lambda patch: parts.test_lower_end_in_narrow_windows(),
    ),
    Fault(
        "rounding of one use taken for zero",
        trust_the_input,
        lambda patch: parts.test_tilted_entries_keep_their_side(),
    ),
    Fault(
        "rounding of coarser grids taken for zero",
        trust_the_input,
        lambda patch: parts.test_coarser_grids_keep_their_side(),
    ),
    Fault(
        "cancellation in the chord ignored",
        ignore_cancellation,
        lambda patch: parts.test_chords_dominate(),
    ),
    Fault(
        "half of the transform's radius claimed",
        lambda patch: None,
        lambda patch: parts.noise_of_the_claimed_size(patch, claimed=0.5),
    ),
    Fault(
        "infinite losses dropped from the proof",
        drop_infinite_losses,
        lambda patch: proofs.test_finite_compositions_in_integers(),
    ),
)
