"""Writes the page: the claims as a table, the figures with their captions."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

from studies.tight_on_budget.claim import Claim, Finding
from studies.tight_on_budget.claims import CLAIMS
from studies.tight_on_budget.timings import DELTA, FACTOR, distance, hiding_noise, leakage, read
from tightrope import Bound

COLUMNS = 119

OPENING = """# The paper's figures, from certified bounds

Everything on this page is made by `make reproduce`, from nothing but the parameters that are printed in the papers
and one recorded measurement of our own. Two papers are covered: "Tight on Budget? Tight Bounds for r-Fold Approximate
Differential Privacy" (Meiser, Mohammadi 2018), figure by figure, and the experiments of "Optimal Accounting of
Differential Privacy via Characteristic Function" (Zhu, Dong, Wang 2021). Thick lines are intervals that contain the
true value, rounding included; how far their ends are apart stands beneath each figure. Thin lines with marks are upper
bounds of other theories. Which definition or lemma is where in the code:
[from the paper to the code](from_paper_to_code.md).
"""

CLAIMS_OPENING = """## Claims

A claim holds if it follows from the ends of the certified intervals; one number alone is an upper bound, rounded up.
"Orders" counts powers of ten in delta below the original analysis of Vuvuzela, at the epsilon of that analysis.
"""

READINGS = """## How the text was read

- The noise of Vuvuzela is ceil(max(0, noise)): clamped, so that no output has infinite loss. The figures of 3 and 4
  orders for Laplace noise come out for noise that is *cut* at 0; both are given.
- Conversation: a round shows two counts, so that the pair is the product of sensitivity 2 at (mean, spread) and
  sensitivity 1 at (mean/2, spread/2). The paper's verdicts on new1, new2 and the quarter of Laplace noise come out for
  the first component alone; with both, none of the three meets the target.
- Section 7.3 says that new1 suffices for 524,288 rounds and new2 for 65,536; section 2.3 and the captions say the
  reverse, and are right.
- Slips without consequence: 7.1 prints 7.5k for the 7.3k of everywhere else, the caption of figure 15 prints 770k for
  770 and sigma 320 for 833, section 6 prints a second mean of 2 where sensitivity 1 is used.
- Original analysis: one dialing round is (2/b, exp((2 - mean)/b)/2)-DP, one conversation round
  (4/b, exp((2 - mean)/b))-DP, and advanced composition gets a slack of 1e-5. This gives e^epsilon = 2.00 for the
  low noise at 65,536 rounds, as it should.
"""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the page needs of a figure that was drawn."""

    name: str
    title: str
    caption: str


def page(drawn: Sequence[Drawn], findings: Mapping[str, Finding]) -> str:
    """The whole page."""
    figures = "\n".join(_figure(each) for each in drawn)
    whole = "\n".join((OPENING, CLAIMS_OPENING, table(findings), READINGS, timings(), "## Figures\n", figures))
    return "\n".join(line if line.startswith("|") else fitted(line) for line in whole.split("\n"))


def fitted(text: str) -> str:
    """Prose in lines that fit; a line that does stays as it is."""
    return (
        text if len(text) <= COLUMNS else textwrap.fill(text, COLUMNS, break_long_words=False, break_on_hyphens=False)
    )


def table(findings: Mapping[str, Finding]) -> str:
    """The claims, one row each."""
    head = "| section | claim | certified | holds | why |\n|---|---|---|---|---|\n"
    return head + "".join(_row(claim, findings[claim.key]) for claim in CLAIMS)


def _row(claim: Claim, finding: Finding) -> str:
    numbers = "; ".join(f"{name}: {said(bound)}" for name, bound in finding.numbers.items())
    return f"| {claim.where} | {claim.says} | {numbers} | {'yes' if finding.holds else '**no**'} | {claim.why} |\n"


def said(bound: Bound) -> str:
    """An interval, rounded outward to at most six digits; or an upper bound alone, rounded up."""
    return at_most(bound.upper) if bound.lower == bound.upper else str(bound)


def at_most(value: float) -> str:
    """Four digits, rounded up."""
    return f"{float(Context(prec=4, rounding=ROUND_CEILING).create_decimal_from_float(value)):g}"


def timings(rounds: int = 512, confidence: float = 0.99) -> str:
    """What the recorded timings leak, and the noise that hides it."""
    rows = ""
    for each in read():
        taken, covered = leakage(each, rounds, None), leakage(each, rounds, confidence)
        once = leakage(each, 1, confidence)
        noise = hiding_noise(each, rounds).value
        rows += (
            f"| {each.name} | {each.draws:,} | {said(leakage(each, 1, None))} | {at_most(once.upper)} | {said(taken)} "
            f"| {at_most(covered.upper)} | {distance(each)} ns | {math.ceil(noise)} ns |\n"
        )
    return (
        "## Our own timings\n\n"
        "The paper's histograms were measured elsewhere and cannot be shipped. `python -m "
        "studies.tight_on_budget.measure` "
        "times two comparisons of a guess with a secret on the machine at hand, one that stops at the first "
        "wrong byte and one "
        "of constant time, for guesses with a right and with a wrong first byte. The record that is kept here "
        f"leaks, in delta at e^epsilon = {FACTOR:g}:\n\n"
        f"| comparison | timings | once, shares taken as true | once, at {confidence:.0%} confidence at most "
        f"| {rounds} times, shares taken as true | {rounds} times, at {confidence:.0%} at most | shift | hiding "
        "sigma |\n"
        "|---|---|---|---|---|---|---|---|\n"
        f"{rows}\n"
        "The leaky comparison has told the byte. Of the constant-time one the record alone cannot show much for "
        f"{rounds} observations: shares that differ by sampling error alone would look like this, and the "
        "confident bound says "
        "so. The last column is the deviation of a Gaussian delay, on top of an answer that leaves on the grid "
        "of the bins "
        f"and not before the last of them, that is shown to meet delta <= {DELTA:g} after {rounds} observations "
        "if the shares "
        "are the truth: timings of equal rank lie at most the shift apart, and Gaussian noise of that "
        "sensitivity covers them.\n"
    )


def _figure(drawn: Drawn) -> str:
    return (
        f"### {_heading(drawn.name)}: {drawn.title}\n\n![{drawn.title}](figures/{drawn.name}.png)\n\n{drawn.caption}\n"
    )


def _heading(name: str) -> str:
    kind, number = name.split("-")
    return f"{kind.capitalize()} {int(number)}"
