"""Markup that cannot be broken by what is put into it: every text is escaped, unless it is markup already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def marked(text: str) -> Markup:
    """The text as markup that shows it."""
    return text if isinstance(text, Markup) else Markup(escape(text))


def joined(parts: Iterable[str], between: str = "") -> Markup:
    """One after the other."""
    return Markup(between.join(map(marked, parts)))


def void(name: str, /, **attributes: str) -> Markup:
    """An element with nothing inside; class_ is written class, and http_equiv http-equiv."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>")


def element(name: str, /, *inside: str, **attributes: str) -> Markup:
    """An element with these texts or elements inside."""
    return Markup(f"{void(name, **attributes)}{joined(inside)}</{name}>")


def listing(notes: Iterable[str], **attributes: str) -> Markup:
    """A list of sentences; nothing where there are none."""
    items = [element("li", note) for note in notes]
    return element("ul", *items, **attributes) if items else Markup("")


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], **attributes: str) -> Markup:
    """Rows under headings; the first cell of each names it. It can be scrolled where it is too wide for the screen."""
    head = element("tr", *(element("th", each, scope="col") for each in headings))
    body = [element("tr", element("th", first, scope="row"), *cells(rest)) for first, *rest in rows]
    inside = (element("caption", caption), element("thead", head), element("tbody", *body))
    return scrolled(caption, element("table", *inside, **attributes))


def facts(caption: str, rows: Iterable[tuple[str, str]]) -> Markup:
    """Names and what there is to say of each."""
    body = [element("tr", element("th", name, scope="row"), *cells([said])) for name, said in rows]
    return scrolled(caption, element("table", element("caption", caption), element("tbody", *body), class_="facts"))


def cells(texts: Iterable[str]) -> list[Markup]:
    return [element("td", each) for each in texts]


def scrolled(name: str, inside: Markup) -> Markup:
    """A region that a keyboard can scroll."""
    return element("div", inside, class_="scroll", role="region", tabindex="0", aria_label=name)
