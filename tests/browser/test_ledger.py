"""The ledger on the page: what it says, that it moves by itself, that it is only read, and that it comes back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tightrope import ledger
from tightrope.explore.lanes import OF_LEDGER
from tightrope.ledger import table
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.operations import WRITES

from .served import Served
from .test_access import NARROW, axe, sticking_out, violations  # noqa: F401  # axe is a fixture
from .test_exports import export
from .visits import Visit

JOB = "Gaussian(sigma=20)"
WHOLE: dict[str, Any] = {"relation": "add_remove", "unit": "one person", "delta": 1e-6}
AWHILE = 10_000  # milliseconds
Visitor = Callable[..., Visit]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "budget.db"


@pytest.fixture
def kept(path: Path) -> Iterator[Ledger]:
    """A tree, one without end, one that is frozen."""
    with ledger.init(f"sqlite:///{path}", principal="boss") as found:
        found.create("census", epsilon=2.0, ceiling=3.0, **WHOLE)
        found.create("census/health", epsilon=1.0, parent="census", **WHOLE)
        found.create("logs", kind="odometer", **WHOLE)
        found.create("old", kind="zcdp", rho=0.5, relation="add_remove", unit="one person")
        with found.spend("census/health", JOB, key="spent"):
            pass
        found.reserve({"census/health": "Laplace(scale=20)"}, key="held")
        found.reserve({"logs": JOB}, key="running", start=True)
        found.freeze("old", "to see it")
        yield found


@pytest.fixture
def showing(kept: Ledger, path: Path) -> Iterator[Served]:
    """An explorer that shows it."""
    served = Served("--ledger", str(path))
    yield served
    served.close()


@pytest.fixture
def look(showing: Served, visitor: Visitor) -> Visitor:
    """Opens contexts of it, which are closed before it is."""
    return partial(visitor, showing)


def shown(visit: Visit, budget: str, *runs: str) -> Visit:
    """The view, with all that belongs to this budget."""
    visit.open(*runs, view="ledger", of=budget)
    expect(visit.page.get_by_role("heading", name=budget)).to_be_visible()
    expect(
        visit.page.get_by_role("region", name="Newest jobs").or_(visit.page.get_by_text("No jobs yet"))
    ).to_be_visible()
    return visit


def words(visit: Visit) -> dict[str, str]:
    """What is said of the budget, by its name."""
    found: dict[str, str] = visit.page.locator("dl.words").evaluate(
        "list => Object.fromEntries([...list.querySelectorAll('dt')]"
        ".map((name) => [name.textContent, name.nextElementSibling.textContent]))"
    )
    return found


def cells(visit: Visit, name: str) -> list[list[str]]:
    """A table, its heading first."""
    found: list[list[str]] = (
        visit.page.get_by_role("region", name=name)
        .locator("table")
        .evaluate("table => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    )
    return found


@pytest.mark.parametrize("name", ["census", "logs", "old"])
def test_a_budget_is_shown_as_the_ledger_says_it(look: Visitor, kept: Ledger, name: str) -> None:
    visit = shown(look(), name)
    status = kept.status(name)
    said = words(visit)
    assert said["promise"] == table.promised(status)
    assert said["odometer"] == table.odometer_words(status)
    assert said["jobs"] == table.state_words(status["jobs"])
    assert [tuple(row) for row in cells(visit, f"Axes of {name}")[1:]] == table.axes_rows(status)[1:]
    expect(visit.page.get_by_role("heading", name=name)).to_have_text(f"{name} {status['state']}")


def test_it_opens_on_the_ledger_where_nothing_else_is_asked(look: Visitor, showing: Served) -> None:
    visit = look()
    visit.page.goto(showing.address)
    expect(visit.page.get_by_role("tab", selected=True)).to_have_text("Ledger")
    expect(visit.page.get_by_role("heading", name="census")).to_be_visible()
    visit.view("δ over ε")
    visit.page.reload()
    expect(visit.page.get_by_role("tab", selected=True)).to_have_text("δ over ε")


def test_a_recovery_is_said_once(look: Visitor, kept: Ledger) -> None:
    kept.recover("old", "to see it again")
    assert cells(shown(look(), "old"), "Newest jobs")[1][0] == "recovery"


def test_a_narrow_page_shows_the_whole_tree(look: Visitor, kept: Ledger) -> None:
    for number in range(8):
        kept.create(f"census/part-{number}", epsilon=0.5, parent="census", **WHOLE)
    visit = shown(look(viewport=NARROW), "census")
    tree = visit.page.get_by_role("navigation", name="Budgets")
    expect(tree.get_by_role("listitem")).to_have_count(12)
    assert tree.evaluate(
        "tree => tree.scrollHeight <= tree.clientHeight && tree.scrollWidth <= tree.clientWidth"
        " && tree.getBoundingClientRect().bottom >= tree.querySelector('li:last-child').getBoundingClientRect().bottom"
    )


def test_the_tree_leads_from_one_to_the_other(look: Visitor, kept: Ledger) -> None:
    visit = look().open(JOB)
    visit.view("Ledger")
    tree = visit.page.get_by_role("navigation", name="Budgets")
    expect(tree.get_by_role("listitem")).to_have_count(4)
    expect(tree.get_by_role("button", name="census/health")).to_contain_text(
        table.used_words(kept.status("census/health"))
    )
    expect(tree.get_by_role("button", name="old")).to_contain_text("frozen")
    expect(tree.locator("[aria-current]")).to_contain_text("census")
    tree.get_by_role("button", name="census/health").press("Enter")
    expect(visit.page.get_by_role("heading", name="census/health")).to_be_visible()
    visit.wait_said("of", ["census/health"])
    assert visit.page.evaluate("document.activeElement.dataset.name") == "census/health"
    assert [row[0] for row in cells(visit, "Newest jobs")[1:]] == ["Laplace(scale=20.0)", "Gaussian(sigma=20.0)"]


def test_what_others_spend_is_seen_by_itself(look: Visitor, kept: Ledger) -> None:
    visit = shown(look(), "census/health")
    before = words(visit)["jobs"]
    with kept.spend("census/health", JOB, key="meanwhile"):
        pass
    expect(visit.page.locator("dl.words")).not_to_contain_text(before)
    assert words(visit)["jobs"] == table.state_words(kept.status("census/health")["jobs"])
    expect(visit.page.get_by_role("region", name="Newest jobs").get_by_role("row")).to_have_count(4)


def ledger_asks(visit: Visit, since: int) -> list[str]:
    """What was asked of the ledger since this request."""
    return [each.asked["kind"] for each in visit.questions(since) if each.asked["kind"] in OF_LEDGER]


def test_refresh_asks_for_everything_anew(look: Visitor) -> None:
    visit = shown(look(), "census")
    with visit.page.expect_request(lambda each: '"asked":1' in (each.post_data or "")) as asked:
        visit.page.get_by_role("button", name="Refresh").click()
    assert json.loads(asked.value.post_data or "")["question"]["kind"] == "ledger-past"


def test_it_is_asked_while_it_is_looked_at_and_not_else(look: Visitor) -> None:
    """By a clock that is moved: of another view, and of a page that nobody sees, nothing is asked."""
    visit = look()
    visit.page.clock.install()
    visit.page.add_init_script("Object.defineProperty(document, 'hidden', {get: () => Boolean(window.unseen)})")
    shown(visit, "census", JOB)
    visit.card().expect_epsilon(JOB)
    with visit.page.expect_request(lambda each: '"kind":"ledger"' in (each.post_data or "")) as asked:
        visit.page.clock.fast_forward(AWHILE)
    asked.value.response()
    visit.view("Error budget")
    since = len(visit.requests)
    visit.page.clock.fast_forward(AWHILE)
    with visit.page.expect_request("**/api/alive"):
        visit.page.clock.fast_forward(AWHILE)
    assert ledger_asks(visit, since) == []
    with visit.page.expect_response(lambda each: '"kind":"ledger"' in (each.request.post_data or "")) as answered:
        visit.view("Ledger")
    answered.value.finished()
    visit.page.evaluate("window.unseen = true")
    visit.page.clock.fast_forward(AWHILE)
    since = len(visit.requests)
    visit.page.clock.fast_forward(AWHILE)
    visit.page.clock.fast_forward(AWHILE)
    assert ledger_asks(visit, since) == []
    with visit.page.expect_request(lambda each: '"kind":"ledger"' in (each.post_data or "")):
        visit.page.evaluate("window.unseen = false; document.dispatchEvent(new Event('visibilitychange'))")
        visit.page.clock.fast_forward(1000)


def test_how_many_more_like_the_run(look: Visitor, kept: Ledger) -> None:
    visit = shown(look(), "census/health", JOB)
    visit.card().expect_epsilon(JOB)
    ask = visit.page.get_by_role("button", name="How many more")
    ask.click()
    more = kept.quote("census/health", JOB).more
    expect(visit.page.locator(".more-box")).to_contain_text(f"how many more like this: {more} (Gaussian(sigma=20.0))")
    visit.card().editor.fill("Gaussian(sigma=0.1)")
    visit.card().expect_epsilon("Gaussian(sigma=0.1)")
    expect(visit.page.locator(".more-box")).not_to_contain_text("how many more like this")  # of another run
    ask.click()
    expect(visit.page.locator(".more-box")).to_contain_text("how many more like this: 0")


def test_nothing_that_writes_is_asked_or_answered(look: Visitor, kept: Ledger) -> None:
    """All that the page asks reads; whoever runs in it can ask for nothing else."""
    before = {root: len(list(kept.audit(root))) for root in ("census", "logs", "old")}
    visit = shown(look(), "census/health", JOB)
    visit.card().expect_epsilon(JOB)
    visit.page.get_by_role("button", name="How many more").click()
    expect(visit.page.locator(".more-box table")).to_be_visible()
    asked = {each.asked["kind"] for each in visit.questions() if each.spot.startswith("ledger")}
    assert asked == set(OF_LEDGER)
    refusals: list[str] = visit.page.evaluate(
        """async ([names, token]) => Promise.all(names.map(async (kind) => {
            const question = {kind, name: 'census', jobs: {census: 'Gaussian(sigma=20)'}, root: 'census', why: 'x'};
            const body = JSON.stringify({client: 'hostile', spot: kind, question});
            const headers = {'content-type': 'application/json', 'x-tightrope-token': token};
            return (await (await fetch('/api/ask', {method: 'POST', headers, body})).json()).error;
        }))""",
        [list(WRITES), visit.server.token],
    )
    assert all("the page asks for" in each for each in refusals)
    assert {root: len(list(kept.audit(root))) for root in before} == before


def test_a_ledger_that_is_away_is_told_and_comes_back(look: Visitor, kept: Ledger, path: Path) -> None:
    kept.close()
    away = path.with_suffix(".away")
    path.rename(away)
    visit = look().open(JOB, view="ledger")
    trouble = visit.page.locator("#view .error")
    expect(trouble).to_contain_text("there is no ledger at")
    visit.card().expect_epsilon(JOB)  # all else is answered
    away.rename(path)
    expect(visit.page.get_by_role("heading", name="census")).to_be_visible()
    expect(trouble).to_be_hidden()


def test_what_the_view_saves(look: Visitor, kept: Ledger) -> None:
    visit = shown(look(), "census")
    rows = list(csv.reader(io.StringIO(export(visit, "CSV").decode())))
    assert rows[0] == ["axis", "time", "milliseconds", "low", "high", "unit"]
    assert {row[0] for row in rows[1:]} == {axis["name"] for axis in table.telling(kept.status("census"))}
    assert json.loads(export(visit, "JSON"))["name"] == "census"
    assert b"time (UTC)" in export(visit, "SVG")


def test_without_a_ledger_nothing_of_it_is_seen(visit: Visit) -> None:
    visit.open(JOB, view="ledger", of="census")
    visit.card().expect_epsilon(JOB)
    expect(visit.page.get_by_role("tab", name="Ledger")).to_have_count(0)
    expect(visit.page.get_by_role("tab", selected=True)).to_have_text("δ over ε")
    assert not [each for each in visit.questions() if each.asked["kind"] in OF_LEDGER]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [{"width": 1280, "height": 900}, NARROW], ids=["wide", "narrow"])
def test_everybody_can_read_it(
    look: Visitor,
    axe: str,  # noqa: F811
    scheme: str,
    viewport: dict[str, int],
) -> None:
    visit = shown(look(color_scheme=scheme, viewport=viewport), "census", JOB)
    visit.card().expect_epsilon(JOB)
    visit.page.get_by_role("button", name="How many more").click()
    expect(visit.page.locator(".more-box table")).to_be_visible()
    assert violations(visit, axe) == []
    assert sticking_out(visit) == []
    visit.page.get_by_role("button", name="old").click()
    expect(visit.page.get_by_role("heading", name="old")).to_be_visible()
    expect(visit.page.get_by_text("No jobs yet")).to_be_visible()
    assert violations(visit, axe) == []
