"""Parts of mechanisms, for those who walk through one, charge for it or translate it to other names."""

from __future__ import annotations

from ..derived.poisson import rate_ends
from ..mechanisms.base import confidence, leaves
from ..mechanisms.data_file import GIVE_FILES
from ..metrics.small_print import local as is_local
from ..relation import neighbours
from ..transforms.base import Transformation
from ..transforms.best_of import BestOf
from ..transforms.composition import IDENTITY, Composition, repeat, settled
from ..transforms.group import group_sizes
from ..transforms.parallel import Parallel
from ..transforms.poisson import Poisson
from ..transforms.random_allocation import RandomAllocation
from ..transforms.shuffled_batches import ShuffledBatches
from ..transforms.terms import terms_of
from ..transforms.truncated_poisson import TruncatedPoisson
from ..transforms.with_replacement import WithReplacement
from ..transforms.without_replacement import WithoutReplacement

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
