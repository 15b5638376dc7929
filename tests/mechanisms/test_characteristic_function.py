"""A loss that is known by its log moment function: the same answers as where the law is known, and only these."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest
from flint import acb, arb, ctx
from mpmath import mp, mpf

import tightrope as tr

INF = math.inf
EVERYWHERE = (-INF, INF)


def normal(z: Any) -> Any:
    """The loss of Gaussian(sigma=1)."""
    return z * (z + 1) / 2


def mixed_normal(z: Any) -> Any:
    """N(V/2, V) with V gamma distributed, shape 4 and scale 1/2: Gaussian noise whose size was drawn, and is known."""
    return -4 * (1 - z * (z + 1) / 4).log()


def two_points(z: Any) -> Any:
    """P = (1/2, 1/4, 1/4, 0), Q = (1/8, 1/2, 0, 3/8)."""
    ratio = arb(2).log()
    return ((2 * z * ratio).exp() / 2 + (-z * ratio).exp() / 4).log()


STRIP = (-2.56, 1.56)  # mixed_normal has its poles at (-1 -+ sqrt(17))/2
NORMAL = tr.CharacteristicFunction(log_moment=normal, strip=EVERYWHERE, decay="falling")
MIXED = tr.CharacteristicFunction(log_moment=mixed_normal, strip=STRIP, decay="falling")
LEAKY = tr.CharacteristicFunction(log_moment=two_points, strip=EVERYWHERE, infinite_mass=0.25, lost_mass=0.375)
GAUSSIAN = tr.Gaussian(sigma=1.0)
FINITE = tr.Finite(p=(0.5, 0.25, 0.25, 0.0), q=(0.125, 0.5, 0.0, 0.375))


def mixture_delta(uses: int, epsilon: float) -> mpf:
    """E_V[delta of a Gaussian with mu^2 = V], V gamma with shape 4 uses and scale 1/2."""
    with mp.workdps(20):
        shape, scale, eps = mpf(4 * uses), mpf(1) / 2, mpf(epsilon)

        def integrand(v: mpf) -> mpf:
            root = mp.sqrt(v)
            profile = mp.ncdf(root / 2 - eps / root) - mp.exp(eps) * mp.ncdf(-root / 2 - eps / root)
            return v ** (shape - 1) * mp.exp(-v / scale) / (mp.gamma(shape) * scale**shape) * profile

        return mp.quad(integrand, [mpf(0), 2, 8, 24, 96])


@pytest.mark.parametrize("proof", (False, True))
@pytest.mark.parametrize("count", (1, 7, 10**6))
def test_a_gaussian_by_its_moments(count: int, proof: bool) -> None:
    claims = (NORMAL, tr.CharacteristicFunction(normal, (-40, 30), decay=lambda c, r: -r * r / 2))
    for own in claims if count < 100 else claims[:1]:
        for delta in (0.1, 1e-6, 1e-60):
            one, two = (own * count).epsilon(delta, proof=proof), (GAUSSIAN * count).epsilon(delta, proof=proof)
            assert one.lower <= two.upper
            assert two.lower <= one.upper
            assert one.width <= 1e-6 * one.upper
            assert one.certificate.engine == "contour"


@pytest.mark.parametrize("direction", ("remove", "add"))
@pytest.mark.parametrize("proof", (False, True))
def test_composed_with_others(direction: str, proof: bool) -> None:
    others = tr.Laplace(scale=2.0) * 3 + tr.RandomizedResponse(p=0.75, neighbours="add_remove")
    for own, known in ((NORMAL * 2 + others, GAUSSIAN * 2 + others), (LEAKY * 2 + GAUSSIAN, FINITE * 2 + GAUSSIAN)):
        for epsilon in (0.0, 1.0, 4.0):
            one, two = (each.delta(epsilon, direction=direction, proof=proof) for each in (own, known))
            assert one.lower <= two.upper
            assert two.lower <= one.upper
            assert one.width <= 1e-6 * one.upper


@pytest.mark.parametrize("uses", (1, 5))
def test_a_mixture_against_its_integral(uses: int) -> None:
    for epsilon in (0.0, 1.0, 3.0):
        truth = mixture_delta(uses, epsilon)
        for proof in (False, True):
            for direction in ("remove", "add"):
                bound = (MIXED * uses).delta(epsilon, proof=proof, direction=direction)
                assert bound.lower <= truth * (1 + mpf(10) ** -15)
                assert truth * (1 - mpf(10) ** -15) <= bound.upper
                assert bound.width <= 1e-6 * bound.upper


def test_renyi_divergences_and_phi() -> None:
    for order in (0.3, 1.0, 2.0, 8.0):
        one, two = NORMAL.renyi(order), GAUSSIAN.renyi(order)
        assert one.lower <= two.upper
        assert two.lower <= one.upper
        assert one.width < 1e-12
    assert NORMAL.phi(0.7).overlaps(GAUSSIAN.phi(0.7))
    for direction in ("remove", "add"):
        for z in (0.5 + 2j, -0.3 + 1j, 1.0):
            assert (
                (LEAKY * 3).cgf(z, direction=direction).exp().overlaps((FINITE * 3).cgf(z, direction=direction).exp())
            )
    assert LEAKY.renyi(0.0).lower <= FINITE.renyi(0.0).upper
    assert LEAKY.renyi(2.0).lower == INF
    assert NORMAL.renyi(INF).upper == INF
    with pytest.raises(tr.UnsupportedMechanism, match=r"real parts from -2.56 to 1.56"):
        MIXED.renyi(4.0)


def test_one_sample_and_no_more() -> None:
    for own, known in ((NORMAL, GAUSSIAN), (NORMAL * 2, GAUSSIAN * 2)):
        for direction in ("remove", "add"):
            one, two = (each.poisson(rate=0.1).delta(0.05, direction=direction) for each in (own, known))
            assert one.lower <= two.upper
            assert two.lower <= one.upper
            assert one.width <= 1e-6 * one.upper
    with pytest.raises(tr.UnsupportedMechanism, match="moments of its loss are all that is known"):
        (NORMAL.poisson(rate=0.1) * 2).delta(1.0)


def test_nothing_is_said_of_the_largest_loss() -> None:
    """A bounded loss may have these moments: neither end of epsilon at delta 0 may follow from a guess."""
    bounded = tr.CharacteristicFunction(
        log_moment=lambda z: (((z + arb(0.5)) * 1).cosh() / arb(0.5).cosh()).log(), strip=EVERYWHERE
    )
    for mechanism in (bounded, bounded.poisson(rate=0.5)):
        for direction in ("remove", "add"):
            assert mechanism.epsilon(0.0, direction=direction).lower == 0.0
    run, known = bounded * 2 + GAUSSIAN, tr.PureDP(epsilon=1.0) * 2 + GAUSSIAN
    assert run.delta(1.0).lower <= known.delta(1.0).upper
    assert known.delta(1.0).lower <= run.delta(1.0).upper


def test_infinite_masses_are_read_off_k() -> None:
    """The loss is infinite with probability 1 - e^-1/8, which is no double."""
    kept = arb(1) / -8

    def leaking(z: Any) -> Any:
        return normal(z) + kept

    mass = -math.expm1(-0.125)
    own = tr.CharacteristicFunction(leaking, EVERYWHERE, decay="falling", infinite_mass=mass, lost_mass=mass)
    truth = (mass + (1 - mass) * GAUSSIAN.delta(1.0).lower, mass + (1 - mass) * GAUSSIAN.delta(1.0).upper)
    bound = own.delta(1.0)
    assert bound.lower <= truth[1] + 1e-15
    assert truth[0] - 1e-15 <= bound.upper
    assert own.epsilon(0.1).lower == INF
    with pytest.raises(tr.InvalidParameter, match=r"log_moment\(0\) must be log\(1 - infinite_mass\)"):
        tr.CharacteristicFunction(leaking, EVERYWHERE, decay="falling")


@pytest.mark.parametrize(
    ("log_moment", "how", "words"),
    [
        (lambda z: normal(z) + 0.001, {}, r"log_moment\(0\) must be"),
        (lambda z: z * z / 2 + 0.501 * z, {}, r"log_moment\(-1\) must be"),
        (lambda z: -normal(z), {}, "not convex"),
        (lambda z: normal(z) + normal(z) ** 2 / 1000, {}, "that of no loss"),
        (lambda z: normal(z) + acb(0, 0.1) * z * (z + 1), {}, "mirror|larger real part"),
        (lambda z: normal(z.conjugate()), {}, "follow its slope"),
        (lambda z: normal(z).real, {}, "follow its slope"),
        (lambda z: 0.0, {}, "must give a flint.acb, not float"),
        (lambda z: 1 / 0, {}, "fails: ZeroDivisionError"),
        (lambda z: (z - z).log(), {}, "no finite value"),
        (normal, {"decay": lambda c, r: -(r**2)}, r"decay claims"),
        (normal, {"decay": "rising"}, "decay must be a function of c and r, 'falling' or None"),
        (two_points, {"decay": "falling", "infinite_mass": 0.25, "lost_mass": 0.375}, "decay claims"),
        (normal, {"strip": (-0.5, 3)}, "strip must reach from -1 or less"),
        (normal, {"strip": (-1, 0)}, "further on one side"),
        (normal, {"strip": 3}, "strip must be"),
        (normal, {"strip": (-1, math.nan)}, "strip must reach"),
        (normal, {"infinite_mass": 1.0}, "infinite_mass must be below 1"),
        (3, {}, "log_moment must be a function"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(log_moment: Any, how: dict[str, Any], words: str) -> None:
    with pytest.raises(tr.InvalidParameter, match=words) as error:
        tr.CharacteristicFunction(log_moment=log_moment, **{"strip": (-3.0, 2.0), **how})
    assert "\n" not in str(error.value)


def test_refusals_say_what_to_change() -> None:
    with pytest.raises(tr.UnsupportedMechanism, match="does not fall fast enough"):
        LEAKY.delta(0.1, engine="contour")
    with pytest.raises(tr.UnsupportedMechanism, match=r"claim how they fall \(decay\), widen the strip, or compose"):
        NORMAL.delta(1.0, engine="lattice")
    right = tr.CharacteristicFunction(normal, (-1, INF), decay="falling")
    for direction, epsilon in (("add", 1.0), ("remove", -1.0)):
        with pytest.raises(
            tr.UnsupportedMechanism, match=r"left of -1, which .*'add' .* above, and .*'remove' below 0"
        ):
            right.delta(epsilon, direction=direction)
    with pytest.raises(tr.UnsupportedMechanism, match="right of 0, which direction='remove' needs"):
        tr.CharacteristicFunction(normal, (-INF, 0), decay="falling").delta(1.0)
    assert tr.CharacteristicFunction(normal, (-1, INF), decay="falling").delta(1.0, direction="remove").width < 1e-9
    with pytest.raises(tr.DataError, match="given by functions"):
        tr.dump(NORMAL)


def test_without_a_claimed_fall_moments_bound_from_above() -> None:
    for epsilon in (0.0, 0.1, 0.6, 1.0):
        for direction in ("remove", "add"):
            for proof in (False, True):
                wide = LEAKY.delta(epsilon, direction=direction, proof=proof)
                truth = FINITE.delta(epsilon, direction=direction)
                assert wide.lower <= truth.lower
                assert truth.upper <= wide.upper
                assert proof or wide.upper < 0.9


def test_the_claims_are_named() -> None:
    bound = (NORMAL + GAUSSIAN).delta(1.0)
    assert bound.certificate.parameters["claimed"] == (
        "log_moment and decay of CharacteristicFunction(log_moment=normal, strip=(-inf, inf), decay='falling'), "
        "as claimed"
    )
    assert "rests on" in str(bound.certificate)
    assert "claimed" in NORMAL.renyi(2.0).certificate.parameters
    assert "claimed" not in GAUSSIAN.delta(1.0).certificate.parameters
    again = pickle.loads(pickle.dumps(NORMAL))
    assert again == NORMAL
    assert again.delta(1.0) == NORMAL.delta(1.0)


def test_balls_of_few_digits_are_claims_too() -> None:
    """Constants that were worked out before, at another precision, or a formula that works at its own."""
    ratio = arb(2).log()

    def coarse(z: Any) -> Any:
        with ctx.workprec(30):
            return normal(z)

    leaky = tr.CharacteristicFunction(
        lambda z: ((2 * z * ratio).exp() / 2 + (-z * ratio).exp() / 4).log(), EVERYWHERE, None, 0.25, 0.375
    )
    wide = tr.CharacteristicFunction(coarse, EVERYWHERE, decay="falling")
    for own, known in ((leaky * 2 + GAUSSIAN, FINITE * 2 + GAUSSIAN), (wide, GAUSSIAN)):
        for epsilon in (1.0, -1.0):
            one, two = own.delta(epsilon), known.delta(epsilon)
            assert one.lower <= two.upper
            assert two.lower <= one.upper
            assert one.width <= 1e-4 * one.upper


def test_limits_of_epsilon_need_no_contour() -> None:
    for own in (MIXED, LEAKY, LEAKY * 2 + MIXED, MIXED.poisson(rate=0.5)):
        assert own.delta(-INF).lower == own.delta(-INF).upper == 1.0
    assert LEAKY.delta(INF, direction="remove").lower <= 0.25 <= LEAKY.delta(INF, direction="remove").upper < 0.2501
    assert NORMAL.delta(INF).upper == MIXED.delta(INF).upper == 0.0


def test_functions_that_fail_late_are_told() -> None:
    broken: list[str] = []

    def whole(name: str, value: Any) -> Any:
        if name in broken:
            raise RuntimeError("no more")
        return value

    own = tr.CharacteristicFunction(
        lambda z: whole("log_moment", normal(z)), EVERYWHERE, decay=lambda c, r: whole("decay", -r * r / 2)
    )
    for name in ("decay", "log_moment"):
        broken.append(name)
        for proof in (False, True):
            with pytest.raises(tr.InvalidParameter, match=f"{name} fails: RuntimeError: no more"):
                own.delta(1.0, proof=proof)
