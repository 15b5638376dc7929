"""Reports that are filed, ready to be asked for and written: of a run, of the questions of a file, of an audit."""

from __future__ import annotations

from ..report.audited import AuditReport, is_audit
from ..report.from_file import document_of, questions_of
from ..report.request import REPORT_SECONDS
from ..report.value import PAPERS, SUFFIXES, Filed, check_report_path

__all__ = [
    "AuditReport",
    "check_report_path",
    "document_of",
    "Filed",
    "is_audit",
    "PAPERS",
    "questions_of",
    "REPORT_SECONDS",
    "SUFFIXES",
]
