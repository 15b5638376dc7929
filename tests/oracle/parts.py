"""Laws as lists: outputs that have mass, and densities between places, with a bound of what is not listed.

E[e^{z l}] under the first law of a use is then a sum and a few integrals by Arb's own integrator.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache, singledispatch
from itertools import pairwise
from typing import NamedTuple

from flint import acb, arb

from .continuous import Centred, Gaussian, Growing, Laplace, Logistic
from .discrete_gaussian import DiscreteGaussian
from .finite import FiniteLaw
from .integer_noise import Skellam, mass
from .precision import ball, precision
from .sparse_vector import FlatTop
from .stability import Thresholded
from .truncated import Clamped, Cut, GaussianNoise, LaplaceNoise, Noise, Seen, Window
from .truth import Law, Truth

Function = Callable[[acb, bool], acb]
BITS = 128
FAR = 20  # standard deviations beyond which nothing is listed
TOLERANCE = arb(2) ** -94  # of an integral, which comparisons need to 24 digits or so


class Piece(NamedTuple):
    """Two log densities that are analytic between neighbouring places."""

    log_p: Function
    log_q: Function
    places: tuple[arb, ...]


class Parts(NamedTuple):
    """Masses of outputs, densities, and a bound of the integral of (p + q) e^{tilt |loss|} over all others."""

    atoms: tuple[tuple[arb, arb], ...] = ()
    pieces: tuple[Piece, ...] = ()
    beyond: arb = arb(0)


@cache
def moment(truth: Truth, tilt: float, t: float = 0.0) -> acb:
    """E[e^{(tilt + i t) l}; l finite] under the first law."""
    with precision(BITS):
        z, rate = acb(tilt, t), Fraction(truth.rate)
        parts = _parts_of(truth.law, tilt)
        total = acb(0)
        for p, q in parts.atoms:
            mixture = ball(1 - rate) * q + ball(rate) * p
            first, second = (mixture, q) if truth.direction == "remove" else (q, mixture)
            if not first.is_zero() and not second.is_zero():
                total += ((1 + z) * acb(first.log()) - z * acb(second.log())).exp()
        for piece in parts.pieces:
            for low, high in pairwise(piece.places):
                value = _integrand(piece, rate, truth.direction, z)
                total += acb.integral(value, acb(low), acb(high), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        around = arb(0, parts.beyond.abs_upper())
        return total + acb(around, around)


def _integrand(piece: Piece, rate: Fraction, direction: str, z: acb) -> Function:
    kept, share = ball(1 - rate), ball(rate)

    def value(x: acb, analytic: bool) -> acb:
        log_p, log_q = piece.log_p(x, analytic), piece.log_q(x, analytic)
        mixture = log_p if rate == 1 else log_q + (kept + share * (log_p - log_q).exp()).log(analytic=analytic)
        first, second = (mixture, log_q) if direction == "remove" else (log_q, mixture)
        return (first + z * (first - second)).exp()

    return value


@cache
def _parts_of(law: Law, tilt: float) -> Parts:
    return parts(law, tilt)


@singledispatch
def parts(law: Law, tilt: float) -> Parts:
    """Listed for moments of this order."""
    raise TypeError(f"no parts of {law!r}: write them here")


@parts.register
def _(law: FiniteLaw, tilt: float) -> Parts:
    return Parts(tuple((output.p, output.q) for output in law.outputs()))


@parts.register
def _(law: Gaussian, tilt: float) -> Parts:
    sigma, shift = Fraction(law.sigma), Fraction(law.sensitivity)
    reach = FAR * sigma + shift * (1 + Fraction(tilt))
    places = tuple(ball(shift / 2 + reach * Fraction(step, 6)) for step in range(-6, 7))
    piece = Piece(_normal(sigma, shift), _normal(sigma, Fraction(0)), places)
    square, c, root = ball((shift / sigma) ** 2), arb(tilt), arb(2).sqrt() * ball(sigma)
    # Mirrored around shift/2, and p e^{c l} is a normal density at shift (1 + c), q e^{c l} one at shift c.
    after = (c * (c + 1) * square / 2).exp() * ((places[-1] - ball(shift) * (1 + c)) / root).erfc() / 2
    after += (c * (c - 1) * square / 2).exp() * ((places[-1] - ball(shift) * c) / root).erfc() / 2
    return Parts(pieces=(piece,), beyond=2 * after)


@parts.register
def _(law: Centred, tilt: float) -> Parts:
    """For moments of an order below the pole, of deviations that fall."""
    first, second, c = Fraction(law.first), Fraction(law.second), Fraction(tilt)
    left = 1 - c * ((first / second) ** 2 - 1)
    if not (first > second and left > 0):
        raise TypeError("listed below the pole of deviations that fall")
    wide = ball(first / second) / ball(left).sqrt()  # deviation of p e^{c l}, in units of the second
    reach = FAR * wide
    places = tuple(ball(second) * reach * step / 4 for step in range(5))  # of |x|
    piece = Piece(_folded(first), _folded(second), places)
    # There the loss is positive, and so is that of a sample, which is no larger.
    after = ball(second / first) ** ball(c) / ball(left).sqrt() * (reach / wide / arb(2).sqrt()).erfc()
    return Parts(pieces=(piece,), beyond=after + (reach / arb(2).sqrt()).erfc())


def _folded(sigma: Fraction) -> Function:
    log, twice = _normal(sigma, Fraction(0)), arb(2).log()
    return lambda x, analytic: log(x, analytic) + twice


def _normal(sigma: Fraction, mean: Fraction) -> Function:
    variance, centre = ball(sigma**2), ball(mean)
    shape = (2 * arb.pi() * variance).log() / 2
    return lambda x, analytic: -((x - centre) ** 2) / (2 * variance) - shape


def _exponential(scale: Fraction, mean: Fraction, side: int) -> Function:
    """The Laplace density on one side of its mean."""
    wide, centre = ball(scale), ball(mean)
    return lambda x, analytic: -side * (x - centre) / wide - (2 * wide).log()


@parts.register
def _(law: Laplace, tilt: float) -> Parts:
    scale, shift = Fraction(law.scale), Fraction(law.sensitivity)
    far = (-ball(shift / scale)).exp() / 2
    inner = Piece(_exponential(scale, shift, -1), _exponential(scale, Fraction(0), 1), (arb(0), ball(shift)))
    return Parts(((far, arb(0.5)), (arb(0.5), far)), (inner,))


@parts.register
def _(law: Thresholded, tilt: float) -> Parts:
    scale = 1 / Fraction(law.epsilon)
    low, top = (ball(end.factor) * ball(end.exponent).exp() for end in law.ratio_range())
    leak, far = ball(law.alone()[0]), low / 2
    cut = arb(0.5) + ball(scale) * top.log() / 2  # where the noise has the largest ratio that is left
    inner = Piece(_exponential(scale, Fraction(1), -1), _exponential(scale, Fraction(0), 1), (arb(0), cut))
    rest = 1 - ((cut - 1) / ball(scale)).exp() / 2 - leak
    return Parts(((leak, arb(0)), (far, arb(0.5)), (rest, rest / top)), (inner,))


@parts.register
def _(law: Logistic, tilt: float) -> Parts:
    edge, reach = ball(Fraction(law.epsilon)), 100

    def log(mean: arb) -> Function:
        return lambda x, analytic: -2 * (2 * ((x - mean) / 2).cosh()).log(analytic=analytic)

    places = tuple(arb(step) * reach / 20 + edge / 2 for step in range(-20, 21))
    # P and Q have less than e^{epsilon/2 - reach} each on either side, where the loss is within epsilon.
    return Parts(pieces=(Piece(log(edge), log(arb(0)), places),), beyond=4 * ((tilt + 1) * edge - reach).exp())


@parts.register
def _(law: FlatTop, tilt: float) -> Parts:
    _, width = law.top()
    places = sorted([arb(0), arb(1), width, width + 1], key=float)
    left, right = (law.sides(arb(-1))[1], law.sides(arb(0))[1]), (law.sides(width)[0], law.sides(width + 1)[0])
    pieces = [
        Piece(law.log_density((low + high) / 2, 1), law.log_density((low + high) / 2, 0), (low, high))
        for low, high in pairwise(places)
        if low < high
    ]
    return Parts((left, right), tuple(pieces))


@parts.register
def _(law: Growing, tilt: float) -> Parts:
    whole = arb(1).expm1().log()
    return Parts(pieces=(Piece(lambda x, _: x - whole, lambda x, _: acb(0), (arb(0), arb(1))),))


@parts.register
def _(law: DiscreteGaussian, tilt: float) -> Parts:
    sigma, shift, c = Fraction(law.sigma), law.sensitivity, arb(tilt)
    variance = ball(sigma**2)
    last = int(shift * (2 + Fraction(tilt)) + FAR * sigma) + 2
    weights = {x: (-arb(x * x) / (2 * variance)).exp() for x in range(-last - shift, last + shift + 1)}
    total = sum(weights.values(), arb(0)) * (1 + arb(0, arb(10) ** -60))
    atoms = tuple((weights[x - shift] / total, weights[x] / total) for x in range(shift - last, last + 1))
    # Beyond, p e^{c |l|} and q e^{c |l|} fall at least by e^{-FAR/sigma} from each output to the next.
    edge = weights[last - shift] / total * (c * shift * (2 * last + shift) / (2 * variance)).exp()
    return Parts(atoms, beyond=4 * edge / -(-FAR / ball(sigma)).expm1())


@parts.register
def _(law: Skellam, tilt: float) -> Parts:
    v, shift, c = Fraction(law.variance), law.sensitivity, arb(tilt)
    last = int(4 * v + shift * (4 + 2 * Fraction(tilt))) + 120
    masses = [mass(law.variance, k, BITS + 64) for k in range(last + shift + 1)]
    atoms = tuple((masses[abs(x - shift)], masses[abs(x)]) for x in range(shift - last, last + 1))
    # I_{k-1} <= (2k/v + 1) I_k: beyond, p e^{c |l|} and q e^{c |l|} fall to less than half at each step.
    edge = masses[last - shift] * (ball(2 * last / v) + 1) ** (c * shift)
    fall = ball(v / (2 * (last + 1 - shift))) * (1 + 1 / ball(Fraction(last))) ** (c * shift)
    assert fall < 0.5
    return Parts(atoms, beyond=8 * edge)


@parts.register
def _(law: Cut, tilt: float) -> Parts:
    low, high = law.ends()
    p_alone, q_alone = law.alone()
    kept = law.noise.mass(low, high).log()
    start, stop, _, _ = law.shared()
    alone = tuple(each for each in ((ball(p_alone), arb(0)), (arb(0), ball(q_alone))) if any(each))
    if start is None or stop is None:
        raise TypeError("cut noise is listed between two ends")
    return Parts(alone, () if start >= stop else _noise(law, start, stop, kept))


@parts.register
def _(law: Clamped, tilt: float) -> Parts:
    low, high = law.ends()
    if low is None or high is None:
        raise TypeError("clamped noise is listed between two ends")
    ends = [(law.noise.mass(*each, law.by), law.noise.mass(*each)) for each in ((None, low), (high, None))]
    return Parts(tuple(ends), _noise(law, low, high, arb(0)))


@parts.register
def _(law: Window, tilt: float) -> Parts:
    p_alone, q_alone = law.alone()
    low, high = Fraction(law.low), Fraction(law.high)
    return Parts(((ball(p_alone), arb(0)), (arb(0), ball(q_alone))), _noise(law, low, high, arb(0)))


def _noise(law: Seen, low: Fraction, high: Fraction, kept: arb) -> tuple[Piece, ...]:
    """Both densities between two ends, divided by e^kept, in pieces without a kink."""
    kinks = [place for place in (Fraction(0), law.by) if low < place < high]
    found = []
    for start, stop in pairwise([low, *kinks, high]):
        middle = (start + stop) / 2
        log_p, log_q = (_one_side(law.noise, mean, middle, kept) for mean in (law.by, Fraction(0)))
        places = tuple(ball(start + (stop - start) * Fraction(step, 6)) for step in range(7))
        found.append(Piece(log_p, log_q, places))
    return tuple(found)


def _one_side(noise: Noise, mean: Fraction, near: Fraction, kept: arb) -> Function:
    if isinstance(noise, GaussianNoise):
        log = _normal(Fraction(noise.sigma), mean)
    elif isinstance(noise, LaplaceNoise):
        log = _exponential(Fraction(noise.scale), mean, 1 if near > mean else -1)
    else:
        raise TypeError(f"no density of {noise!r}")
    return lambda x, analytic: log(x, analytic) - kept
