"""What an attacker can do with an output: trade-offs, risks, and the Gaussian or zCDP guarantee that covers them.

An attacker tests whether a record was in the data. direction "remove": it was not, unless the output says so (a false
positive accuses a record that was not in); "add": it was in, unless the output says that it was not; None: the worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack, overload

from ..calls import checked_method
from ..documents import Date
from ..question import Options, Plain, ReportOptions

if TYPE_CHECKING:
    from ..bound import Bound
    from ..report import Report
    from ..risk import Risk
    from ..tradeoffs import Tradeoffs


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
        from ..metrics.risk import risk

        return risk(self, {"prior": prior, "fpr": fpr, "baseline": baseline, "delta": delta}, options)

    @checked_method
    def report(
        self: Any, delta: float | Iterable[float], date: Date = None, **options: Unpack[ReportOptions]
    ) -> Report:
        """The document that is filed: epsilon at delta, or at several, with all that belongs to it; `.save(path)`.

        title, system, organisation, author and date stand at its head; the other keywords are those of `risk` and
        `epsilon`. seconds: for all of it, 60 without. See docs/report.md.
        """
        from ..report import report

        return report(self, delta, date, **options)
