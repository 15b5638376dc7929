"""The questions of a mechanism: its curve, its loss, its divergences. Each goes to the stage that answers it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack, overload

from ...documents import Date
from ..values.calls import checked_method
from ..values.question import Direction, Options, Plain, Question, ReportOptions

if TYPE_CHECKING:
    from flint import acb

    from ...report import Report
    from ..answers.curve import Curve
    from ..answers.loss_law import LossLaw
    from ..answers.risk import Risk
    from ..answers.tradeoff_curve import Tradeoffs
    from ..values.bound import Bound


class Readable:
    """What every mechanism can be asked; `self` is a Mechanism."""

    __slots__ = ()

    @overload
    def epsilon(self: Any, delta: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def epsilon(self: Any, delta: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def epsilon(self: Any, delta: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest epsilon, 0 or above, for which this is (epsilon, delta)-DP; a sequence gives a tuple.

        accuracy: width wanted, relative to the upper end; without it 1e-6 is aimed at and never an error.
        proof: ball arithmetic only. engine: auto or an engine's name. direction: add, remove, or None for the worse.
        seconds: what the call may take, by its work and by the clock; when they are up, the narrowest interval so far
        is the answer, and its certificate says so. Without it work that is rated at 10 seconds decides, and no clock.
        """
        from .. import accountant as account

        return account.ask(self, Question("epsilon", **options), delta)

    @overload
    def delta(self: Any, epsilon: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def delta(self: Any, epsilon: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def delta(self: Any, epsilon: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest delta for which this is (epsilon, delta)-DP; arguments as for `epsilon`.

        epsilon may be below 0, down to -inf: the profile at alpha = e^epsilon < 1, which composition needs.
        """
        from .. import accountant as account

        return account.ask(self, Question("delta", **options), epsilon)

    @checked_method
    def curve(
        self: Any,
        start: float | None = None,
        stop: float | None = None,
        points: int | None = None,
        *,
        epsilons: Iterable[float] | None = None,
        **options: Unpack[Options],
    ) -> Curve:
        """delta at equally spaced epsilons (50 from 0 to 4), or at these epsilons, which must rise; of either sign.

        Without accuracy, 1e-4 is aimed at; the other arguments are those of `epsilon`.
        """
        from .. import accountant as account

        grid = account.grid(start, stop, points, epsilons)
        return account.curve(self, Question("delta", **options), grid)

    @overload
    def pdp(self: Any, epsilon: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def pdp(self: Any, epsilon: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def pdp(self: Any, epsilon: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """Probabilistic DP: P[loss > epsilon], at any real epsilon; arguments as for `epsilon`.

        The loss log dP/dQ is that of the dominating pair, under its first law; the worse direction has the larger one.
        Where epsilon is a loss that has mass of its own and cannot be told from it, P[loss >= epsilon] is inside too.
        Other than delta, this may grow when the output is processed further.
        """
        from .. import accountant as account

        return account.ask(self, Question("pdp", **options), epsilon)

    @overload
    def loss_cdf(self: Any, t: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def loss_cdf(self: Any, t: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def loss_cdf(self: Any, t: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """P[loss <= t] = 1 - pdp(t), at any real t; the worse direction has the smaller one. See `pdp`.

        At inf it is 1, infinite losses included, and at -inf 0; as t grows it tends to 1 - delta(inf), which leaves
        them out.
        """
        from .. import accountant as account

        return account.ask(self, Question("loss_cdf", **options), t)

    @overload
    def loss_quantile(self: Any, p: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def loss_quantile(self: Any, p: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def loss_quantile(self: Any, p: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The smallest t with P[loss <= t] >= p; the worse direction has the larger one. See `pdp`.

        inf where infinite losses are likelier than 1 - p, -inf at p = 0, the supremum of the loss at p = 1.
        """
        from .. import accountant as account

        return account.ask(self, Question("loss_quantile", **options), p)

    @checked_method
    def loss_law(self: Any, bins: int = 60, **options: Unpack[Options]) -> LossLaw:
        """The distribution of the loss as certified masses of so many bins, with atoms and infinite losses; see `pdp`.

        Bins reach from the smallest to the largest loss but for two in a thousand; without a direction both are there.
        An atom is listed where it has most of the mass of its bin. Accuracy is not insisted on: every mass is known
        roughly before any is refined, and `.wide` says what was left open where that can be seen.
        """
        from ..metrics.loss_picture import loss_law

        return loss_law(self, Question("loss_cdf", **options), bins)

    @overload
    def renyi(self: Any, order: float, **options: Unpack[Plain]) -> Bound: ...
    @overload
    def renyi(self: Any, order: Iterable[float], **options: Unpack[Plain]) -> tuple[Bound, ...]: ...
    @checked_method
    def renyi(self: Any, order: float | Iterable[float], **options: Unpack[Plain]) -> Bound | tuple[Bound, ...]:
        """The Renyi divergence of any order from 0 to inf, always in ball arithmetic; a sequence gives a tuple.

        Order 1 is the Kullback-Leibler divergence, order inf the supremum of the loss. Arguments as for `epsilon`.
        """
        from .. import metrics

        return metrics.ask(self, "renyi", options, order=order)

    @checked_method
    def mean_loss(self: Any, **options: Unpack[Plain]) -> Bound:
        """The mean of the privacy loss, which is the Kullback-Leibler divergence, `renyi(1)`."""
        from .. import metrics

        return metrics.ask_one(self, "mean_loss", options)

    @checked_method
    def cgf(self: Any, z: complex, *, direction: Direction | str = "remove") -> acb:
        """A ball (flint.acb) around K(z) = log E_P[e^{z l}; l finite], l the privacy loss; any z where it is finite.

        Compositions add up; the imaginary part is known up to multiples of 2 pi.
        """
        from ..conversions import divergence

        return divergence.composed_cgf(self, z, Direction(direction))

    @checked_method
    def phi(self: Any, t: float, *, direction: Direction | str = "remove") -> acb:
        """A ball (flint.acb) around the phi-function E_P[e^{i t l}; l finite] of the privacy loss."""
        from ..conversions import divergence

        return divergence.phi(self, t, Direction(direction))


# What an attacker can do with an output: trade-offs, risks, and the Gaussian or zCDP guarantee that covers them.
#
# An attacker tests whether a record was in the data. direction "remove": it was not, unless the output says so (a false
# positive accuses a record that was not in); "add": it was in, unless the output says that it was not; None: the worse.


class Attackable:
    """Every row of metrics.table that a mechanism is asked by; `self` is a Mechanism."""

    __slots__ = ()

    @overload
    def tradeoff(self: Any, fpr: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def tradeoff(self: Any, fpr: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def tradeoff(self: Any, fpr: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The lowest false negative rate of a test with this false positive rate; a sequence gives a tuple.

        f(fpr) = sup_a 1 - H(a) - a fpr. Without a direction the symmetric f of both, the largest trade-off function
        that is at or below both. Arguments as for `epsilon`.
        """
        from .. import metrics

        return metrics.ask(self, "tradeoff", options, fpr=fpr)

    @overload
    def tpr(self: Any, fpr: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def tpr(self: Any, fpr: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def tpr(self: Any, fpr: float | Iterable[float], **options: Unpack[Options]) -> Bound | tuple[Bound, ...]:
        """The highest true positive rate of a test with this false positive rate: 1 - tradeoff(fpr)."""
        from .. import metrics

        return metrics.ask(self, "tpr", options, fpr=fpr)

    @checked_method
    def tradeoff_curve(
        self: Any,
        start: float | None = None,
        stop: float | None = None,
        points: int | None = None,
        *,
        fprs: Iterable[float] | None = None,
        **options: Unpack[Options],
    ) -> Tradeoffs:
        """`tradeoff` at many rates: 50 from 0 to 1, evenly from 0.1 on and by their logarithm below, or at these fprs.

        fprs must rise. Without accuracy, 1e-4 of the smaller one of f and 1 - f is aimed at; the other arguments are
        those of `tradeoff`. The curve knows what holds between its rates: `curve.at(fpr)`.
        """
        from .. import metrics

        return metrics.tradeoff_curve(self, options, (start, stop, points), fprs)

    @checked_method
    def advantage(self: Any, **options: Unpack[Options]) -> Bound:
        """The largest true positive rate minus false positive rate of any test: delta at epsilon 0."""
        from .. import metrics

        return metrics.ask_one(self, "advantage", options)

    @checked_method
    def total_variation(self: Any, **options: Unpack[Options]) -> Bound:
        """The total variation distance of the outputs on neighbours: the same number as `advantage`."""
        from .. import metrics

        return metrics.ask_one(self, "total_variation", options)

    @overload
    def bayes_accuracy(self: Any, prior: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def bayes_accuracy(self: Any, prior: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def bayes_accuracy(
        self: Any, prior: float | Iterable[float], **options: Unpack[Options]
    ) -> Bound | tuple[Bound, ...]:
        """How often the best guess is right, where the record is in the data with probability prior.

        (1 - prior) + prior H((1 - prior)/prior). With direction "add" prior is that it is not in.
        """
        from .. import metrics

        return metrics.ask(self, "bayes_accuracy", options, prior=prior)

    @overload
    def posterior(self: Any, prior: float, fpr: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def posterior(
        self: Any, prior: float | Iterable[float], fpr: float | Iterable[float], **options: Unpack[Options]
    ) -> Bound | tuple[Bound, ...]: ...
    @checked_method
    def posterior(
        self: Any, prior: float | Iterable[float], fpr: float | Iterable[float], **options: Unpack[Options]
    ) -> Bound | tuple[Bound, ...]:
        """The probability that an accused record is in the data, by the most powerful test with exactly this rate.

        prior tpr / (prior tpr + (1 - prior) fpr). A test that accuses fewer can be surer.
        """
        from .. import metrics

        return metrics.ask(self, "posterior", options, prior=prior, fpr=fpr)

    @overload
    def reconstruction(self: Any, baseline: float, **options: Unpack[Options]) -> Bound: ...
    @overload
    def reconstruction(self: Any, baseline: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def reconstruction(
        self: Any, baseline: float | Iterable[float], **options: Unpack[Options]
    ) -> Bound | tuple[Bound, ...]:
        """The largest chance to reconstruct a record that one guesses with chance baseline without the output.

        The true positive rate at a false positive rate of baseline, for a record that is removed or replaced.
        Reference: Hayes, Mahloujifar, Balle 2023, Thm 2.
        """
        from .. import metrics

        return metrics.ask(self, "reconstruction", options, baseline=baseline)

    @overload
    def gdp(self: Any, delta_least: float = 0.0, **options: Unpack[Options]) -> Bound: ...
    @overload
    def gdp(self: Any, delta_least: Iterable[float], **options: Unpack[Options]) -> tuple[Bound, ...]: ...
    @checked_method
    def gdp(
        self: Any, delta_least: float | Iterable[float] = 0.0, **options: Unpack[Options]
    ) -> Bound | tuple[Bound, ...]:
        """The smallest mu for which this is mu-GDP; inf where there is none, and the certificate says why.

        With delta_least, that whose Gaussian has at least the delta of this wherever that is delta_least or more.
        """
        from .. import metrics

        return metrics.ask(self, "gdp", options, delta_least=delta_least)

    @overload
    def zcdp(self: Any, order_most: float = math.inf, **options: Unpack[Plain]) -> Bound: ...
    @overload
    def zcdp(self: Any, order_most: Iterable[float], **options: Unpack[Plain]) -> tuple[Bound, ...]: ...
    @checked_method
    def zcdp(
        self: Any, order_most: float | Iterable[float] = math.inf, **options: Unpack[Plain]
    ) -> Bound | tuple[Bound, ...]:
        """The smallest rho for which this is rho-zCDP; inf where there is none, and the certificate says why.

        With order_most, that with renyi(order) <= rho order for every order above 1 up to this one.
        """
        from .. import metrics

        return metrics.ask(self, "zcdp", options, order_most=order_most)

    @checked_method
    def risk(
        self: Any,
        prior: float = 0.1,
        fpr: float = 1e-3,
        baseline: float = 1e-4,
        delta: float = 1e-6,
        **options: Unpack[Options],
    ) -> Risk:
        """What a release may cost one person, in numbers with a sentence each that needs no other knowledge.

        prior: the chance that the person is in the data. fpr: of a wrong accusation. baseline: to guess the record
        without the release. delta: the chance that the odds leave out. There is no direction; see docs/risk.md.
        """
        from ..metrics.read_risk import risk

        return risk(self, {"prior": prior, "fpr": fpr, "baseline": baseline, "delta": delta}, options)

    @checked_method
    def report(
        self: Any, delta: float | Iterable[float], date: Date = None, **options: Unpack[ReportOptions]
    ) -> Report:
        """The document that is filed: epsilon at delta, or at several, with all that belongs to it; `.save(path)`.

        title, system, organisation, author and date stand at its head; the other keywords are those of `risk` and
        `epsilon`. seconds: for all of it, 60 without. See docs/report.md.
        """
        from ...report import report

        return report(self, delta, date, **options)
