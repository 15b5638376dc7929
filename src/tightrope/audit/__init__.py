"""Audits: from what an attack saw to a certified lower bound on epsilon, and a verdict on a claim."""

from __future__ import annotations

from .auditing import audit as audit
from .plan import AuditPlan as AuditPlan
from .plan import PlannedSize as PlannedSize
from .plan import plan_audit as plan_audit
from .result import AuditResult as AuditResult
from .result import AuditStatement as AuditStatement
from .result import AuditTest as AuditTest
