"""Answers far from where they change, and counts above a threshold: against data sets, events and adaptive choices."""

from __future__ import annotations

import itertools
import math
import pickle
import random
from collections.abc import Callable, Sequence

import pytest
from flint import arb

import tightrope as tr
from tests.oracle.precision import precision
from tests.oracle.stability import Lone, Unstable
from tests.search import cases
from tightrope.core.values.errors import InvalidParameter
from tightrope.core.values.question import Direction, Relation

Outputs = list[tuple[float, float]]  # (P, Q) of each
CLOSE = 1e-12  # of sums in plain doubles


def profile(outputs: Outputs, alpha: float) -> float:
    return math.fsum(max(p - alpha * q, 0.0) for p, q in outputs)


def mirrored(value: Callable[[float], float], alpha: float) -> float:
    """Of a profile: that of the two laws exchanged."""
    return 1.0 - alpha + alpha * value(1.0 / alpha)


def exceeds(value: float, epsilon: float) -> float:
    """P[value + Lap(1/epsilon) > 0]."""
    return math.exp(epsilon * value) / 2.0 if value < 0.0 else 1.0 - math.exp(-epsilon * value) / 2.0


def played(pairs: Sequence[Outputs], uses: int, alpha: float) -> float:
    """The most that an observer gains who meets one of these pairs at each use, whichever is the worst by then."""
    if uses == 0:
        return max(1.0 - alpha, 0.0)
    return max(
        math.fsum(p * played(pairs, uses - 1, alpha * q / p) for p, q in outputs if p > 0.0) for outputs in pairs
    )


def holds(bound: tr.Bound, truth: float) -> bool:
    return bound.lower <= truth * (1.0 + CLOSE) + CLOSE / 10 and truth * (1.0 - CLOSE) - CLOSE / 10 <= bound.upper


# Distances


def unstable_pairs(epsilon: float, delta: float) -> list[Outputs]:
    with precision(200):
        found = []
        for pair in Unstable(epsilon, delta).pairs():
            outputs = [(float(p), float(q)) for p, q in pair]
            found += [outputs, [(q, p) for p, q in outputs]]
    return found


POINTS = (-3.0, -1.2, -0.4, 0.0, 0.3, 0.9, 0.999, 1.3)


@pytest.mark.parametrize(
    "epsilon, delta",
    [(1.0, 1e-6), (1.0, 0.01), (0.3, 0.9), (2.0, 0.8), (5.0, 0.3), (0.05, 1e-3), (0.01, 0.5), (1.0, 1.0), (9.0, 1.0)],
)
def test_one_use_is_the_largest_over_all_distances(epsilon: float, delta: float) -> None:
    pairs = unstable_pairs(epsilon, delta)
    mechanism = tr.DistanceToInstability(epsilon=epsilon, delta=delta)
    for at in (epsilon * point for point in POINTS):
        truth = max(profile(pair, math.exp(at)) for pair in pairs)
        for direction in Direction:
            bound = mechanism.delta(at, direction=direction.value)
            assert holds(bound, truth), (at, bound, truth)
            assert bound.width <= 1e-12 * bound.upper


def test_half_of_delta_leaks() -> None:
    mechanism = tr.DistanceToInstability(epsilon=1.0, delta=1e-6)
    assert mechanism.epsilon(5.1e-7).upper < 1.0
    assert mechanism.epsilon(4.9e-7).lower == math.inf
    assert mechanism.delta(0.0).upper < 0.3631  # Laplace noise has 0.3935


def told(query: Sequence[int], start: int, epsilon: float, delta: float) -> dict[object, float]:
    """The law of the output on data of so many records, of a query that depends on how many there are."""
    ends = range(len(query))
    rough = [n for n in ends if any(m in ends and query[m] != query[n] for m in (n - 1, n + 1))]
    far = min((abs(n - start) for n in rough), default=None)
    released = 1.0 if far is None else exceeds(far + math.log(delta) / epsilon, epsilon)
    return {query[start]: released, None: 1.0 - released}


def test_real_queries_are_covered_and_reach_it() -> None:
    source, epsilon, delta = random.Random(3), 0.7, 0.02
    points = [epsilon * point for point in POINTS]
    bounds = tr.DistanceToInstability(epsilon=epsilon, delta=delta).delta(points)
    most = [0.0] * len(points)
    queries = [[int(n >= 9) for n in range(26)]] + [
        [0, *itertools.accumulate(source.choice([0, 0, 0, 0, 1]) for _ in range(25))] for _ in range(cases(6, 60))
    ]
    for query in queries:
        for n, m in itertools.chain.from_iterable([(n, n + 1), (n + 1, n)] for n in range(25)):
            first, second = (told(query, each, epsilon, delta) for each in (n, m))
            outputs = [(first.get(key, 0.0), second.get(key, 0.0)) for key in first | second]
            for index, at in enumerate(points):
                found = profile(outputs, math.exp(at))
                assert found <= bounds[index].upper * (1.0 + CLOSE)
                most[index] = max(most[index], found)
    assert all(holds(bound, truth) for bound, truth in zip(bounds, most, strict=True))


@pytest.mark.parametrize("epsilon, delta, uses", [(1.0, 0.01, 3), (0.4, 0.3, 2), (4.0, 0.2, 2)])
def test_uses_with_neighbours_chosen_anew(epsilon: float, delta: float, uses: int) -> None:
    pairs = unstable_pairs(epsilon, delta)
    law = [(float(p), float(q)) for p, q, _ in Unstable(epsilon, delta).outputs()]
    run = tr.DistanceToInstability(epsilon=epsilon, delta=delta) * uses
    for at in (0.0, 1.3 * epsilon):
        bound, best = run.delta(at), played(pairs, uses, math.exp(at))
        assert bound.lower <= best * (1.0 + CLOSE)
        assert bound.lower >= 0.99 * best
        assert best <= bound.upper * (1.0 + CLOSE)
        whole = played([law], uses, math.exp(at))  # the upper end is that of the largest profile, composed
        assert whole <= bound.upper * (1.0 + CLOSE) <= whole * (1.0 + 1e-9)


def test_many_uses_have_a_finite_epsilon_and_no_divergence() -> None:
    mechanism, leak = tr.DistanceToInstability(epsilon=0.1, delta=1e-9), 5e-10
    bound = (mechanism * 1000).epsilon(2000.0 * leak)
    assert 0.9 * bound.upper < bound.lower <= bound.upper < 20.0
    assert (mechanism * 1000).epsilon(900.0 * leak).lower == math.inf
    assert mechanism.renyi(2.0).lower == mechanism.zcdp().lower == math.inf
    assert mechanism.renyi(0.5).upper < 0.01


def test_tight_where_answers_that_differ_are_all() -> None:
    assert tr.DistanceToInstability(epsilon=0.01, delta=0.5).tight
    assert tr.DistanceToInstability(epsilon=3.0, delta=1.0).tight
    loose = tr.DistanceToInstability(epsilon=1.0, delta=1e-6)
    assert (loose.tight, loose.attained, (loose * 3).attained) == (False, True, True)
    assert tr.DistanceToInstability(epsilon=0.01, delta=0.5).delta(0.0).upper == pytest.approx(0.25)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 60.0, 1e300])
@pytest.mark.parametrize("delta", [5e-324, 1e-17, 1.0 - 2.0**-53])
def test_extreme_parameters(epsilon: float, delta: float) -> None:
    mechanism = tr.DistanceToInstability(epsilon=epsilon, delta=delta)
    whole = mechanism.delta(0.0)
    # Laplace noise on one side, the leak on the other.
    most = max(-math.expm1(-epsilon / 2.0), delta / 2.0)
    assert delta / 2.0 * (1.0 - CLOSE) <= whole.lower <= whole.upper <= most * (1.0 + CLOSE)
    assert whole.width <= 1e-9 * whole.upper
    if epsilon < 1e-9 and delta < 0.5:
        assert (mechanism * 3).epsilon(4.0 * delta).upper <= 3.0 * epsilon * (1.0 + CLOSE) + CLOSE


# Counts


def shown(first: int, second: int, epsilon: float, threshold: float, alpha: float) -> float:
    """H of a key with so many users against one with fewer, by the outputs above the threshold and silence."""
    if second == 0:
        leak = exceeds(first - threshold, epsilon)
        return leak + max(1.0 - leak - alpha, 0.0)
    silent = max(exceeds(threshold - first, epsilon) - alpha * exceeds(threshold - second, epsilon), 0.0)
    at, reach = math.log(alpha), epsilon * (first - second)
    if at >= reach:
        return silent
    cut = threshold if at < -reach else max(threshold, (at / epsilon + first + second) / 2.0)
    return silent + exceeds(first - cut, epsilon) - alpha * exceeds(second - cut, epsilon)


COUNTS = [(1.0, 5.0), (0.3, 9.5), (2.0, 1.0), (3.0, 0.5), (0.5, 0.0), (1.0, -2.0), (0.2, 2.0)]


@pytest.mark.parametrize("epsilon, threshold", COUNTS)
def test_one_use_is_the_largest_over_all_counts(epsilon: float, threshold: float) -> None:
    mechanism = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold)
    for at in (epsilon * point for point in POINTS):

        def largest(alpha: float) -> float:
            return max(shown(c, c - 1, epsilon, threshold, alpha) for c in range(1, 20))

        assert holds(mechanism.delta(at, direction="remove"), largest(math.exp(at)))
        assert holds(mechanism.delta(at, direction="add"), mirrored(largest, math.exp(at)))


def test_groups_of_one_key_are_covered() -> None:
    epsilon, threshold, size = 0.8, 4.0, 3
    group = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold).group(size=size)
    assert not group.tight
    for at in (0.0, 1.5):

        def largest(alpha: float) -> float:
            return max(shown(c, max(c - size, 0), epsilon, threshold, alpha) for c in range(1, 20))

        assert largest(math.exp(at)) <= group.delta(at, direction="remove").upper
        assert mirrored(largest, math.exp(at)) <= group.delta(at, direction="add").upper
    lone = exceeds(size - threshold, epsilon)
    assert lone <= group.delta(50.0).upper


def test_a_replaced_user_is_covered_by_the_chain_alone() -> None:
    """One key's count falls, another one's rises: two lone users show more than either order of the pair."""
    epsilon, threshold = 1.0, 3.0
    mechanism = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold)
    leak = exceeds(1.0 - threshold, epsilon)
    lone = [(leak, 0.0), (1.0 - leak, 1.0)]  # of the key that is left, and mirrored of the other
    both = [(p * s, q * r) for (p, q), (r, s) in itertools.product(lone, lone)]
    replaced = mechanism.poisson(rate=1.0, neighbours="replace")
    for at in (0.0, 0.5, 2.0):
        assert profile(both, math.exp(at)) <= replaced.delta(at).upper
    assert mechanism.relation is Relation.ADD_REMOVE
    for refused in (
        lambda: mechanism.without_replacement(batch=2, records=5),
        lambda: mechanism.with_replacement(batch=2, records=5),
        lambda: mechanism.shuffle(users=9),
        lambda: mechanism + tr.Gaussian(sigma=1.0).without_replacement(batch=2, records=5),
    ):
        with pytest.raises(InvalidParameter):
            refused()


def laplace_mean(value: Callable[[float], float], edge: float, kinks: Sequence[float], points: int = 400) -> float:
    """E of a function of the Laplace loss, by Simpson's rule between its kinks."""
    places = sorted({-edge, edge, *(kink for kink in kinks if -edge < kink < edge)})
    total = value(edge) / 2.0 + math.exp(-edge) * value(-edge) / 2.0
    for low, high in itertools.pairwise(places):
        step = (high - low) / points
        for index in range(points + 1):
            weight = 1.0 if index in (0, points) else 4.0 if index % 2 else 2.0
            x = low + index * step
            total += step / 3.0 * weight * math.exp((x - edge) / 2.0) / 4.0 * value(x)
    return total


@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize("epsilon, threshold", [(1.0, 5.0), (0.5, 4.0), (3.0, 0.5)])
def test_two_uses_with_counts_chosen_anew(epsilon: float, threshold: float, remove: bool) -> None:
    leak = exceeds(1.0 - threshold, epsilon)
    kept = 1.0 - leak
    last = epsilon + 2.0 * math.log(kept)

    def once(t: float) -> float:
        rest = max(1.0 - math.exp(t), leak) if remove else max(1.0 - kept * math.exp(t), 0.0)
        return max(-math.expm1((t - epsilon) / 2.0), rest)

    def after_leak(t: float) -> float:
        return leak + kept * once(t - math.log(kept)) if remove else once(t + math.log(kept))

    kinks = (-epsilon, last) if remove else (-last, epsilon)
    move, share = (math.log(kept), kept) if remove else (-math.log(kept), 1.0)
    run = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold) * 2
    for at in (0.0, 0.4 * epsilon, 1.1 * epsilon, 1.9 * epsilon):
        noise = laplace_mean(lambda x, at=at: once(at - x), epsilon, [at - kink for kink in kinks])
        best = max(noise, after_leak(at))
        bound = run.delta(at, direction="remove" if remove else "add")
        assert bound.lower <= best + 1e-9
        assert bound.lower >= 0.98 * best
        assert best - 1e-9 <= bound.upper
        # The upper end is that of the larger profile, composed: a leak, or noise of edge h, moved.
        whole = laplace_mean(lambda x, at=at: once(at - x - move), epsilon - abs(move), [at - move - k for k in kinks])
        assert (1.0 - share) + share * whole == pytest.approx(bound.upper, rel=1e-7)


@pytest.mark.parametrize(
    "threshold, uses, sharp, direction", [(8.0, 9, "closed_form", "remove"), (30.0, 400, "contour", "add")]
)
def test_engines_agree(threshold: float, uses: int, sharp: str, direction: str) -> None:
    """On the pair itself, in float64 and in balls; floors have nothing to say about upper ends."""
    run = tr.StabilityHistogram(epsilon=0.5, threshold=threshold) * uses
    at = 0.15 * uses**0.75
    found = run.delta(at, direction=direction, engine=sharp)
    for other in (
        run.delta(at, direction=direction, engine="lattice"),
        run.delta(at, direction=direction, engine=sharp, proof=True),
    ):
        assert found.lower <= other.upper
        assert found.upper == pytest.approx(other.upper, rel=1e-6)


def test_many_histograms_have_a_finite_epsilon_and_no_divergence() -> None:
    mechanism = tr.StabilityHistogram(epsilon=0.1, threshold=200.0)
    leak = exceeds(-199.0, 0.1)
    for count in (1, 10**6):
        bound = (mechanism * count).epsilon(2.0 * count * leak)
        assert 0.0 < bound.lower <= bound.upper < 0.1 * count
    assert (mechanism * 1000).epsilon(900.0 * leak).lower == math.inf
    assert mechanism.renyi(2.0).lower == math.inf
    assert mechanism.zcdp().lower == math.inf


def test_tight_where_a_lone_key_is_all() -> None:
    assert tr.StabilityHistogram(epsilon=0.5, threshold=0.0).tight
    loose = tr.StabilityHistogram(epsilon=1.0, threshold=20.0)
    assert (loose.tight, loose.attained) == (False, True)
    with precision(200):
        kept = [output for output in Lone(0.5, 0.0).outputs() if output.q > 0]
        assert tr.StabilityHistogram(epsilon=0.5, threshold=0.0).delta(5.0).lower == pytest.approx(
            float(arb(1) - kept[0].p)
        )


@pytest.mark.parametrize("epsilon", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("threshold", [-1e300, 1.0 + 2.0**-52, 1e300])
def test_extreme_counts(epsilon: float, threshold: float) -> None:
    mechanism = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold)
    away = epsilon * (1.0 - threshold)
    leak = 1.0 - math.exp(-away) / 2.0 if away > 0.0 else math.exp(away) / 2.0
    noise = -math.expm1(-epsilon / 2.0)
    bound = mechanism.delta(0.0)
    assert bound.lower <= max(leak, noise) * (1.0 + CLOSE)
    assert max(leak, noise) * (1.0 - CLOSE) <= bound.upper
    assert (mechanism * 3).delta(3.5 * epsilon).upper >= leak * (1.0 - CLOSE)


def test_in_samples_real_neighbours_show_less() -> None:
    """Counts of a sample are blurred by who else is in it, and distances end where a batch does."""
    loose, lone = tr.StabilityHistogram(epsilon=1.0, threshold=5.0), tr.StabilityHistogram(epsilon=0.5, threshold=0.0)
    assert loose.poisson(rate=1.0).attained
    assert loose.poisson(rate=1.0, neighbours="replace").attained
    assert lone.poisson(rate=0.5).attained
    far, near = tr.DistanceToInstability(epsilon=1.0, delta=1e-6), tr.DistanceToInstability(epsilon=0.01, delta=0.5)
    sampled = tr.Gaussian(sigma=1.0).without_replacement(batch=2, records=9)
    assert far.poisson(rate=0.5).attained
    assert near.without_replacement(batch=2, records=9).attained
    assert (near + sampled).attained
    assert (far + tr.Gaussian(sigma=1.0).without_replacement(batch=1, records=2, neighbours="add_remove")).attained
    assert (lone.poisson(rate=1.0, neighbours="replace") + sampled).attained
    for blurred in (
        loose.poisson(rate=0.5),
        (loose * 2 + tr.Laplace(scale=1.0)).poisson(rate=0.5),
        tr.parallel(loose, far).poisson(rate=0.5),
        loose.best_of(law="geometric", mean=2.0).poisson(rate=0.5),
        loose.truncated_poisson(rate=0.5, cap=3, records=9),
        far.without_replacement(batch=5, records=9),
        far.with_replacement(batch=5, records=9),
        far + sampled,
        # Of so few records as another part names, no count is far above the threshold.
        loose + tr.Gaussian(sigma=1.0).without_replacement(batch=1, records=2, neighbours="add_remove"),
        tr.parallel(loose, far) + tr.Gaussian(sigma=1.0).truncated_poisson(rate=0.5, cap=1, records=2),
        loose.poisson(rate=1.0, neighbours="replace") + sampled,
    ):
        assert not blurred.attained, blurred
        assert not blurred.attained_once, blurred


def test_a_sampled_count_is_below_the_pair() -> None:
    """Of the real counts of a sample none reaches what the dominating pair has."""
    epsilon, threshold, others = 1.0, 5.0, 20
    step, alpha = 0.01, math.exp(0.1)
    places = [threshold + step * (index + 0.5) for index in range(4000)]
    weights = [math.comb(others, c) / 2.0**others for c in range(others + 1)]

    def law(more: int) -> list[float]:
        counts = [(c + more, weight) for c, weight in enumerate(weights) if c + more]
        shown = [sum(w * math.exp(-abs(x - c)) for c, w in counts) * step / 2.0 for x in places]
        return [*shown, 1.0 - math.fsum(shown)]

    absent, present = law(0), law(1)
    outputs = [((p + q) / 2.0, q) for p, q in zip(present, absent, strict=True)]
    bound = tr.StabilityHistogram(epsilon=epsilon, threshold=threshold).poisson(rate=0.5).delta(0.1, direction="remove")
    assert profile(outputs, alpha) < 0.5 * bound.lower


# Both

BOTH = (tr.DistanceToInstability(epsilon=1.0, delta=1e-6), tr.StabilityHistogram(epsilon=1.0, threshold=20.0))


@pytest.mark.parametrize("mechanism", BOTH, ids=repr)
def test_texts_documents_and_values_come_back(mechanism: tr.Mechanism) -> None:
    run = mechanism * 10 + mechanism.poisson(rate=0.5)
    assert tr.parse(repr(run)) == run
    assert tr.load(tr.dump(run)) == run
    assert pickle.loads(pickle.dumps(run)) == run
    assert mechanism.group(size=1).delta(0.3).upper == pytest.approx(mechanism.delta(0.3).upper, rel=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tr.DistanceToInstability(epsilon=0.0, delta=0.1),
        lambda: tr.DistanceToInstability(epsilon=1.0, delta=0.0),
        lambda: tr.DistanceToInstability(epsilon=1.0, delta=1.5),
        lambda: tr.DistanceToInstability(epsilon=math.inf, delta=0.5),
        lambda: tr.StabilityHistogram(epsilon=-1.0, threshold=3.0),
        lambda: tr.StabilityHistogram(epsilon=1.0, threshold=math.inf),
        lambda: tr.StabilityHistogram(epsilon=1.0, threshold="3"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_parameter_is_refused(make: Callable[[], tr.Mechanism]) -> None:
    with pytest.raises(InvalidParameter):
        make()
