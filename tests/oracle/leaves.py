"""Mechanisms of the catalogue, each as text beside real algorithms of which it speaks, on tiny data sets.

Laws are exact, or cells of a continuous law, which tell less. A leaf that is known next to one data set alone answers
anything on others: its users but one hold nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from math import comb

from mpmath import mp, mpf

from .algorithms import DIGITS, Algorithm, Choosing, Counting, Masses, OfKeys, Scoring, masses

F = Fraction
ADD_REMOVE, REPLACE = "add_remove", "replace"
FAR = 12  # how far a sum of records goes
Source = random.Random


@dataclass(frozen=True)
class Leaf:
    """A mechanism as text, the relation that it is about (empty where open), and an algorithm for each relation.

    shown: real neighbours among the data sets have its pair, so that lower ends that are called tight are below.
    """

    text: str
    relation: str
    make: Callable[[str], Algorithm]
    shown: bool = False


def real(number: float | Fraction) -> mpf:
    """As it is."""
    exact = F(number)
    return mpf(exact.numerator) / exact.denominator


def exponential(exponent: float | Fraction) -> Fraction:
    """e to it, to 90 digits."""
    with mp.workdps(DIGITS):
        return F(int(mp.floor(mp.exp(real(exponent)) * mpf(10) ** DIGITS)), 10**DIGITS)


def shares(numbers: Sequence[Fraction | int]) -> list[Fraction]:
    """Divided by their sum."""
    total = sum(map(F, numbers))
    return [F(number) / total for number in numbers]


def kernel(p: Sequence[Fraction], q: Sequence[Fraction], order: Sequence[int]) -> list[list[Fraction]]:
    """A move of outputs that turns q into p, the first of the order filled from the first; what q has not stays."""
    left, found = list(q), [[F(0)] * len(p) for _ in p]
    for goal in order:
        wanted = p[goal]
        for start in order:
            part = min(wanted, left[start])
            if part > 0:
                found[start][goal] = part / q[start]
                left[start], wanted = left[start] - part, wanted - part
    for output, mass in enumerate(q):
        if not mass:
            found[output][order[0]] = F(1)
    return found


def chain(p: Sequence[Fraction], q: Sequence[Fraction], source: Source, plain: bool) -> Callable[[int], Masses]:
    """q, p and whatever the move from q to p makes of p: between any two steps nothing tells more than (p, q)."""
    order = sorted(range(len(p)), key=lambda y: -p[y] / q[y] if q[y] else -float("inf"))
    if not plain and source.random() < 0.5:
        source.shuffle(order)
    move = kernel(p, q, order)

    @cache
    def exact(state: int) -> tuple[Fraction, ...]:
        if state == 0:
            return tuple(q)
        before = exact(state - 1)
        return tuple(sum((before[start] * row[goal] for start, row in enumerate(move)), F(0)) for goal in range(len(p)))

    return cache(lambda state: masses(exact(min(max(state, 0), FAR))))


def laws(p: Sequence[int], q: Sequence[int], source: Source | None = None) -> Leaf:
    """Two laws in sixteenths, or in thirty-seconds; source: of moves between them that are not the worst."""
    first, second = shares(p), shares(q)
    law = chain(first, second, source or Source(0), source is None)
    text = f"Finite(p={[float(x) for x in first]}, q={[float(x) for x in second]})"
    return Leaf(text, "", lambda _: Counting(law, len(p), (0, 1)), shown=True)


def finite(source: Source, plain: bool) -> Leaf:
    """Two laws, of which one may have outputs that the other has not."""
    count = source.choice((2, 2, 3))
    while True:
        p, q = ([source.choice((0, 1, 2, 3, 4, 6, 8, 9)) for _ in range(count)] for _ in range(2))
        p, q = [*p, -sum(p) % 16], [*q, -sum(q) % 16]
        kept = [index for index in range(count + 1) if p[index] or q[index]]
        p, q = [p[index] for index in kept], [q[index] for index in kept]
        if p != q and all(sum(law) in (16, 32) for law in (p, q)):
            return laws(p, q, None if plain else source)


def measured(source: Source, plain: bool) -> Leaf:
    """Two data sets were measured, one with a record and one without; of others nothing is known."""
    a, b = ([source.randint(1, 9) for _ in range(2)] for _ in range(2))
    return histograms(a, b, (0,))


def histograms(a: Sequence[int], b: Sequence[int], others: tuple[int, ...]) -> Leaf:
    """Counts of outputs with the record and without; others: their values, beside which the output may be another."""
    p, q, far = masses([*shares(a), F(0)]), masses([*shares(b), F(0)]), masses([F(0), F(0), F(1)])
    return Leaf(
        f"Histograms(a={list(a)}, b={list(b)})",
        "",
        lambda _: Counting(lambda state: (q, p)[state] if state < 2 else far, 3, (0, 1), others),
        shown=True,
    )


def response(source: Source, plain: bool) -> Leaf:
    """Randomized response to the category of a user, or to anything that is computed of all the data."""
    categories = source.choice((2, 2, 3))
    truth = source.choice((F(3, 4), F(5, 8), F(7, 8), F(1, 4)))
    rows = [[truth if x == y else (1 - truth) / (categories - 1) for y in range(categories)] for x in range(categories)]
    return _rows(f"RandomizedResponse(p={float(truth)}, categories={categories}", rows, source, plain)


def _rows(text: str, rows: Sequence[Sequence[Fraction]], source: Source, plain: bool, shown: bool = True) -> Leaf:
    relation = source.choice((ADD_REMOVE, REPLACE))
    laws = [masses(row) for row in rows]
    seed = None if plain or source.random() < 0.4 else str(source.random())
    values = tuple(range(len(rows)))
    text += f", neighbours='{relation}')" if relation == ADD_REMOVE else ")"
    return Leaf(text, relation, lambda _: Choosing(laws, seed, values), shown=shown)


def channel(source: Source, plain: bool) -> Leaf:
    """Three rows in eighths."""
    while True:
        rows = [[source.randint(0, 5) for _ in range(3)] for _ in range(3)]
        for row in rows:
            row[2] = 8 - row[0] - row[1]
        if min(map(min, rows)) >= 0 and len(set(map(tuple, rows))) == 3:
            break
    exact = [[F(x, 8) for x in row] for row in rows]
    return _rows(
        f"RandomizedResponse(channel={[[x / 8 for x in row] for row in rows]}", exact, source, plain, shown=False
    )


def subset(source: Source, plain: bool) -> Leaf:
    """Sets with the true category in them are the likelier."""
    epsilon, (categories, size) = source.choice((0.5, 1.0, 2.0)), source.choice(((3, 1), (3, 2), (4, 2)))
    odds, sets = exponential(epsilon), list(combinations(range(categories), size))
    rows = [shares([odds if category in each else F(1) for each in sets]) for category in range(categories)]
    return _rows(f"SubsetSelection(epsilon={epsilon}, categories={categories}, size={size}", rows, source, plain)


def leaky(epsilon: float, delta: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """Randomized response that tells all with probability delta."""
    odds = exponential(epsilon)
    truth, lie = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    if not delta:
        return [truth, lie], [lie, truth]
    return [delta, truth, lie, F(0)], [F(0), lie, truth, delta]


def claim(source: Source, plain: bool) -> Leaf:
    """What is known to be private and no more: leaky randomized response, chained; or anything on the data."""
    epsilon = source.choice((0.25, 0.5, 1.0, 2.0))
    delta = source.choice((F(0), F(0), F(1, 16), F(1, 4)))
    p, q = leaky(epsilon, delta)
    text = f"ApproximateDP(epsilon={epsilon}, delta={float(delta)})" if delta else f"PureDP(epsilon={epsilon})"
    if plain or source.random() < 0.5:
        law = chain(p, q, source, plain)
        return Leaf(text, "", lambda _: Counting(law, len(p), (0, 1)), shown=True)
    if delta or source.random() < 0.5:
        rows = [p, q]
    else:
        odds = exponential(epsilon)
        rows = [shares([odds if x == y else F(1) for y in range(3)]) for x in range(3)]
    seed = source.choice((None, str(source.random())))
    laws = [masses(row) for row in rows]
    values = tuple(range(len(rows)))
    return Leaf(text, "", lambda _: Choosing(laws, seed, values))


def points(source: Source, plain: bool) -> Leaf:
    """A mechanism by some points of its profile, or by what follows of its Renyi divergences."""
    epsilon, delta = source.choice((0.5, 1.0, 1.5)), source.choice((F(0), F(1, 16)))
    p, q = leaky(epsilon, delta)
    kind = source.randrange(2 if delta else 4)
    if kind == 0:
        at = sorted({0.0, epsilon / 2, epsilon})
        text = f"PrivacyCurve(epsilons={at}, deltas={[_above(p, q, each) for each in at]})"
    elif kind == 1:  # the trade-off of two laws that are each other's mirror
        fprs, fnrs, x, y = [F(0)], [1 - delta], F(0), 1 - delta
        for mass_p, mass_q in zip(p, q, strict=True):
            x, y = x + mass_q, y - (mass_p if mass_q else 0)
            fprs, fnrs = [*fprs, x], [*fnrs, max(y, F(0))]
        kept = [(_double(x, False), _double(y, False)) for x, y in zip(fprs, fnrs, strict=True)]
        kept = [point for index, point in enumerate(kept) if index == 0 or point[0] > kept[index - 1][0]]
        text = f"TradeoffCurve(fprs={[x for x, _ in kept]}, fnrs={[y for _, y in kept]})"
    elif kind == 2:  # epsilon-DP is epsilon^2/2-zCDP
        text = f"ZCDP(rho={epsilon * epsilon / 2})"
    else:
        text = f"RenyiCurve(orders=[2.0, 4.0], divergences={[_renyi(p, q, order) for order in (2, 4)]})"
    law = chain(p, q, source, plain)
    return Leaf(text, "", lambda _: Counting(law, len(p), (0, 1)))


def _double(exact: Fraction, up: bool = True) -> float:
    """A double at or above, or at or below."""
    found = float(exact)
    if F(found) == exact:
        return found
    step = 2.0**-50
    return min(found + step, 1.0) if up else max(found - step, 0.0)


def _above(p: Sequence[Fraction], q: Sequence[Fraction], epsilon: float) -> float:
    odds = exponential(epsilon)
    return _double(sum((max(a - odds * b, F(0)) for a, b in zip(p, q, strict=True)), F(0)) + F(1, 10**60))


def _renyi(p: Sequence[Fraction], q: Sequence[Fraction], order: int) -> float:
    moment = sum((a**order / b ** (order - 1) for a, b in zip(p, q, strict=True)), F(0))
    with mp.workdps(40):
        return float(mp.log(real(moment)) / (order - 1)) + 2.0**-48


def cells(cdf: Callable[[mpf], mpf], edges: Sequence[float], unit: float = 1.0) -> Callable[[int], Masses]:
    """Noise around so many units, seen in cells."""

    @cache
    def law(state: int) -> Masses:
        with mp.workdps(DIGITS):
            below = [mpf(0), *(cdf(mpf(edge) - unit * state) for edge in edges), mpf(1)]
            return masses([max(high - low, mpf(0)) for low, high in pairwise(below)])

    return law


def _laplace(scale: float) -> Callable[[mpf], mpf]:
    return lambda x: mp.exp(x / scale) / 2 if x < 0 else 1 - mp.exp(-x / scale) / 2


def _gaussian(sigma: float) -> Callable[[mpf], mpf]:
    return lambda x: mp.erfc(-x / (mpf(sigma) * mp.sqrt(2))) / 2


def _geometric(scale: float) -> Callable[[mpf], mpf]:
    def cdf(x: mpf) -> mpf:
        odds, at = mp.exp(-1 / mpf(scale)), int(mp.floor(x))
        return odds**-at / (1 + odds) if at < 0 else 1 - odds ** (at + 1) / (1 + odds)

    return cdf


def _discrete_gaussian(sigma: float) -> Callable[[mpf], mpf]:
    reach = int(25 * sigma) + 2

    @cache
    def below(at: int) -> mpf:
        with mp.workdps(DIGITS):
            weights = {x: mp.exp(-(mpf(x) ** 2) / (2 * mpf(sigma) ** 2)) for x in range(-reach, reach + 1)}
            return mp.fsum(weight for x, weight in weights.items() if x <= at) / mp.fsum(weights.values())

    return lambda x: below(int(mp.floor(x)))


def _skellam(variance: float) -> Callable[[mpf], mpf]:
    @cache
    def below(at: int) -> mpf:
        with mp.workdps(DIGITS):
            return mp.fsum(mp.exp(-mpf(variance)) * mp.besseli(abs(x), variance) for x in range(-60, at + 1))

    return lambda x: below(int(mp.floor(x)))


def noise(source: Source, plain: bool) -> Leaf:
    """Noise on a sum of records, each of size one at most; the noise of whole numbers is told in cells too."""
    kind = source.choice(("Laplace", "Laplace", "DiscreteLaplace", "Gaussian", "GDP", "DiscreteGaussian", "Skellam"))
    size = source.choice((0.75, 1.0, 1.5, 2.0))
    word = {"Laplace": "scale", "DiscreteLaplace": "scale", "GDP": "mu", "Skellam": "variance"}.get(kind, "sigma")
    cdf = {
        "Laplace": _laplace,
        "DiscreteLaplace": _geometric,
        "Gaussian": _gaussian,
        "GDP": lambda mu: lambda x: mp.erfc(-x * mpf(mu) / mp.sqrt(2)) / 2,
        "DiscreteGaussian": _discrete_gaussian,
        "Skellam": _skellam,
    }[kind](size)
    edges = source.choice(([0.0], [0.0, 1.0], [-1.0, 0.0, 1.0], [-0.5, 0.5, 1.5], [0.0, 1.0, 2.0]))
    law = cells(cdf, edges)
    whole = kind == "DiscreteLaplace" and 0.0 in edges

    def make(relation: str) -> Algorithm:
        return Counting(law, len(edges) + 1, (-1, 0, 1) if relation == ADD_REMOVE else (0, 1))

    return Leaf(f"{kind}({word}={size})", "", make, shown=whole)


def heads(source: Source, plain: bool) -> Leaf:
    """Tosses of a coin on a count, the outputs beyond a few told together; the highest outputs tell everything."""
    trials = source.choice((2, 3, 4))
    top = FAR // 2

    def law(state: int) -> Masses:
        found = [F(0)] * (trials + 1 + top + 2)
        for seen in range(trials + 1):
            found[min(max(state + seen + 2, 0), len(found) - 1)] += F(comb(trials, seen), 2**trials)
        return masses(found)

    return Leaf(
        f"BinomialNoise(trials={trials})",
        "",
        lambda relation: Counting(cache(law), trials + 3 + top, (-1, 0, 1) if relation == ADD_REMOVE else (0, 1)),
        shown=True,
    )


def clamped(source: Source, plain: bool) -> Leaf:
    """Noise clamped to bounds that stay, around a query that is 0 without the record."""
    kind, low = source.choice(("Laplace", "Gaussian")), source.choice((-1.0, 1.0, 2.0))
    size = source.choice((1.0, 2.0))
    cdf = (_laplace if kind == "Laplace" else _gaussian)(size)
    edges = source.choice(([low], [low, low + 1], [low, low + 1, low + 2]))
    law = cells(cdf, edges, 0.5)
    text = f"Truncated{kind}({'scale' if kind == 'Laplace' else 'sigma'}={size}, bounds=[{low}, inf], mode='clamp')"
    return Leaf(text, "", lambda _: Counting(law, len(edges) + 1, (0, 1, 2), (0,)))


def cut(source: Source, plain: bool) -> Leaf:
    """Noise cut to bounds that move with the query."""
    kind, reach, size = source.choice(("Laplace", "Gaussian")), source.choice((1, 2)), source.choice((1.0, 2.0))
    cdf = (_laplace if kind == "Laplace" else _gaussian)(size)
    text = f"Truncated{kind}({'scale' if kind == 'Laplace' else 'sigma'}={size}, bounds=[-{reach}.0, {reach}.0])"
    low, high = -4 - reach, 6 + reach

    @cache
    def law(state: int) -> Masses:
        with mp.workdps(DIGITS):
            total = cdf(mpf(reach)) - cdf(mpf(-reach))
            found = [F(0)] * (high - low)
            numbers = [mpf(0)] * len(found)
            for cell in range(-reach, reach):
                place = min(max(cell + state - low, 0), len(found) - 1)
                numbers[place] += (cdf(mpf(cell + 1)) - cdf(mpf(cell))) / total
            return masses(numbers)

    return Leaf(
        text,
        "",
        lambda relation: Counting(law, high - low, (-1, 0, 1) if relation == ADD_REMOVE else (0, 1)),
    )


def spread(source: Source, plain: bool) -> Leaf:
    """Gaussian noise whose deviation grows with every record."""
    first, second = source.choice(((1.5, 1.0), (2.0, 1.0), (0.5, 1.0)))
    edges = source.choice(([-1.0, 1.0], [-2.0, 2.0], [-0.5, 0.5]))

    @cache
    def law(state: int) -> Masses:
        with mp.workdps(DIGITS):
            return cells(_gaussian(mpf(second) * (mpf(first) / second) ** state), edges)(0)

    return Leaf(
        f"GaussianVariance(sigma1={first}, sigma2={second})", "", lambda _: Counting(law, len(edges) + 1, (0, 1))
    )


def scores(source: Source, plain: bool) -> Leaf:
    """One of a few candidates by their scores."""
    kind = source.choice(("Exponential", "PermuteAndFlip", "NoisyMax", "gumbel", "monotone"))
    epsilon, candidates = source.choice((0.5, 1.0, 2.0)), source.choice((2, 3))
    odds = exponential(epsilon if kind == "monotone" else F(epsilon) / 2)
    gumbel = kind in ("Exponential", "gumbel")
    text = {
        "Exponential": f"Exponential(epsilon={epsilon})",
        "PermuteAndFlip": f"PermuteAndFlip(epsilon={epsilon})",
        "NoisyMax": f"NoisyMax(scale={2 / epsilon})",
        "gumbel": f"NoisyMax(scale={2 / epsilon}, noise='gumbel')",
        "monotone": f"NoisyMax(scale={1 / epsilon}, monotone=True)",
    }[kind]

    @cache
    def law(score: tuple[int, ...]) -> Masses:
        top = max(score)
        keep = [odds ** (one - top) for one in score]
        if gumbel:
            return masses(shares(keep))
        found = [F(0)] * candidates
        orders = list(permutations(range(candidates)))
        for order in orders:  # the first that keeps its place; one with the best score does
            left = F(1, len(orders))
            for candidate in order:
                found[candidate] += left * keep[candidate]
                left *= 1 - keep[candidate]
        return masses(found)

    seed = source.random()

    def make(relation: str) -> Algorithm:
        moves = (0, 1) if kind == "monotone" or relation == REPLACE else (-1, 0, 1)
        drawn = Source(f"{seed}{relation}")
        table = {value: tuple(drawn.choice(moves) for _ in range(candidates)) for value in range(2)}
        table[0] = (0,) * candidates if relation == ADD_REMOVE else tuple(1 - x for x in table[1])
        return Scoring(law, candidates, table)

    return Leaf(text, ADD_REMOVE if kind == "monotone" else "", make)


def keys(source: Source, plain: bool) -> Leaf:
    """Noisy counts of the keys that occur, those above a threshold."""
    epsilon, threshold = source.choice((0.5, 1.0)), source.choice((2.0, 3.0))
    cdf = _laplace(1 / epsilon)

    @cache
    def law(count: int) -> Masses:
        if not count:
            return masses([F(1), F(0), F(0)])
        return cells(cdf, [threshold, threshold + 1])(count)

    text = f"StabilityHistogram(epsilon={epsilon}, threshold={threshold})"
    kinds = 1 if plain else source.choice((1, 2))
    return Leaf(text, ADD_REMOVE, lambda _: OfKeys(law, kinds))


def stable(source: Source, plain: bool) -> Leaf:
    """An answer that is told where it is far from changing: whether two records or more are 1."""
    epsilon, delta = source.choice((0.5, 1.0)), source.choice((0.0625, 0.25))
    with mp.workdps(DIGITS):
        least = mp.log(1 / mpf(delta)) / mpf(epsilon)
    cdf = _laplace(1 / epsilon)
    edge = source.choice((1, 2))

    @cache
    def law(count: int) -> Masses:
        with mp.workdps(DIGITS):
            distance = count - edge if count >= edge else edge - 1 - count
            shown = 1 - cdf(least - distance)
            return masses([1 - shown, *((mpf(0), shown) if count >= edge else (shown, mpf(0)))])

    return Leaf(f"DistanceToInstability(epsilon={epsilon}, delta={delta})", "", lambda _: Counting(law, 3, (0, 1)))


LEAVES: tuple[Callable[[Source, bool], Leaf], ...] = (
    *[finite] * 6,
    *[response] * 4,
    *[channel] * 2,
    *[subset] * 2,
    *[claim] * 4,
    *[measured] * 2,
    *[noise] * 3,
    *[clamped] * 2,
    points,
    heads,
    cut,
    spread,
    scores,
    keys,
    stable,
)
