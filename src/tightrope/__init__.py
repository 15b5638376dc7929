"""Tight differential-privacy accounting: intervals that contain the truth, rounding included.

import tightrope as tr
run = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1)
run.epsilon(delta=1e-6)
"""

from __future__ import annotations

import typing as _typing

from .audit.auditing import audit as audit
from .audit.plan import AuditPlan as AuditPlan
from .audit.plan import plan_audit as plan_audit
from .audit.result import AuditResult as AuditResult
from .core.answers.curve import Curve as Curve
from .core.answers.curve import draw_curves as draw_curves
from .core.answers.epochs import Epochs as Epochs
from .core.answers.loss_law import LossLaw as LossLaw
from .core.answers.risk import Risk as Risk
from .core.answers.tradeoff_curve import Tradeoffs as Tradeoffs
from .core.answers.tradeoff_curve import draw_tradeoffs as draw_tradeoffs
from .core.buckets import BucketList as BucketList
from .core.buckets import Buckets as Buckets
from .core.conversions.cdp import Concentrated as Concentrated
from .core.losses.own import TailPair as TailPair
from .core.mechanisms.base import Leaf as Leaf
from .core.mechanisms.base import Mechanism as Mechanism
from .core.mechanisms.composition import compose as compose
from .core.mechanisms.groups import parallel as parallel
from .core.planning.calibration import Calibration as Calibration
from .core.planning.calibration import Target as Target
from .core.planning.calibration import calibrate as calibrate
from .core.planning.comparison import Comparison as Comparison
from .core.planning.comparison import compare as compare
from .core.planning.frontier import Frontier as Frontier
from .core.planning.frontier import frontier as frontier
from .core.planning.samplings import Samplings as Samplings
from .core.planning.samplings import by_sampling as by_sampling
from .core.text.catalogue import *  # noqa: F403
from .core.text.expressions import parse as parse
from .core.text.serial import dump as dump
from .core.text.serial import load as load
from .core.values.bound import Bound as Bound
from .core.values.bound import Certificate as Certificate
from .core.values.bound import ErrorBreakdown as ErrorBreakdown
from .core.values.errors import AccuracyNotReached as AccuracyNotReached
from .core.values.errors import BracketNotFound as BracketNotFound
from .core.values.errors import DataError as DataError
from .core.values.errors import ExpressionError as ExpressionError
from .core.values.errors import InternalContradiction as InternalContradiction
from .core.values.errors import InvalidParameter as InvalidParameter
from .core.values.errors import TightropeError as TightropeError
from .core.values.errors import UnsupportedMechanism as UnsupportedMechanism
from .core.values.errors import WorkExhausted as WorkExhausted
from .core.values.question import Direction as Direction
from .core.values.question import Relation as Relation
from .version import __version__ as __version__

# isort: split
# Applications are made of the names above.
from . import ledger as ledger
from .report import Report as Report
from .report import report as report
from .sweep import Sweep as Sweep
from .sweep import sweep as sweep
from .verification import Verification as Verification
from .verification import verify as verify

if _typing.TYPE_CHECKING:
    Budget = ErrorBreakdown
else:

    def __getattr__(name: str) -> object:
        """A name that goes warns first: docs/stability.md."""
        if name == "Budget":
            from .core.values.calls import warn_deprecated

            warn_deprecated("tightrope.Budget", "tightrope.ErrorBreakdown", since="0.1.0")
            return ErrorBreakdown
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
