"""A page as one HTML file.

Guarantee: no script runs and nothing is fetched (the policy in its head allows neither), every text that somebody typed
is escaped, and the same page is the same file.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.resources import files

from .. import __version__
from .from_file import RESULT_ID, embedded
from .markup import Content, Markup, element, joined
from .page import Page

VOID = ("img", "meta")  # elements that have no end
VERBATIM = ("script", "style")  # elements in which nothing is escaped


def html(page: Page) -> str:
    """The whole file, with the document of the page as data."""
    held = element("script", embedded(page.document), type="application/json", id=RESULT_ID)
    body = element("body", page.header, element("main", *page.sections, held), _footer(page))
    return f"<!DOCTYPE html>\n{written(element('html', _head(page), body, lang='en-GB'))}\n"


def written(content: Content) -> str:
    """A part of a page."""
    return "".join(_pieces(content))


def _pieces(content: Content) -> Iterator[str]:
    if isinstance(content, str):
        yield escape(content)
        return
    name = content.name
    if name:
        given = [f' {key}="{escape(_value(name, key, value))}"' for key, value in content.attributes]
        yield f"<{name}{''.join(given)}>"
    for each in content.inside:
        yield from (each,) if isinstance(each, str) and name in VERBATIM else _pieces(each)
    if name and name not in VOID:
        yield f"</{name}>"


def _value(name: str, key: str, value: str) -> str:
    """A picture is an address that holds all of it: as an image it can neither run nor fetch anything."""
    if (name, key) != ("img", "src"):
        return value
    return f"data:image/svg+xml;base64,{b64encode(value.encode('utf-8')).decode('ascii')}"


def _head(page: Page) -> Markup:
    """The one style sheet is known by its digest, so that no other one is obeyed."""
    style, filing = files(__package__).joinpath("page.css").read_text("utf-8"), page.filing
    known = b64encode(sha256(style.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{known}'; img-src data:; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"Tightrope {__version__}"),
        element("meta", name="author", content=filing.author or filing.organisation),
        element("meta", name="dcterms.created", content=filing.date),
        element("title", page.title),
        element("style", style),
    )


def _footer(page: Page) -> Markup:
    made = f"Made with Tightrope {__version__}, certified differential-privacy accounting, on "
    return element("footer", joined([made, element("time", page.filing.day, datetime=page.filing.date)]), ".")
