"""The questions of a mechanism: its curve, its loss, its divergences. Each goes to the stage that answers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack, overload

from ..calls import checked_method
from ..question import Options, Plain, Question
from ..relation import Direction

if TYPE_CHECKING:
    from flint import acb

    from ..bound import Bound
    from ..curve import Curve
    from ..loss_law import LossLaw


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
        from .. import account

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
        from .. import account

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
        from .. import account

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
        from .. import account

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
        from .. import account

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
        from .. import account

        return account.ask(self, Question("loss_quantile", **options), p)

    @checked_method
    def loss_law(self: Any, bins: int = 60, **options: Unpack[Options]) -> LossLaw:
        """The distribution of the loss as certified masses of so many bins, with atoms and infinite losses; see `pdp`.

        Bins reach from the smallest to the largest loss but for two in a thousand; without a direction both are there.
        An atom is listed where it has most of the mass of its bin. Accuracy is not insisted on: every mass is known
        roughly before any is refined, and `.wide` says what was left open where that can be seen.
        """
        from ..loss_picture import loss_law

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
        from ..convert import divergence

        return divergence.composed_cgf(self, z, Direction(direction))

    @checked_method
    def phi(self: Any, t: float, *, direction: Direction | str = "remove") -> acb:
        """A ball (flint.acb) around the phi-function E_P[e^{i t l}; l finite] of the privacy loss."""
        from ..convert import divergence

        return divergence.phi(self, t, Direction(direction))
