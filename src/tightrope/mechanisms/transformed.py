"""The transformations as methods: what every mechanism can be turned into."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..calls import checked

if TYPE_CHECKING:
    from .base import Mechanism


class Transformable:
    """The methods that make transformations; each is a row of the registry, and a class in transforms/."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a checker still sees what is not there

        def __getattr__(self, name: str) -> NoReturn:
            """What is not there; with the reason, where it is refused on purpose."""
            from ..transforms.refused import REFUSED

            why = f": {REFUSED[name]}" if name in REFUSED else ""
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}", name=name, obj=self)

    @checked
    def poisson(self: Any, rate: float, neighbours: str = "add_remove", *, name: str | None = None) -> Mechanism:
        """Runs on a sample that takes each record independently with probability rate.

        neighbours: "add_remove", or "replace"; in both cases the sensitivity of this is that under adding or removing a
        record.

        Of a composition: one sample is drawn and all parts run on it, so a record is in all of them or in none. A new
        sample for each part is another experiment, A.poisson(rate) + B.poisson(rate); neither bounds the other.
        """
        from ..transforms.poisson import Poisson

        return Poisson(base=self, rate=rate, neighbours=neighbours, name=name)

    @checked
    def without_replacement(
        self: Any, batch: int, records: int, neighbours: str = "replace", *, name: str | None = None
    ) -> Mechanism:
        """Runs on a batch of so many of the records, all such batches alike.

        The sensitivity of this is that under replacing a record, whatever the neighbours: 2 C for records clipped to
        norm C. neighbours: "replace", or "add_remove", where the data have one record more or less and a batch is as
        large as before. Of a composition: one batch is drawn and all parts run on it.
        """
        from ..transforms.without_replacement import WithoutReplacement

        return WithoutReplacement(base=self, batch=batch, records=records, neighbours=neighbours, name=name)

    @checked
    def group(self: Any, size: int, *, name: str | None = None) -> Mechanism:
        """Neighbours differ in a group of `size` records, all of them removed or all of them added.

        Of a composition: the same group at every use, (A * 9).group(k) = A.group(k) * 9. A.group(k).poisson(rate)
        samples groups (users), A.poisson(rate).group(k) samples records.
        """
        from ..transforms.group import Group

        return Group.of(self, size=size, name=name)

    @checked
    def shuffle(self: Any, users: int, *, name: str | None = None) -> Mechanism:
        """Every one of so many users reports once through this, and the reports are put in a random order.

        This is the randomizer, the same for all users: PureDP(epsilon) for any that is epsilon-private,
        RandomizedResponse, or another mechanism of bounded loss, which is about replacing the user's value. Of a
        composition: all parts make up one report. Randomizers that differ between users are not covered.
        """
        from ..transforms.shuffle import Shuffle

        return Shuffle(base=self, users=users, name=name)

    @checked
    def with_replacement(self: Any, batch: int, records: int, *, name: str | None = None) -> Mechanism:
        """Runs on so many draws from the records, each of any record; neighbours differ by a record that is replaced.

        The sensitivity of this is that under replacing a record: 2 C for records clipped to norm C. A record drawn
        several times counts as often. Of a composition: one batch is drawn and all parts run on it.
        """
        from ..transforms.with_replacement import WithReplacement

        return WithReplacement(base=self, batch=batch, records=records, name=name)

    @checked
    def truncated_poisson(self: Any, rate: float, cap: int, records: int, *, name: str | None = None) -> Mechanism:
        """Runs on a Poisson sample at this rate; of one with more records than the cap, so many, all choices alike.

        The sensitivity of this is that under adding or removing a record: C for records clipped to norm C. records is
        the size of the data; neighbours have one record more or one less. Of a composition: one sample for all parts.
        """
        from ..transforms.truncated_poisson import TruncatedPoisson

        return TruncatedPoisson(base=self, rate=rate, cap=cap, records=records, name=name)

    @checked
    def random_allocation(self: Any, steps: int, uses: int = 1, *, name: str | None = None) -> Mechanism:
        """Runs at each of so many steps; every record takes part in `uses` of them, chosen by itself at random.

        One epoch over batches that are filled so (balls and bins), * epochs where they are filled anew for each. The
        sensitivity of this is that under adding or removing a record: C for records clipped to norm C. Of a
        composition: all of it is one step.
        """
        from ..transforms.random_allocation import RandomAllocation

        return RandomAllocation(base=self, steps=steps, uses=uses, name=name)

    @checked
    def shuffled_batches(self: Any, steps: int, *, name: str | None = None) -> Mechanism:
        """One epoch over so many batches, consecutive parts of the data in random order; a record is replaced.

        This is Gaussian noise, its sensitivity that under adding or removing a record: C for records clipped to norm C.
        Every record is in one batch. Several epochs are several uses. Upper ends have no amplification, lower ends are
        those of real neighbours; Poisson samples at the rate 1/steps are no bound for this.
        """
        from ..transforms.shuffled_batches import ShuffledBatches

        return ShuffledBatches(base=self, steps=steps, name=name)

    @checked
    def best_of(self: Any, law: str, mean: float, shape: float | None = None, *, name: str | None = None) -> Mechanism:
        """The best output of a random number of runs, drawn without looking at the data; its mean is `mean`.

        law: geometric, negative_binomial (shape eta, above -1), logarithmic, all of at least one run; poisson and
        binomial (shape trials), which may have none. Of a composition: all of it is one run.
        """
        from ..transforms.best_of import BestOf

        return BestOf(base=self, law=law, mean=mean, shape=shape, name=name)
