"""What becomes of a pair in a sample: glued for batches, mixed for groups, and where a record is replaced."""

from __future__ import annotations

from fractions import Fraction

from flint import arb
from mpmath import mp

from tests.oracle.continuous import Gaussian
from tests.oracle.mixtures import NormalMixtures, binomial, group, hypergeometric
from tests.oracle.truth import Truth
from tightrope.core.losses.operators import registered as operators
from tightrope.core.losses.pair import Pair
from tightrope.core.losses.participation_law import BinomialParticipation, HypergeometricParticipation
from tightrope.core.numerics.balls import working_precision

from .asked import BITS, Asked, meets

SIZE = 3
DIGITS = 50


def fixed_size_subsampled(asked: Asked) -> bool:
    """Of a pair whose directions agree: the oracle's sample above the loss 0, 1 - a + a H(1/a) below."""
    plain, other = (Truth(asked.law, 1, direction) for direction in ("remove", "add"))
    epsilons = asked.epsilons()
    if asked.rate == 1.0 or not all(plain.delta(each).overlaps(other.delta(each)) for each in epsilons):
        return False
    found = operators.subsampled_fixed_size(Asked(asked.row, 1.0, asked.direction).pair, asked.rate)
    if found is not None:
        truth = Truth(asked.law, asked.rate, "remove")
        for epsilon in epsilons:
            with working_precision(BITS):
                above = truth.delta(abs(epsilon))
                value = above if epsilon >= 0.0 else 1 - arb(epsilon).exp() * (1 - above)
                meets(found.ball_hockey_stick(arb(epsilon)), value, f"delta({epsilon!r}) of a batch")
    return found is not None


def mixture(asked: Asked) -> bool:
    """A group of SIZE records in a Poisson sample, and in a batch of 2 among 10."""
    if asked.rate == 1.0:
        return False
    pair = Asked(asked.row, 1.0, asked.direction).pair
    in_sample = operators.shift_mixture(pair, BinomialParticipation(SIZE, asked.rate), asked.way)
    in_batch = operators.shift_mixture(pair, HypergeometricParticipation(10, SIZE, 2), asked.way)
    if in_sample is not None and in_batch is not None:
        mu = _mu(asked)
        _agrees(asked, in_sample, group(binomial(SIZE, asked.rate), mu, asked.direction), "a group in a sample")
        _agrees(asked, in_batch, group(hypergeometric(10, SIZE, 2), mu, asked.direction), "a group in a batch")
    return in_sample is not None


def sampled_replacement(asked: Asked) -> bool:
    """A record that shifts by mu replaced by one that shifts by -mu."""
    if asked.rate == 1.0:
        return False
    found = operators.sampled_replacement(Asked(asked.row, 1.0, asked.direction).pair, asked.rate)
    if found is not None:
        mu, share = _mu(asked), Fraction(asked.rate)
        none = (1 - share, Fraction(0))
        _agrees(asked, found, NormalMixtures((none, (share, mu)), (none, (share, -mu))), "a replacement")
    return found is not None


def _mu(asked: Asked) -> Fraction:
    law = asked.law
    assert isinstance(law, Gaussian), f"no mixtures of {law!r} in the oracle: add them here"
    return Fraction(law.sensitivity) / Fraction(law.sigma)


def _agrees(asked: Asked, found: Pair, truth: NormalMixtures, what: str) -> None:
    for epsilon in asked.epsilons():
        with mp.workdps(DIGITS + 10), working_precision(BITS):
            value = arb(mp.nstr(truth.hockey_stick(epsilon), DIGITS)) + arb(0, 10.0 ** (10 - DIGITS))
            meets(found.ball_hockey_stick(arb(epsilon)), value, f"delta({epsilon!r}) of {what}")
