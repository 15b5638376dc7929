"""How loaders make batches: one row each, which names the transformation of a Gaussian step and what it takes.

Where the noise is shared between steps (encoders.py), or a record is in the same batch of every epoch, the run is one
mechanism of all steps, and the row says in which of them a record is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Any

from ..errors import InvalidParameter
from .base import Mechanism
from .encoders import Encoder
from .gaussian import Gaussian

OWN_KEYWORDS = ("cap", "bins", "separation")  # of a run, each for one loader


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What a loader is told of a run, and the matrix of its noise."""

    records: int
    cap: int | None
    encoder: Encoder
    bins: int | None
    separation: int | None


@dataclass(frozen=True, slots=True)
class Loader:
    """What is assumed about a loader, and the mechanism that a step of it is, or a whole epoch.

    A record clipped to norm 1 moves the sum of a batch by `sensitivity` between the neighbours that the transformation
    has for its base.
    """

    call: str  # the method of the transformation; empty where all steps are one mechanism
    takes: tuple[str, ...]  # its keywords, and those of the run that are for this loader alone
    assumed: str  # of a batch, in words
    met_in: str  # code that makes batches so
    sensitivity: float = 1.0
    passes: bool = False  # a record is in one batch of each epoch, and the transformation is about the epoch
    parts: bool = True  # whether an epoch may be left before its end
    use: Callable[[BatchPlan, int, int, int], dict[str, Any]] | None = None  # plan, steps, those of an epoch, batch

    @property
    def correlated(self) -> bool:
        """Whether it goes with noise that steps share: all steps are one mechanism then."""
        return self.use is not None

    def epoch(self, plan: BatchPlan, batch: int) -> Fraction:
        """The steps of an epoch: where it is no pass over the records, records/batch, which may be a fraction."""
        steps = Fraction(plan.records, batch)
        return Fraction(plan.bins or ceil(steps)) if self.passes else steps

    def unit(self, sigma: float, plan: BatchPlan, batch: int) -> Mechanism:
        """One step, or one epoch of a loader that passes over the records."""
        epoch = self.epoch(plan, batch)
        if self.use is not None:
            return self._at_once(plan, ceil(epoch), sigma, batch)
        known = {
            "rate": batch / plan.records,
            "batch": batch,
            "records": plan.records,
            "cap": plan.cap,
            "steps": int(epoch),
        }
        base = Gaussian(sigma=sigma, sensitivity=self.sensitivity)
        made: Mechanism = getattr(base, self.call)(**{key: known[key] for key in self.takes})
        return made

    def run(self, plan: BatchPlan, phase: tuple[int, float, int]) -> Mechanism:
        """So many steps; of passes, whole ones and, where it ends within one, its part.

        Of an epoch that ends after r of T batches a record has been in one with probability r/T, and given that it is
        in one of the r, each is as likely.
        """
        steps, sigma, batch = phase
        whole, rest = divmod(steps, epoch := ceil(self.epoch(plan, batch)))
        if rest and not self.parts:
            raise InvalidParameter(
                f"steps must be a multiple of {epoch}, the batches of an epoch, not {steps}: give whole epochs, or "
                f"{(whole + 1) * epoch} steps, since nothing is known of a part of one but that all of it costs no less"
            )
        if self.use is not None and steps:
            return self._at_once(plan, steps, sigma, batch)
        unit = self.unit(sigma, plan, batch)
        if not self.passes:
            return unit * steps
        if not rest:
            return unit * whole
        part = self.unit(sigma, BatchPlan(rest, plan.cap, plan.encoder, None, None), 1).poisson(rate=rest / epoch)
        return unit * whole + part

    def _at_once(self, plan: BatchPlan, steps: int, sigma: float, batch: int) -> Mechanism:
        """All steps as one mechanism; of bins not all of which have a step, a record is in one with their share."""
        assert self.use is not None
        epoch = ceil(self.epoch(plan, batch))
        made = plan.encoder.run(sigma, steps, **self.use(plan, steps, epoch, batch))
        return made.poisson(rate=steps / epoch) if self.use is _bins and steps < epoch else made


def _in_order(plan: BatchPlan, steps: int, epoch: int, batch: int) -> dict[str, Any]:
    return {"epochs": steps // epoch}


def _any_order(plan: BatchPlan, steps: int, epoch: int, batch: int) -> dict[str, Any]:
    return {"participations": -(-steps // epoch), "separation": plan.separation or 1}


def _bins(plan: BatchPlan, steps: int, epoch: int, batch: int) -> dict[str, Any]:
    return {"bins": min(epoch, steps)}


def _groups(plan: BatchPlan, steps: int, epoch: int, batch: int) -> dict[str, Any]:
    """As many groups as C has bands, each sampled in its turn."""
    groups = plan.encoder.groups
    if not groups:
        raise InvalidParameter(
            "sampling='groups' needs a C with few bands: matrix='banded:K', or its coefficients, toeplitz=; or state "
            "sampling='bins', 'in_order' or 'any_order'"
        )
    if batch * groups > plan.records:
        raise InvalidParameter(
            f"batch must be at most {plan.records // groups:,}, the records of one of {groups:,} groups, not "
            f"{batch:,}: a step takes its batch from one group; give fewer bands or a smaller batch"
        )
    return {"rate": groups * batch / plan.records, "groups": groups}


# By the word for them.
LOADERS: Mapping[str, Loader] = MappingProxyType(
    {
        "poisson": Loader(
            "poisson",
            ("rate",),
            "every step takes each record by itself with probability batch/records",
            "Opacus, unless told poisson_sampling=False",
        ),
        "allocated": Loader(
            "random_allocation",
            ("steps",),
            "every epoch puts each record by itself into one of its ceil(records/batch) batches, all alike",
            "balls and bins, anew in each epoch",
            passes=True,
        ),
        "shuffled": Loader(
            "shuffled_batches",
            ("steps",),
            "every epoch puts all records into a new random order and takes `batch` after `batch` of them",
            "PyTorch DataLoader(shuffle=True), Keras fit, tf.data with a shuffle over all records",
            passes=True,
            parts=False,
        ),
        "fixed": Loader(
            "without_replacement",
            ("batch", "records"),
            "every step takes `batch` distinct records, all such sets alike, drawn anew",
            "numpy choice(records, batch, replace=False) at each step",
            sensitivity=2.0,
        ),
        "truncated": Loader(
            "truncated_poisson",
            ("rate", "cap", "records"),
            "every step takes each record by itself with probability batch/records, and of more than `cap` so many",
            "jax-privacy with truncated_batch_size",
        ),
        "with_replacement": Loader(
            "with_replacement",
            ("batch", "records"),
            "every step draws a record `batch` times, each time any of them; one drawn twice counts twice",
            "PyTorch RandomSampler(replacement=True)",
            sensitivity=2.0,
        ),
        "in_order": Loader(
            "",
            (),
            "every epoch takes the records in one and the same order, `batch` after `batch` of them; a record that "
            "comes or goes leaves the batches of the others as they are",
            "PyTorch DataLoader(shuffle=False), or shuffled once before the first epoch",
            passes=True,
            parts=False,
            use=_in_order,
        ),
        "any_order": Loader(
            "",
            ("separation",),
            "every epoch has each record in at most one batch, in whatever order, two uses of it at least `separation` "
            "steps apart; a record that comes or goes leaves the batches of the others as they are",
            "DP-FTRL code, federated cohorts with a least time between two rounds of a client",
            passes=True,
            use=_any_order,
        ),
        "bins": Loader(
            "",
            ("bins",),
            "each record draws one of `bins` batches by itself, once for all epochs, and every epoch takes them in "
            "one and the same order",
            "balls in bins: jax-privacy's BallsInBinsSampling",
            passes=True,
            use=_bins,
        ),
        "groups": Loader(
            "",
            (),
            "the records are split into as many groups as C has bands, without looking at them, and every step takes "
            "each record of the next group by itself with probability groups batch/records",
            "jax-privacy's CyclicPoissonSampling, BandMF",
            use=_groups,
        ),
    }
)
