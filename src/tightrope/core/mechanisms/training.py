"""A training run by the numbers that its loader and optimiser are given: records, batch, epochs, noise multiplier.

Each step tells a sum of gradients, clipped to norm 1, with Gaussian noise of deviation sigma, over a batch that is made
as `sampling` says (training.py); steps may share their noise (encoders.py). The run stands for its expansion, a plain
expression, and every question is about that.
steps = ceil(epochs records/batch), in exact fractions of the decimals that were given.
Guarantee: that of the expansion. The rate of Poisson samples is the double nearest to batch/records, and that of a part
of an epoch the one nearest to its share of the batches.
Reference: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang 2016 (DP-SGD); each sampling has its theorem in
mechanisms/, and shared noise in matrix_mechanism.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import ceil, isqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from ..losses.pair import Pair
from ..values.calls import checked_method, cut, nearest, rounded, short
from ..values.errors import InvalidParameter
from ..values.question import Direction, Options, Question, Relation, neighbours
from .base import Leaf, Mechanism
from .composition import compose
from .encoders import IDENTITY_WORD, Encoder, encoder_of
from .gaussian import Gaussian
from .parameters import Matrix, matrix, nonnegative, positive, probability, whole
from .theorems import sizes_in_groups

if TYPE_CHECKING:
    from flint import arb

    from ..answers.epochs import Epochs


# How loaders make batches: one row each, which names the transformation of a Gaussian step and what it takes.
#
# Where the noise is shared between steps (encoders.py), or a record is in the same batch of every epoch, the run is one
# mechanism of all steps, and the row says in which of them a record is.

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


EPOCH_ROWS, EPOCH_ROWS_MAX = 50, 10_000  # of a table by epochs
CONSTANT = ("batch", "epochs", "steps", "sigma")  # what a schedule stands for

Phase = tuple[int, float, int]  # steps, sigma, batch


class RunOptions(TypedDict, total=False):
    """What a run takes besides its records."""

    batch: int | None
    epochs: float | None
    steps: int | None
    sigma: float | None
    sampling: str
    cap: int | None
    group: int
    schedule: Matrix | None
    matrix: str
    toeplitz: Sequence[float] | None
    inverse: Sequence[float] | None
    bins: int | None
    separation: int | None


@dataclass(frozen=True, slots=True, repr=False, init=False)
class training(Leaf):  # noqa: N801  # a run is written as a call, in Python, texts and JSON alike
    """A run of DP-SGD: so many epochs or steps over the records, in batches of this size, gradients clipped to norm 1.

    sigma is the noise multiplier: the deviation of the noise in units of the clipping norm. Give epochs or steps; or
    schedule, a list of (steps, sigma, batch), instead of all of these. sampling says how the loader makes a batch:
    poisson, allocated (each record in one batch of an epoch, any of them), shuffled (epochs in a random order), fixed
    (so many distinct records), truncated (poisson with at most cap records), with_replacement, in_order (the same order
    in every epoch), any_order (uses at least `separation` steps apart), bins (each record draws one of `bins` batches,
    once) or groups (sampled in turn). The last four also go with noise that steps share: matrix says C of the noise
    C^-1 Z, of deviation sigma: banded:K and sqrt (square root of the running sums), bisr:K (its inverse cut), tree; or
    give toeplitz, the coefficients of C, or inverse, those of C^-1. group: neighbours differ in so many records, those
    of one user.
    """

    example = "training(records=60000, batch=256, epochs=15, sigma=1.1)"
    section = "training"
    formula = (
        "That of the expression it stands for, Gaussian(sigma=1.1).poisson(rate=256/60000) * 3516 in the example: "
        "steps = ceil(epochs records/batch). With in_order, any_order, bins, groups: a "
        "[MatrixMechanism](#matrixmechanism) or [TreeAggregation](#treeaggregation) of all steps"
    )
    theorem = "That of its sampling, in [transformations](transformations.md)"
    tightness = "As the expression it stands for: Poisson batches are tight, also under composition."
    relations = (
        "poisson, allocated and truncated: a record is added or removed. shuffled, fixed and with_replacement: one is "
        "replaced by another, which moves a sum of clipped gradients by up to 2. bins and groups: a record is added or "
        "removed. in_order, any_order: one is there or not, and the others stay where they are."
    )
    records: int
    batch: int | None = None
    epochs: int | float | None = None
    steps: int | None = None
    sigma: float | None = None
    sampling: str = "poisson"
    cap: int | None = None
    group_size: int = field(default=1, metadata={"keyword": "group"})
    schedule: Matrix | None = None
    matrix: str = IDENTITY_WORD
    toeplitz: Sequence[float] | None = None
    inverse: Sequence[float] | None = None
    bins: int | None = None
    separation: int | None = None
    plan: BatchPlan = field(init=False, compare=False)  # what a loader is told of it
    phases: tuple[Phase, ...] = field(init=False, compare=False)  # (steps, sigma, batch), one after the other
    expanded: Mechanism = field(init=False, compare=False)  # the plain expression that this stands for

    def __init__(self, records: int, **plan: Unpack[RunOptions]) -> None:
        given: dict[str, Any] = {key: value for key, value in plan.items() if value is not None}
        given = {"sampling": _sampling(given), "group": 1, "matrix": IDENTITY_WORD, **given}
        found = {"records": whole("records", records, least=1), **{key: given[key] for key in ("sampling", "matrix")}}
        loader = _loader(given["sampling"])
        encoder = encoder_of(given["matrix"], given.get("toeplitz"), given.get("inverse"))
        found |= {encoder.word: encoder.coefficients} if encoder.coefficients else {}
        found |= _of_this_loader(loader, given)
        known = BatchPlan(found["records"], None, encoder, found.get("bins"), found.get("separation"))
        found |= _scheduled(given) if "schedule" in given else _constant(loader, known, given)
        for _, _, batch in found["phases"]:
            if batch > found["records"]:
                raise InvalidParameter(f"batch must be at most records, {found['records']}, not {batch}")
        found["cap"] = _cap(given, max(batch for _, _, batch in found["phases"]))
        found["plan"] = known = replace(known, cap=found["cap"])
        _demand_loader(loader, encoder, found)
        found["group_size"] = whole("group", given["group"], least=1)
        if found["group_size"] > found["records"]:
            raise InvalidParameter(f"group must be at most records, {found['records']}, not {found['group_size']}")
        parts = [loader.run(known, phase) for phase in found["phases"]]
        found["expanded"] = _composed(parts, found["group_size"])
        for each in fields(self):
            object.__setattr__(self, each.name, found.get(each.name))

    @property
    def total_steps(self) -> int:
        """How many steps there are."""
        return sum(steps for steps, _, _ in self.phases)

    @checked_method
    def by_epoch(self, delta: float, rows: int = EPOCH_ROWS, **options: Unpack[Options]) -> Epochs:
        """Epsilon at delta after each epoch, and after the last step where that ends within one.

        Of more epochs than rows, so many that lie evenly, the last one among them; the run of k epochs is its first
        ceil(k records/batch) steps. Without accuracy, 1e-4 is aimed at; other arguments as for `epsilon`. seconds are
        for all rows together, and where they are not enough, there are fewer rows.
        """

        parts = self._until(whole("rows", rows, least=1))
        from ..accountant import by_epoch

        return by_epoch(parts, Question("epsilon", **options), probability("delta", delta))

    def _until(self, rows: int) -> list[tuple[float, int, training]]:
        """(epochs, steps, run) at the end of each epoch and of the whole."""
        loader, total = LOADERS[self.sampling], self.total_steps
        lengths = [(steps, loader.epoch(self.plan, batch)) for steps, _, batch in self.phases]
        passed = sum((steps / epoch for steps, epoch in lengths), Fraction(0))
        last = passed if self.epochs is None else _decimal(self.epochs)
        count = min(rows, ceil(last))
        if count > EPOCH_ROWS_MAX:
            raise InvalidParameter(f"rows must be at most {EPOCH_ROWS_MAX:,}, not {rows:,}")
        found = []
        for mark in (ceil(Fraction(ceil(last) * row, count)) for row in range(1, count)):
            steps = _steps_until(lengths, mark)
            if mark < last and steps < total:
                found.append((float(mark), steps, self._first(mark, steps)))
        return [*found, (float(last), total, self)]

    def _first(self, epochs: int, steps: int) -> training:
        """The run up to there."""
        given: dict[str, Any] = dict(self.parameters)
        if self.schedule is not None:
            given["schedule"] = _cut(self.phases, steps)
        elif self.epochs is not None:
            given["epochs"] = epochs
        else:
            given["steps"] = steps
        return training(**given).named(self.name)

    def remark(self, quantity: str, given: float) -> str:
        """Of a delta at which even to publish one of the records would be private."""
        if quantity != "epsilon" or _decimal(given) * self.records <= 1:
            return ""
        one, usual = (short(float(rounded(share / self.records, 2, up=False))) for share in (1.0, 0.1))
        return (
            f"delta {short(given)} is above 1/records, {one}, and would allow to publish a record as it is; "
            f"commonly delta is at most 1/(10 records), {usual}"
        )

    @property
    def loader(self) -> str:
        """What is assumed about the loader, and how to state another."""
        others = " or ".join(f"sampling={text!r}" for text in LOADERS if text != self.sampling)
        loader = LOADERS[self.sampling]
        begins = ", and every phase of the schedule begins an epoch" if loader.passes and self.schedule else ""
        return (
            f"{loader.assumed}{begins} ({self.sampling}); neighbours: {neighbours(self.relation)}; else state {others}"
        )

    @property
    def sampling_theorem(self) -> str:
        """The theorem that its batches rest on, and that of several records."""
        parts: list[Any] = [self._unit, *([self._unit.group(size=self.group_size)] if self.group_size > 1 else [])]
        return "; for several records: ".join(type(part).theorem for part in parts)

    @property
    def _unit(self) -> Mechanism:
        _, sigma, batch = self.phases[0]
        return LOADERS[self.sampling].unit(sigma, self.plan, batch)

    @property
    def noise(self) -> str:
        """The noise that its steps share, in words; empty where each has its own."""
        return "" if self.plan.encoder.independent else self.plan.encoder.told

    # What it stands for answers everything.

    @property
    def nameless(self) -> Mechanism:
        return self.expanded

    @property
    def relation(self) -> Relation | None:
        return self._unit.relation

    @property
    def tight(self) -> bool:
        return self.expanded.tight

    @property
    def attained(self) -> bool:
        return self.expanded.attained

    @property
    def attained_once(self) -> bool:
        return self.expanded.attained_once

    def pair(self, direction: Direction) -> Pair:
        return self.expanded.pair(direction)

    @property
    def _witnessed_by_pair(self) -> bool:
        return self.expanded._witnessed_by_pair

    def witnesses(self, direction: Direction) -> tuple[Pair, ...]:
        return self.expanded.witnesses(direction)

    def witnesses_once(self, direction: Direction) -> tuple[Pair, ...]:
        return self.expanded.witnesses_once(direction)

    def needs_others(self, batch: int | None) -> bool:
        return self.expanded.needs_others(batch)

    @property
    def sizes(self) -> frozenset[int]:
        return sizes_in_groups(frozenset({self.records}), self.group_size)

    @property
    def everywhere(self) -> bool:
        return self.expanded.everywhere

    @property
    def known_in_groups(self) -> bool:
        return self.expanded.known_in_groups

    @property
    def gaussian_noise(self) -> bool:
        return self.expanded.gaussian_noise

    def one_event(self, size: int) -> bool:
        return self.expanded.one_event(size)

    def largest_loss(self) -> arb | None:
        return self.expanded.largest_loss()

    def replaced_pair(self, size: int) -> Pair:
        return self.expanded.replaced_pair(size)

    def group_pair(self, size: int, direction: Direction) -> Pair:
        return self.expanded.group_pair(size, direction)

    def group_tight(self, size: int) -> bool:
        return self.expanded.group_tight(size)

    def group_witness(self, size: int) -> Mechanism | None:
        return self.expanded.group_witness(size)


def _loader(sampling: object) -> Loader:
    if not isinstance(sampling, str) or sampling not in LOADERS:
        meant = nearest(sampling, LOADERS) if isinstance(sampling, str) else ""
        raise InvalidParameter(f"sampling must be one of {', '.join(LOADERS)}, not {cut(sampling)}{meant}")
    return LOADERS[sampling]


def _sampling(given: dict[str, Any]) -> str:
    """The loader that is meant where none is stated: bins and separation are for one only."""
    return next((name for name, loader in LOADERS.items() if loader.use and set(loader.takes) & set(given)), "poisson")


def _of_this_loader(loader: Loader, given: dict[str, Any]) -> dict[str, int]:
    """bins and separation, of the loader that has them."""
    found = {}
    for name, sampling in (("bins", "bins"), ("separation", "any_order")):
        if name in given:
            if name not in loader.takes:
                raise InvalidParameter(
                    f"{name} is for sampling={sampling!r}, not for {given['sampling']!r}: leave it out"
                )
            found[name] = whole(name, given[name], least=1)
    return found


def _demand_loader(loader: Loader, encoder: Encoder, found: dict[str, Any]) -> None:
    """Noise that steps share goes with loaders that are known for all steps together, and with no schedule."""
    if not encoder.independent and not loader.correlated:
        names = ", ".join(name for name, each in LOADERS.items() if each.correlated)
        raise InvalidParameter(
            f"sampling={found['sampling']!r} has no bound where steps share their noise: state your own, one of {names}"
        )
    if loader.correlated and "schedule" in found:
        raise InvalidParameter(
            f"a schedule goes with loaders that sample anew, not with sampling={found['sampling']!r}: add up runs with "
            "numbers of their own, one for each phase"
        )


def _constant(loader: Loader, plan: BatchPlan, given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a run that is the same from its first step to its last."""
    if plan.bins is not None:
        mean = -(-plan.records // plan.bins)
        given = {"batch": mean, **given}
        batch = whole("batch", given["batch"], least=1)
        if batch != mean and -(-plan.records // batch) != plan.bins:
            raise InvalidParameter(
                f"bins={plan.bins:,} of {plan.records:,} records have batches of {mean:,} on average, not {batch:,}: "
                "leave out batch, or bins"
            )
    missing = [each for each in ("batch", "sigma") if each not in given]
    if missing or ("epochs" in given) == ("steps" in given):
        wanted = "epochs or steps, and not both" if "epochs" in given else "epochs or steps"
        raise InvalidParameter(
            f"training needs {' and '.join(missing) or wanted}: training(records=60000, batch=256, epochs=15, "
            "sigma=1.1), or a schedule, a list of (steps, sigma, batch), instead"
        )
    found: dict[str, Any] = {
        "batch": whole("batch", given["batch"], least=1),
        "sigma": positive("sigma", given["sigma"]),
    }
    if "steps" in given:
        total = found["steps"] = whole("steps", given["steps"], least=0)
    else:
        epochs = found["epochs"] = _epochs(given["epochs"])
        total = ceil(_decimal(epochs) * loader.epoch(plan, found["batch"]))
    return {**found, "phases": ((total, found["sigma"], found["batch"]),)}


def _scheduled(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a run in phases."""
    if both := [text for text in CONSTANT if text in given]:
        raise InvalidParameter(
            f"a schedule says steps, sigma and batch of each phase: leave out {' and '.join(both)}, or the schedule"
        )
    rows = matrix("schedule", given["schedule"])
    if len(rows[0]) != 3:
        raise InvalidParameter(f"schedule must be a list of (steps, sigma, batch), not of rows of {len(rows[0])}")
    phases = tuple(
        (
            whole(f"schedule[{index}], steps,", steps, least=0),
            positive(f"schedule[{index}], sigma,", sigma),
            whole(f"schedule[{index}], batch,", batch, least=1),
        )
        for index, (steps, sigma, batch) in enumerate(rows)
    )
    return {"schedule": phases, "phases": phases}


def _steps_until(lengths: list[tuple[int, Fraction]], mark: int) -> int:
    """The first step by which so many epochs are over, of phases of so many steps, each with its steps per epoch."""
    done, passed = 0, Fraction(0)
    for steps, epoch in lengths:
        if passed + steps / epoch >= mark:
            return done + ceil((mark - passed) * epoch)
        done, passed = done + steps, passed + steps / epoch
    return done


def _cut(phases: tuple[Phase, ...], steps: int) -> tuple[Phase, ...]:
    """The first so many steps."""
    found: list[Phase] = []
    for length, sigma, batch in phases:
        taken = min(length, steps)
        steps -= taken
        found.append((taken, sigma, batch))
        if not steps:
            break
    return tuple(found)


def _epochs(value: float) -> float:
    """Zero or more, a whole number as one."""
    number = nonnegative("epochs", value)
    return int(value) if number.is_integer() else number


def _decimal(number: float) -> Fraction:
    """The decimal that was written: a tenth of an epoch is a tenth."""
    return Fraction(repr(number))


def _cap(given: dict[str, Any], batch: int) -> int | None:
    """The most records of a truncated batch; of no other one."""
    usual = f"commonly about batch + 6 sqrt(batch), {batch + 6 * (isqrt(batch - 1) + 1):,} here"
    if given["sampling"] != "truncated":
        if "cap" in given:
            raise InvalidParameter(f"cap is for sampling='truncated', not for {given['sampling']!r}: leave it out")
        return None
    if "cap" not in given:
        raise InvalidParameter(f"sampling='truncated' needs cap, the most records that a batch may have: {usual}")
    cap = whole("cap", given["cap"], least=1)
    if cap < batch:
        raise InvalidParameter(
            f"cap must be at least batch, {batch:,}, the records of a batch on average, not {cap:,}: {usual}"
        )
    return cap


def _composed(parts: list[Mechanism], group: int) -> Mechanism:

    run = compose(parts)
    return run if group == 1 else run.group(size=group)
