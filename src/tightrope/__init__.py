"""Tight differential-privacy accounting: intervals that contain the truth, rounding included.

import tightrope as tr
run = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5 + tr.PureDP(epsilon=0.1)
run.epsilon(delta=1e-6)
"""

from __future__ import annotations

import typing as _typing

from .audit import AuditPlan as AuditPlan
from .audit import AuditResult as AuditResult
from .audit import audit as audit
from .audit import plan_audit as plan_audit
from .bound import Bound as Bound
from .bound import Certificate as Certificate
from .bound import ErrorBreakdown as ErrorBreakdown
from .buckets import BucketList as BucketList
from .buckets import Buckets as Buckets
from .calibrate import Calibration as Calibration
from .calibrate import Target as Target
from .calibrate import calibrate as calibrate
from .catalogue import *  # noqa: F403
from .compare import Comparison as Comparison
from .compare import compare as compare
from .convert.cdp import Concentrated as Concentrated
from .curve import Curve as Curve
from .curve import draw_curves as draw_curves
from .epochs import Epochs as Epochs
from .errors import AccuracyNotReached as AccuracyNotReached
from .errors import BracketNotFound as BracketNotFound
from .errors import DataError as DataError
from .errors import ExpressionError as ExpressionError
from .errors import InternalContradiction as InternalContradiction
from .errors import InvalidParameter as InvalidParameter
from .errors import TightropeError as TightropeError
from .errors import UnsupportedMechanism as UnsupportedMechanism
from .errors import WorkExhausted as WorkExhausted
from .expression import parse as parse
from .loss_law import LossLaw as LossLaw
from .mechanisms.base import Leaf as Leaf
from .mechanisms.base import Mechanism as Mechanism
from .pairs.tails import TailPair as TailPair
from .plans import Frontier as Frontier
from .plans import Samplings as Samplings
from .plans import by_sampling as by_sampling
from .plans import frontier as frontier
from .relation import Direction as Direction
from .relation import Relation as Relation
from .risk import Risk as Risk
from .serial import dump as dump
from .serial import load as load
from .tradeoffs import Tradeoffs as Tradeoffs
from .tradeoffs import draw_tradeoffs as draw_tradeoffs
from .transforms.composition import compose as compose
from .transforms.parallel import parallel as parallel
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
            from .calls import warn_deprecated

            warn_deprecated("tightrope.Budget", "tightrope.ErrorBreakdown", since="0.1.0")
            return ErrorBreakdown
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
