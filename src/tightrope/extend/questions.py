"""What may be asked, with which arguments and settings, and what is meant where nothing is said."""

from __future__ import annotations

from ..audit.designs import DESIGNS as AUDIT_DESIGNS
from ..audit.designs import EXPLAINED as AUDIT_DESIGNS_EXPLAINED
from ..audit.designs import TAILS as AUDIT_TAILS
from ..audit.one_run import SIDES as AUDIT_SIDES
from ..audit.scores import scores_of_text
from ..core.planning.calibration import Limits
from ..core.planning.domain import GIVE_ENDS
from ..core.values.question import ARGUMENTS, LESS_IS_WORSE, SECONDS, Options, Question, ReportOptions, parsed, stated

__all__ = [
    "ARGUMENTS",
    "AUDIT_DESIGNS",
    "AUDIT_DESIGNS_EXPLAINED",
    "AUDIT_SIDES",
    "AUDIT_TAILS",
    "GIVE_ENDS",
    "LESS_IS_WORSE",
    "Limits",
    "Options",
    "parsed",
    "Question",
    "ReportOptions",
    "scores_of_text",
    "SECONDS",
    "stated",
]
