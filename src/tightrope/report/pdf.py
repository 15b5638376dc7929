"""The page on paper, by WeasyPrint: an extra, which also needs the Pango library of the system."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Any

from ..errors import InvalidParameter

MISSING = "PDF needs WeasyPrint: pip install 'tightrope-dp[pdf]', or write --html and print it"
NO_PANGO = (
    "PDF needs the Pango library beside WeasyPrint (Debian: apt install libpango-1.0-0 libpangoft2-1.0-0, macOS: brew "
    "install pango), or write --html and print it"
)
ATTACHED = "result.json"


def check_pdf() -> None:
    """Says what is missing before the work is done."""
    _library()


def printed(page: str, document: str, date: str, paper: str) -> bytes:
    """The pages, with headings as bookmarks and the certificate attached; nothing is fetched."""
    library = _library()
    inside = library.urls.URLFetcher(allowed_protocols=["data"])  # nothing else is fetched
    day = datetime.fromisoformat(date)
    attached = library.Attachment(
        string=document, name=ATTACHED, description="The certificate", created=day, modified=day, relationship="Data"
    )
    made: bytes = library.HTML(string=page, url_fetcher=inside).write_pdf(
        stylesheets=[library.CSS(string=f"@page {{ size: {paper} }}", url_fetcher=inside)],
        attachments=[attached],
        pdf_identifier=sha256(page.encode("utf-8")).digest(),
        pdf_tags=True,
    )
    return made


def _library() -> Any:
    try:
        import weasyprint
        import weasyprint.urls
    except ImportError:
        raise InvalidParameter(MISSING) from None
    except OSError:  # a library of the system is not there
        raise InvalidParameter(NO_PANGO) from None
    return weasyprint
