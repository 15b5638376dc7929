"""What the pages of a filed document are made of, for documents of other kinds than a report on a run."""

from __future__ import annotations

from ..report.filing import Filing
from ..report.markup import Content, Markup, element, facts, joined, listing, table
from ..report.meaning import pictured
from ..report.page import Page
from ..report.pdf import check_pdf
from ..report.pictures import Picture, made_picture
from ..report.proof import listed as document_listed
from ..report.proof import signatures
from ..report.ran import expression as expression_shown
from ..report.summary import about
from ..report.words import AS_DRAWN, AS_GIVEN, RECORDS
from ..report.words import gathered as cautions

__all__ = [
    "about",
    "AS_DRAWN",
    "AS_GIVEN",
    "cautions",
    "check_pdf",
    "Content",
    "document_listed",
    "element",
    "expression_shown",
    "facts",
    "Filing",
    "joined",
    "listing",
    "made_picture",
    "Markup",
    "Page",
    "Picture",
    "pictured",
    "RECORDS",
    "signatures",
    "table",
]
