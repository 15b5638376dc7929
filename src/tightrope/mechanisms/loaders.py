"""How loaders make batches: one row each, which names the transformation of a Gaussian step and what it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType

from ..errors import InvalidParameter
from .base import Mechanism
from .gaussian import Gaussian


@dataclass(frozen=True, slots=True)
class Loader:
    """What is assumed about a loader, and the mechanism that a step of it is, or a whole epoch.

    A record clipped to norm 1 moves the sum of a batch by `sensitivity` between the neighbours that the transformation
    has for its base.
    """

    call: str  # the method of the transformation
    takes: tuple[str, ...]  # its keywords
    assumed: str  # of a batch, in words
    met_in: str  # code that makes batches so
    sensitivity: float = 1.0
    passes: bool = False  # a record is in one batch of each epoch, and the transformation is about the epoch
    parts: bool = True  # whether an epoch may be left before its end

    def epoch(self, records: int, batch: int) -> Fraction:
        """The steps of an epoch: where it is no pass over the records, records/batch, which may be a fraction."""
        steps = Fraction(records, batch)
        return Fraction(ceil(steps)) if self.passes else steps

    def unit(self, sigma: float, records: int, batch: int, cap: int | None) -> Mechanism:
        """One step, or one epoch of a loader that passes over the records."""
        known = {
            "rate": batch / records,
            "batch": batch,
            "records": records,
            "cap": cap,
            "steps": int(self.epoch(records, batch)),
        }
        base = Gaussian(sigma=sigma, sensitivity=self.sensitivity)
        made: Mechanism = getattr(base, self.call)(**{key: known[key] for key in self.takes})
        return made

    def run(self, records: int, cap: int | None, phase: tuple[int, float, int]) -> Mechanism:
        """So many steps; of passes, whole ones and, where it ends within one, its part.

        Of an epoch that ends after r of T batches a record has been in one with probability r/T, and given that it is
        in one of the r, each is as likely.
        """
        steps, sigma, batch = phase
        unit = self.unit(sigma, records, batch, cap)
        if not self.passes:
            return unit * steps
        whole, rest = divmod(steps, epoch := int(self.epoch(records, batch)))
        if not rest:
            return unit * whole
        if not self.parts:
            raise InvalidParameter(
                f"steps must be a multiple of {epoch}, the batches of an epoch, not {steps}: give whole epochs, or "
                f"{(whole + 1) * epoch} steps, since nothing is known of a part of one but that all of it costs no less"
            )
        part = self.unit(sigma, rest, 1, cap).poisson(rate=rest / epoch)
        return unit * whole + part


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
    }
)
