"""A visit to the page: what a test does there by the names that everybody hears, and all that the page asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode

from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request, expect

import tightrope as tr

from .served import Served

TIMEOUT = 300_000  # milliseconds, to end what hangs: nothing is said about how long it takes
FINE_ROWS = 11  # beside a curve, where runs share their places
DELTA = 1e-5  # of the page, where nobody said another
TOLD = (
    "document.addEventListener('securitypolicyviolation', (event) => console.error('policy', event.violatedDirective))"
)


class Question(NamedTuple):
    """A question that the page asked, and the spot it asked for."""

    spot: str
    asked: dict[str, Any]


class Visit:
    """A page of the explorer in a context of its own."""

    def __init__(self, context: BrowserContext, server: Served) -> None:
        self.server = server
        self.context = context
        self.requests: list[Request] = []
        self.wrong: list[str] = []
        self.expected: tuple[str, ...] = ()  # words of what may go wrong in a test, since it makes it go wrong
        context.set_default_timeout(TIMEOUT)
        context.set_default_navigation_timeout(TIMEOUT)
        context.add_init_script(TOLD)
        context.on("request", lambda request: self.requests.append(request))
        context.on("console", self._console)
        context.on("weberror", lambda error: self.wrong.append(f"error: {error.error}"))
        self.page: Page = context.new_page()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{message.type}: {message.text}")

    def open(self, *runs: str, **state: str) -> Visit:
        """Opens the page with these runs; more of what its address may say by name."""
        return self.go(urlencode([*(("run", each) for each in runs), *state.items()]))

    def go(self, fragment: str) -> Visit:
        """Opens the page with what an address says behind its #."""
        self.page.goto(f"{self.server.page}#{fragment}")
        expect(self.page.get_by_role("tab", selected=True)).to_be_visible()
        return self

    def check(self) -> None:
        """Nothing went wrong, and nobody but the server was asked."""
        wrong = [each for each in self.wrong if not any(word in each for word in self.expected)]
        assert not wrong, wrong
        elsewhere = [
            each.url for each in self.requests if not each.url.startswith((self.server.origin + "/", "blob:", "data:"))
        ]
        assert not elsewhere

    # Runs.

    def cards(self) -> Locator:
        """All runs."""
        return self.page.locator("#runs > section")

    def card(self, place: int = 0) -> Card:
        """A run by its place, from 0."""
        return Card(self.cards().nth(place))

    def add(self, mechanism: str) -> None:
        """Takes a mechanism from the list."""
        self.page.get_by_label("Add a run").select_option(label=mechanism)

    # What is asked, and the views.

    def ask(self, question: str) -> None:
        """ε at δ, δ at ε or calibrate."""
        self.page.get_by_role("radiogroup", name="Question").get_by_text(question, exact=True).click()

    def view(self, name: str) -> None:
        """Another view, by its tab."""
        self.page.get_by_role("tab", name=name).click()
        expect(self.page.get_by_role("tabpanel", name=name)).to_be_visible()

    def given(self, name: str) -> str:
        """What a field beside the question says, when the page has drawn what was moved last."""
        self.page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        return self.page.get_by_role("textbox", name=name).input_value()

    @property
    def plot(self) -> Locator:
        """The chart, as the keyboard and the mouse meet it."""
        return self.page.get_by_role("application")

    def handle(self, name: str) -> Locator:
        """A target on the chart."""
        return self.page.locator("#view").get_by_role("slider", name=name, exact=True)

    def rows(self) -> list[list[str]]:
        """The table beside the chart, its heading first."""
        found: list[list[str]] = self.page.locator("#view table").first.evaluate(
            "table => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
        )
        return found

    def wait(self, condition: str, argument: Any = None) -> None:
        """Until this holds on the page."""
        self.page.wait_for_function(condition, arg=argument)

    def wait_for_table(self, rows: int = FINE_ROWS) -> list[list[str]]:
        """Until the table beside the chart has just so many rows, and no gaps: those of first pictures are others."""
        self.wait(
            "rows => { const table = document.querySelector('#view table');"
            " return table?.tBodies[0].rows.length === rows"
            " && [...table.querySelectorAll('td')].every((cell) => cell.textContent !== '–'); }",
            rows,
        )
        return self.rows()

    # What it says of itself, and what it asked.

    def said(self) -> dict[str, list[str]]:
        """What the address says."""
        return parse_qs(self.page.evaluate("location.hash.slice(1)"))

    def wait_said(self, name: str, values: Sequence[str]) -> None:
        """Until the address says so."""
        self.wait(
            "([name, values]) => JSON.stringify(new URLSearchParams(location.hash.slice(1)).getAll(name)) === values",
            [name, json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))],
        )

    @property
    def status(self) -> Locator:
        """What a screen reader is told."""
        return self.page.get_by_role("status")

    def questions(self, since: int = 0) -> list[Question]:
        """Those that were asked, from this request on."""
        posted = (each.post_data for each in self.requests[since:] if each.url.endswith("/api/ask"))
        documents = (json.loads(each) for each in posted if each is not None)
        return [Question(each["spot"], each["question"]) for each in documents]

    @property
    def focus(self) -> str:
        """The element that has the focus: its name for everybody, else what it is."""
        found: str = self.page.evaluate(
            "() => { const at = document.activeElement; return at === document.body ? 'body' : "
            "at.getAttribute('aria-label') ?? (at.textContent.trim() || at.id || at.tagName); }"
        )
        return found


class Card:
    """A run on the page."""

    def __init__(self, element: Locator) -> None:
        self.element = element
        self.editor = element.get_by_label("Expression", exact=True)
        self.name = element.get_by_label("Name of this run")
        self.number = element.locator(".big")
        self.result = element.locator(".result")
        self.error = element.get_by_role("alert")

    def expect_epsilon(self, text: str, delta: float = DELTA) -> str:
        """It shows epsilon of this text, digit by digit, as the package has it; the digits."""
        bound = tr.parse(text).epsilon(delta=delta)
        expect(self.number).to_have_text(f"ε in {bound}")
        self.expect_done()
        return str(bound)

    def expect_done(self) -> None:
        """Until its answer is the last one."""
        expect(self.result).to_have_attribute("aria-busy", "false")

    def expect_text(self, text: str) -> None:
        """Its text is this."""
        expect(self.editor).to_have_value(text)

    def press(self, name: str) -> None:
        """A button, by its name."""
        self.element.get_by_role("button", name=name).click()

    def field(self, name: str) -> Locator:
        """A field of its form."""
        return self.element.get_by_role("textbox", name=name, exact=True)

    def slider(self, name: str) -> Locator:
        """The slider beside that field."""
        return self.element.get_by_role("slider", name=f"{name}, slider", exact=True)

    def choose(self, name: str, option: str) -> None:
        """A list of its form, by its name."""
        self.element.get_by_role("combobox", name=name).first.select_option(label=option)
