"""Faults that the tests of two deviations must kill."""

from __future__ import annotations

from flint import acb, arb

from tests.conformance import test_facets as facets
from tests.conformance.cases import ROWS
from tests.losses import test_pair as variances
from tests.numerics import test_normal as normal
from tightrope.core.losses import gaussian_variance as cgf
from tightrope.core.losses.gaussian_variance import GaussianVarianceMoments, VarianceRatio
from tightrope.core.numerics import counting as incomplete_gamma
from tightrope.core.numerics import normal as tails
from tightrope.core.values.question import Direction

from .contour_faults import Fault, Patch

ROW = next(row for row in ROWS if row.name.startswith("GaussianVariance"))


def continue_past_the_pole(patch: Patch) -> None:
    """The formula has values there that no moment has."""

    def log_moment(self: GaussianVarianceMoments, z: acb) -> acb:
        ratio = self.pair.ratio
        return -z * ratio.ball_log() - abs(1 - z.real * ratio.ball_growth()).log() / 2

    patch.setattr(GaussianVarianceMoments, "log_moment", log_moment)


def concentrate_both_orders(patch: Patch) -> None:
    patch.setattr(GaussianVarianceMoments, "zcdp_rho", lambda self: self.pair.ball_mean())


def halve_rho(patch: Patch) -> None:
    """K at small orders needs all of the mean."""

    def zcdp_rho(self: GaussianVarianceMoments) -> arb | None:
        return None if self.pair.rising else self.pair.ball_mean() / 2

    patch.setattr(GaussianVarianceMoments, "zcdp_rho", zcdp_rho)


def end_in_a_gaussian(patch: Patch) -> None:
    def limit(self: GaussianVarianceMoments, direction: Direction) -> arb | None:
        return arb.pos_inf() if self.pair.rising != (direction is Direction.REMOVE) else None

    patch.setattr(GaussianVarianceMoments, "gdp_mu_lower", limit)


def forget_the_side(patch: Patch) -> None:
    """A ratio above 1 says nothing of one below."""

    def beyond(self: VarianceRatio, other: VarianceRatio) -> bool:
        return bool(abs(self.ball_log()) >= abs(other.ball_log()))

    patch.setattr(VarianceRatio, "beyond", beyond)


def forget_the_radius(patch: Patch) -> None:
    patch.setattr(incomplete_gamma, "_density_most", lambda shape, u: arb(0))


def cut_the_sum_early(patch: Patch) -> None:
    """Terms of P[|N| <= y] are needed up to y = 1."""
    patch.setattr(tails, "_LAST_ODD", 13)


def fall_twice_as_fast(patch: Patch) -> None:
    plain = cgf.GaussianVarianceBallDecay.log_bound
    patch.setattr(cgf.GaussianVarianceBallDecay, "log_bound", lambda self, radius: 2.0 * plain(self, radius))


def turn_by_the_first_term(patch: Patch) -> None:
    """atan x - x is -x^3/3 at 0 only."""
    patch.setattr(cgf, "SERIES_TERMS", 1)


FAULTS: tuple[Fault, ...] = (
    Fault("moments past the pole", continue_past_the_pole, lambda _: variances.test_divergences_end_at_the_pole()),
    Fault(
        "rho of a loss without end", concentrate_both_orders, lambda _: variances.test_concentrated_on_one_side_alone()
    ),
    Fault("half of rho", halve_rho, lambda _: facets.check(ROW, "zcdp_rho")),
    Fault("a limit of the wrong order", end_in_a_gaussian, lambda _: facets.check(ROW, "gdp_mu_lower")),
    Fault("both sides of 1", forget_the_side, lambda _: variances.test_a_ratio_nearer_to_one_is_dominated()),
    Fault(
        "a gamma law at the middle", forget_the_radius, lambda _: variances.test_gamma_sides_hold_what_a_ball_holds(7)
    ),
    Fault("a sum cut early", cut_the_sum_early, lambda _: normal.test_both_sides_keep_their_error()),
    Fault("a decay that is too fast", fall_twice_as_fast, lambda _: facets.check(ROW, "cgf")),
    Fault("one term of the turn", turn_by_the_first_term, lambda _: facets.check(ROW, "cgf")),
)
