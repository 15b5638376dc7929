"""The settings of privacy buckets: what `engine=` takes, and what a leaf is made with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..calls import checked, checked_class
from ..errors import InvalidParameter
from ..mechanisms.parameters import nonnegative, probability, real, whole
from ..question import EngineSettings
from ..relation import Direction

if TYPE_CHECKING:
    from ..mechanisms.base import Mechanism
    from .value import BucketList


@checked_class
@dataclass(frozen=True, slots=True)
class Buckets(EngineSettings):
    """Privacy buckets with settings of one's own: engine=Buckets(factor=1.001, buckets=10_000). All may be left out.

    factor: f > 1 of one use; bucket i takes the losses above (i - 1) log f, up to i log f.
    buckets: n of the paper, an even number: the indices are -n ... n, and infinity for what lies above.
    free_infinity: squaring waits while B(infinity) is below it (free_infty_budget of section 4.6); 0 is figure 10.
    error_correction: False reads delta by definition 5 (theorem 1) instead of definition 9; the lower end of the answer
    is that of definition 9 in any case, since definition 5 has none.
    What is left out is chosen: factor and free_infinity from the question, buckets from the factor and the accuracy.
    With a factor, lists are squared by the rule of figure 10; without, also where too much would fall below -n.
    Reference: Meiser, Mohammadi 2018, Tight on Budget?, Defs. 3 to 9, Fig. 10, Sec. 4.6.
    """

    name: ClassVar[str] = "buckets"
    factor: float | None = None
    buckets: int | None = None
    free_infinity: float | None = None
    error_correction: bool = True

    def __post_init__(self) -> None:
        if self.factor is not None:
            object.__setattr__(self, "factor", real("factor", self.factor))
            if not 1.0 < self.factor < math.inf:
                raise InvalidParameter(f"factor must be a finite number above 1, such as 1.001, not {self.factor!r}")
        if self.buckets is not None:
            from ..engines.buckets.tuning import N_GIVEN_MAX

            n = whole("buckets", self.buckets, least=2)
            if n % 2 or n > N_GIVEN_MAX:
                raise InvalidParameter(f"buckets must be an even number from 2 to {N_GIVEN_MAX:,}, not {n!r:.40}")
            object.__setattr__(self, "buckets", n)
        if self.free_infinity is not None:
            object.__setattr__(self, "free_infinity", probability("free_infinity", self.free_infinity))
        if not isinstance(self.error_correction, bool):
            raise InvalidParameter(f"error_correction must be True or False, not {self.error_correction!r:.60}")

    @property
    def settings(self) -> Mapping[str, object]:
        given = {"factor": self.factor, "n": self.buckets, "free_infinity_budget": self.free_infinity}
        fixed = {name: value for name, value in given.items() if value is not None}
        return fixed if self.error_correction else {**fixed, "error_correction": False}

    @checked
    def leaf(self, mechanism: Mechanism, *, direction: Direction | str = "remove", tilt: float = 0.0) -> BucketList:
        """The buckets of one use of a mechanism, in one direction, to look at and to compose by hand.

        tilt: numbers are kept times e^(tilt loss), which keeps digits of a delta as small as e^(-tilt epsilon); only
        lists of one tilt compose.
        """
        from .value import leaf

        if self.factor is None or self.buckets is None:
            raise InvalidParameter("a list needs a factor and buckets, such as Buckets(factor=1.01, buckets=1000)")
        return leaf(mechanism, self, Direction(direction), nonnegative("tilt", tilt))
