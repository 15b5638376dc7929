"""The content of a document as a tree of elements, from which the writers of HTML and PDF make their files.

Guarantee: a text in it stays a text. One writer escapes it, the other hands it on as data; none reads it as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Markup:
    """An element with its attributes and what is inside; without a name, what is inside alone. The names are HTML's,
    but that an img has the picture itself as its src, as SVG."""

    name: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    inside: tuple[str | Markup, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.name) or any(self.inside)


Content = str | Markup


def joined(parts: Iterable[Content]) -> Markup:
    """One after the other."""
    return Markup(inside=tuple(parts))


def element(name: str, /, *inside: Content, **attributes: str) -> Markup:
    """An element with these texts or elements inside; class_ stands for class, and http_equiv for http-equiv."""
    given = tuple((key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    return Markup(name, given, inside)


def listing(notes: Iterable[Content], **attributes: str) -> Markup:
    """A list of sentences; nothing where there are none."""
    items = [element("li", note) for note in notes]
    return element("ul", *items, **attributes) if items else Markup()


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Content]], **attributes: str) -> Markup:
    """Rows under headings; the first cell of each names it. It can be scrolled where it is too wide for the screen."""
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [element("tr", element("th", first, scope="row"), *cells(rest)) for first, *rest in rows]
    inside = (element("caption", caption), element("thead", head), element("tbody", *body))
    return scrolled(caption, element("table", *inside, **attributes))


def facts(caption: str, rows: Iterable[tuple[str, str]]) -> Markup:
    """Names and what there is to say of each."""
    body = [element("tr", element("th", name, scope="row"), *cells([said])) for name, said in rows]
    return scrolled(caption, element("table", element("caption", caption), element("tbody", *body), class_="facts"))


def cells(texts: Iterable[Content]) -> list[Markup]:
    return [element("td", text) for text in texts]


def scrolled(name: str, inside: Markup) -> Markup:
    """A region that a keyboard can scroll."""
    return element("div", inside, class_="scroll", role="region", tabindex="0", aria_label=name)
