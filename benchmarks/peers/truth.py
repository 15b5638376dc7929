"""The truth of each case, into truths.json: python -m benchmarks.peers.truth [NAME ...], those missing or those named.

Reference vectors of the tests where there are; closed forms, exact sums and contour integrals of brute force elsewhere,
none of which uses the package. Where nobody else can compute it, the certified interval of the package is written down
and marked "ours": it can show a peer wrong, never ourselves right.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from flint import arb, ctx

from .case import TRUTHS, Case, Step, cases
from .contour_truth import BITS, epsilon_at, log_chernoff, summed

VECTORS = Path(__file__).resolve().parents[2] / "tests" / "reference" / "vectors.json"
GRID = 32  # shifts of the exponential mechanism, and orders to a power of two
FINE = 0.8  # of the second computation: steps of both sums, and nodes
ALIKE = 1e-15  # what the two may differ by, relative
CLOSED, CONTOUR = "closed form", "contour integral, two step sizes"
Found = tuple[str, str, str]  # lower, upper, how


def solved(delta: Callable[[arb], arb], wanted: float) -> str:
    """The epsilon at which a falling delta has this value."""
    ctx.prec = 2 * BITS
    low, high = arb(0), arb(1)
    while delta(high) > arb(wanted):
        low, high = high, 2 * high
    for _ in range(100):
        middle = ((low + high) / 2).mid()
        low, high = (middle, high) if delta(middle) > arb(wanted) else (low, middle)
    return str(high.str(22, radius=False))


def above(x: arb) -> arb:
    """The mass of a standard normal above x."""
    return (x / arb(2).sqrt()).erfc() / 2


def gaussian(square: Fraction) -> Callable[[arb], arb]:
    """N(mu, 1) against N(0, 1)."""

    def delta(epsilon: arb) -> arb:
        mu = (arb(square.numerator) / square.denominator).sqrt()
        return above(epsilon / mu - mu / 2) - epsilon.exp() * above(epsilon / mu + mu / 2)

    return delta


def sampled_once(step: Step) -> Callable[[arb], arb]:
    """One sampled Gaussian, the record removed."""
    sigma, rate = arb(step["sigma"]), arb(step["rate"])

    def delta(epsilon: arb) -> arb:
        cut = sigma**2 * ((epsilon.exp() - 1 + rate) / rate).log() + arb(0.5)
        return rate * above((cut - 1) / sigma) - (epsilon.exp() - 1 + rate) * above(cut / sigma)

    return delta


def two_answers(odds: Callable[[], arb], count: int) -> Callable[[arb], arb]:
    """So many reports of one of two answers, with these odds of the true one."""

    def delta(epsilon: arb) -> arb:
        total, p = arb(0), odds() / (1 + odds())
        for true in range(count, count // 2, -1):
            loss = (2 * true - count) * odds().log() - epsilon
            if not loss > 0:
                break
            total += math.comb(count, true) * p**true * (1 - p) ** (count - true) * (1 - (-loss).exp())
        return total

    return delta


def selected(step: Step, delta: float) -> Found:
    """The exponential mechanism: from what two candidates lose, at the worst shift, to what rho = epsilon^2/8 allows.

    Two candidates leave losses t and t - epsilon, t the same at each use. Bounded range epsilon is epsilon^2/8-zCDP
    (Cesar, Rogers 2021, "Bounding, Concentrating, and Truncating"), which Renyi divergences turn into epsilon at delta
    (Canonne, Kamath, Steinke 2020, Prop. 12); each shift and each order is valid, so that a grid of them will do.
    """
    ctx.prec = 2 * BITS
    count, epsilon = step["count"], step["epsilon"]

    def shifted(share: int) -> Callable[[arb], arb]:
        def lost(level: arb) -> arb:
            t, total = arb(epsilon) * share / GRID, arb(0)
            p = t.exp() * (1 - (t - arb(epsilon)).exp()) / (t.exp() - (t - arb(epsilon)).exp())
            for low in range(count + 1):
                loss = count * t - low * arb(epsilon) - level
                if not loss > 0:
                    break
                total += math.comb(count, low) * p ** (count - low) * (1 - p) ** low * (1 - (-loss).exp())
            return total

        return lost

    def allowed(order: float) -> arb:
        rho, a = count * arb(epsilon) ** 2 / 8, arb(order)
        found: arb = rho * a + ((a - 1) / a).log() - (arb(delta).log() + a.log()) / (a - 1)
        return found

    lower = max((solved(shifted(share), delta) for share in range(1, GRID)), key=float)
    upper = min((allowed(1 + 2.0 ** (share / GRID)) for share in range(20 * GRID)), key=float)
    return lower, str(upper.str(22, radius=False)), "from two candidates to concentrated privacy"


def composed(case: Case) -> Found:
    """The larger of both directions; the other one is left out where Chernoff's bound shows that it is smaller."""
    ends: list[tuple[arb, arb]] = []
    for remove in (True, False):
        if ends and log_chernoff(case.steps, remove, float(ends[0][1])) < math.log(case.delta) - 1.0:
            continue
        first, second = (epsilon_at(case.steps, remove, case.delta, fine) for fine in (1.0, FINE))
        ends.append((first, second))
    return alike(*max(ends, key=lambda pair: float(pair[1])))


def alike(first: arb, second: arb) -> Found:
    """Two computations of one number."""
    assert abs(float(first - second)) <= ALIKE * abs(float(second)), (first, second)
    said = second.str(18, radius=False)
    return said, said, CONTOUR


def readings(case: Case) -> Found:
    """The advantage, delta at epsilon 0; or the most true positives, the least delta + alpha e^epsilon."""
    ctx.prec = BITS
    found = []
    for fine in (1.0, FINE):
        ends = []
        for remove in (True, False):
            made = summed(case.steps, remove, 0.1, 0.5 if case.question == "advantage" else 2.0, fine)
            if case.question == "advantage":
                ends.append(made.delta(arb(0)))
                continue
            low, high = arb(0), arb(8)
            for _ in range(60):
                left, right = (low * 2 + high) / 3, (low + high * 2) / 3
                worse = made.delta(left) + case.alpha * left.exp() > made.delta(right) + case.alpha * right.exp()
                low, high = (left.mid(), high) if worse else (low, right.mid())
            ends.append(made.delta(low) + case.alpha * low.exp())
        found.append(max(ends, key=float))
    return alike(*found)


def calibrated(case: Case) -> Found:
    """The sigma at which delta is met, by secants on its logarithm."""
    ctx.prec = BITS
    (step,) = case.steps

    def excess(sigma: float, remove: bool = True) -> float:
        if "rate" not in step:
            return float((gaussian(1 / Fraction(sigma) ** 2)(arb(case.epsilon)).log() - arb(case.delta).log()).mid())
        made = summed([{**step, "sigma": sigma}], remove, case.delta, case.epsilon)
        return float((made.delta(arb(case.epsilon)).log() - arb(case.delta).log()).mid())

    old, new = 2.0, 2.2
    values = excess(old), excess(new)
    while abs(new - old) > 1e-15 * new and values[0] != values[1]:
        old, new = new, new - values[1] * (new - old) / (values[1] - values[0])
        values = values[1], excess(new)
    assert "rate" not in step or excess(new, remove=False) < 0.0
    return repr(new), repr(new), f"secants on {CLOSED if 'rate' not in step else 'the contour integral'}"


def ours(case: Case) -> Found:
    """The certified interval of the package."""
    import tightrope as tr

    bound = tr.parse(case.expression).epsilon(case.delta, seconds=300.0)
    return repr(bound.lower), repr(bound.upper), "ours"


def laplace(case: Case) -> Found:
    """Piecewise functions, one use after the other, by the oracle of the tests."""
    from tests.oracle.laplace_fold import LaplaceFold

    (step,) = case.steps
    fold = LaplaceFold(((step["scale"], 1, step["count"]),))
    said = solved(lambda epsilon: fold.delta(Fraction(str(epsilon.str(40, radius=False)))), case.delta)
    return said, said, "tests/oracle/laplace_fold.py"


def vectors() -> dict[tuple[str, float], str]:
    """The reference values of the tests."""
    rows = json.loads(VECTORS.read_text())["vectors"]
    return {(plain(row["expression"]), float(row["delta"])): row["epsilon"] for row in rows}


def plain(expression: str) -> str:
    """Whole numbers without a point."""
    return re.sub(r"(\d)\.0\b(?!\d)", r"\1", expression)


def truth(case: Case) -> Found:
    """By the first way that fits."""
    known = vectors().get((plain(case.expression), case.delta))
    if case.question == "epsilon" and known is not None:
        return known, known, "tests/reference/vectors.json"
    if case.question == "sigma":
        return calibrated(case)
    if case.question != "epsilon":
        return readings(case)
    if any("batch" in step or "allocation" in step for step in case.steps):
        return ours(case)
    if case.only("gaussian", without=("rate",)):
        squares = (
            each["count"] * (Fraction(each.get("group", 1)) / Fraction(each["sigma"])) ** 2 for each in case.steps
        )
        said = solved(gaussian(sum(squares, Fraction(0))), case.delta)
        return said, said, CLOSED
    step = case.steps[0]
    if case.only("laplace", without=("rate",)):
        return laplace(case)
    if step["noise"] == "exponential":
        return selected(step, case.delta)
    if step["noise"] in ("discrete_laplace", "randomized_response"):
        response = step["noise"] == "randomized_response"
        odds = (lambda: arb(step["p"]) / (1 - arb(step["p"]))) if response else lambda: (1 / arb(step["scale"])).exp()
        said = solved(two_answers(odds, step["count"]), case.delta)
        return said, said, "binomial sum"
    if step["count"] == 1 and len(case.steps) == 1:
        said = solved(sampled_once(step), case.delta)
        return said, said, CLOSED
    return composed(case)


def main() -> None:
    """Each truth is written as soon as it is there."""
    found = json.loads(TRUTHS.read_text())["truths"] if TRUTHS.exists() else {}
    for case in cases().values():
        if case.name in sys.argv[1:] or (not sys.argv[1:] and case.name not in found):
            lower, upper, how = truth(case)
            found[case.name] = {"lower": lower, "upper": upper, "how": how}
            print(case.name, found[case.name], flush=True)
            rows = (f" {json.dumps(name)}: {json.dumps(found[name])}" for name in cases() if name in found)
            head = '{"command": "python -m benchmarks.peers.truth", "truths": {\n'
            TRUTHS.write_text(head + ",\n".join(rows) + "\n}}\n")


if __name__ == "__main__":
    main()
