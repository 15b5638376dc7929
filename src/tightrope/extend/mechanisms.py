"""Parts of mechanisms, for those who walk through one, charge for it or translate it to other names."""

from __future__ import annotations

from ..core.losses.operators.poisson import rate_ends
from ..core.mechanisms.allocation import RandomAllocation, ShuffledBatches
from ..core.mechanisms.base import confidence, leaves
from ..core.mechanisms.best_of import BestOf
from ..core.mechanisms.composition import IDENTITY, Composition, Transformation, repeat, settled, terms_of
from ..core.mechanisms.fixed_size import WithoutReplacement, WithReplacement
from ..core.mechanisms.groups import Parallel, group_sizes
from ..core.mechanisms.poisson import Poisson, TruncatedPoisson
from ..core.mechanisms.samples import GIVE_FILES
from ..core.metrics.risk_wording import local as is_local
from ..core.values.question import neighbours

__all__ = [
    "BestOf",
    "Composition",
    "confidence",
    "GIVE_FILES",
    "group_sizes",
    "IDENTITY",
    "is_local",
    "leaves",
    "neighbours",
    "Parallel",
    "Poisson",
    "RandomAllocation",
    "rate_ends",
    "repeat",
    "settled",
    "ShuffledBatches",
    "terms_of",
    "Transformation",
    "TruncatedPoisson",
    "WithoutReplacement",
    "WithReplacement",
]
