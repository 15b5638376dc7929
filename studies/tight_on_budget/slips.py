"""Slips of the print: where, what stands there, and what should.

Checked in the text of September 5, 2018. The first two change a bound, the loop of figure 10 the number of uses.
"""

from __future__ import annotations

SLIPS = (
    (
        "definition 4",
        "squaring leaves B(-n) out",
        "it goes to bucket -n/2, where definition 6 puts its events: else masses do not add to 1 (proofs/buckets.md)",
    ),
    (
        "definition 7",
        "the virtual error of the corner -n sums V over j + k <= -n",
        "it is P_B - f^n P_A: with V lemma 11 fails there, on which the lower bound rests (proofs/buckets.md)",
    ),
    ("2.2", "events outside of the bound have P_A(x) <= e^eps P_B(x)", "P_B(x) > e^eps P_A(x), where A is scaled up"),
    ("3.1", "n + 2 buckets", "2n + 2: those from -n to n, and infinity"),
    ("figure 5", "f^(i-1) P_B(x) <= P_A(x) in bucket i", "<, as in 3.1 and definition 4: buckets share no border"),
    (
        "figure 10",
        "for i from 0 to t",
        "from 1 to t: every pass doubles the uses, and r = 2^t are wanted; as printed they are 2^(t+1)",
    ),
    ("lemma 6", "P_A <= f^i P_B, i.e., f^i <= the ratio of A to B", "the ratio is at most f^i"),
    (
        "theorem 2, corollary 1",
        "the lower bound is the smaller of both directions",
        "the larger: delta is the larger of both, so that each lower bound is one of it; the printed one holds too",
    ),
    ("5.1", "the bucket method introduced in definition 7", "in definition 4; 7 adds the error terms"),
    (
        "5.1",
        "bucket i holds f^i < ratio <= f^(i+1), twice",
        "f^(i-1) < ratio <= f^i, as in definition 4 and as the borders lbb(i), rbb(i) below have it",
    ),
    (
        "5.1",
        "the ratio is e^-eps below both means and e^eps above both",
        "so if mu_1 > mu_2, the other way round else, as the list before says",
    ),
    ("5.5, footnote 10", "f(D'_0) = 1 and f(D'_1) = 0 twice", "the second time 0 and 1: there nothing is flipped"),
    ("5.6", "this composition result does take the entire shape of the distribution into account", "does not"),
    (
        "5.7",
        "(alpha, D_alpha) gives (eps, alpha D_alpha - alpha eps)-ADP, twice",
        "(eps, exp(alpha D_(alpha+1) - alpha eps)): an exp is missing, and the order is the one defined above",
    ),
    ("6", "mu_2 = 2 at sensitivity 1", "1, as in the caption of figure 14"),
    (
        "6",
        "figure 14 shows delta growing at fixed epsilons",
        "it shows e^eps growing at fixed deltas, as its caption says",
    ),
    ("7.1", "gamma 7.5k at mean 150k", "7.3k, as everywhere else"),
    (
        "7.1",
        "(ii) are pairs of requests, (iii) single ones; in the next sentence the single ones are (ii), the pairs (iii)",
        "one of the two lists is exchanged; the pairs have half the mean in both",
    ),
    ("figure 15", "gamma = 770k, sigma = 320", "770 and 833"),
    ("7.3", "new1 suffices for 524,288 rounds and new2 for 65,536", "the reverse, as 2.3 and figure 19 have it"),
)


def slips() -> str:
    """The table."""
    rows = "".join(f"| {where} | {prints} | {means} |\n" for where, prints, means in SLIPS)
    return (
        "### Slips of the print\n\n"
        "The first two change a bound and are mended in the engine; the loop of figure 10, as printed, doubles the "
        "uses. What is computed here follows the last column throughout.\n\n"
        f"| where | prints | should say |\n|---|---|---|\n{rows}"
    )
