"""The site as a browser finds it: links lead somewhere, anchors are there, nothing is fetched from outside.

And no mark of Markdown stands where words should: a formula, a link or a block that was not read as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {(tag, "src") for tag in ("script", "img", "source", "iframe")} | {("link", "href"), ("object", "data")}
LINKED = {("a", "href"), ("use", "href")}
FROM_STYLE = re.compile(r"url\(\s*['\"]?((?!data:)[^)'\"]+)|@import\s+['\"]([^'\"]+)")
UNREAD = re.compile(r".{0,30}(?:\]\(|\$|```|:::|\\begin).{0,30}")
AS_IT_IS = {"pre", "code", "script", "style", "title"}
EMPTY = {"br", "col", "hr", "img", "input", "link", "meta", "path", "source", "use", "wbr"}
SCHEMES_TO_READ = {"https", "http", "mailto"}  # of links that a reader follows, or not


class Page(HTMLParser):
    """What a page fetches, what it links to, the places in it that can be linked to, and marks that were not read."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.linked: list[str] = []
        self.places: set[str] = {"", "top"}
        self.without_words = 0
        self.unread: list[str] = []
        self.open: list[tuple[str, bool]] = []  # elements, and whether they hold code or a formula
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in EMPTY:
            self.open.append((tag, tag in AS_IT_IS or "math" in (given.get("class") or "").split()))
        self.places |= {value for name in ("id", "name") if (value := given.get(name))}
        for name, value in given.items():
            if value is not None and (tag, name) in FETCHED and given.get("rel") not in ("canonical", "next", "prev"):
                self.fetched.append(value)
            if value is not None and (tag, name) in LINKED:
                self.linked.append(value)
        words = given.get("alt") or "_images/"  # a name of a file is no word
        if tag == "img" and "_images/" in words and not (given.get("src") or "").startswith("data:"):
            self.without_words += 1

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(kept for _, kept in self.open):
            self.unread += UNREAD.findall(data)


def faults(site: Path) -> list[str]:
    """One line for each: page, and what is wrong on it."""
    read = {path.resolve(): Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    found = [f"{path.relative_to(site)}: {fault}" for path, page in read.items() for fault in of_page(path, page, read)]
    for style in sorted(site.rglob("*.css")):
        addresses = (first or second for first, second in FROM_STYLE.findall(style.read_text("utf-8")))
        found += [f"{style.relative_to(site)}: fetches {each}" for each in addresses if urlsplit(each).scheme]
    return found


def of_page(path: Path, page: Page, read: dict[Path, Page]) -> Iterator[str]:
    for address in page.fetched:
        parts = urlsplit(address)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            yield f"fetches {address} from outside"
        elif not target(path, parts.path).is_file():
            yield f"fetches {address}, which is not there"
    for address in page.linked:
        parts = urlsplit(address)
        if parts.scheme in SCHEMES_TO_READ:
            continue
        file = target(path, parts.path)
        if not file.is_file():
            yield f"links to {address}, which is not there"
        elif file in read and unquote(parts.fragment) not in read[file].places:
            yield f"links to {address}: there is no such place on that page"
    for text in page.unread:
        yield f"shows {text.strip()!r}"
    if page.without_words:
        yield f"{page.without_words} pictures without words for those who do not see them"


def target(page: Path, address: str) -> Path:
    return (page.parent / unquote(address)).resolve() if address else page
