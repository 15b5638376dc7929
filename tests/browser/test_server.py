"""The server behind the page: it goes and comes back, wants its token, and one run never waits for another."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from playwright.sync_api import Error, Route, expect

from .served import Served
from .visits import Visit

RUN, OTHER = "Gaussian(sigma=2) * 3", "Laplace(scale=10) * 10"
HARD = "training(records=60000, batch=256, epochs=15, sigma=0.3, sampling='allocated')"


def test_a_killed_server_is_noticed_and_comes_back(visitor: Callable[..., Visit]) -> None:
    first = Served()
    visit = visitor(first).open(RUN)
    visit.expected = ("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_INCOMPLETE")
    card = visit.card()
    card.expect_epsilon(RUN)
    visit.wait_for_table()
    first.kill()
    gone = visit.page.get_by_role("alert").filter(has_text="The explorer has stopped")
    expect(gone).to_be_visible()
    command = f"tightrope explore --port {first.port} --token {first.token} --no-browser"
    expect(gone.locator("code")).to_have_text(command)
    card.expect_epsilon(RUN)  # what was there is still there
    card.editor.fill(OTHER)
    second = Served(*command.split()[2:-1])
    try:
        expect(gone).to_be_hidden()
        card.expect_epsilon(OTHER)
        card.editor.fill("Gaussian(sigma=7)")
        card.expect_epsilon("Gaussian(sigma=7)")
        visit.context.close()
    finally:
        second.close()


def test_a_hard_run_does_not_delay_another(visit: Visit) -> None:
    """The other run has its number while the hard one is still being answered."""
    visit.open(HARD, RUN)
    hard, easy = visit.card(0), visit.card(1)
    easy.expect_epsilon(RUN)
    assert hard.result.get_attribute("aria-busy") != "false"
    easy.editor.fill(OTHER)
    easy.expect_epsilon(OTHER)
    expect(hard.editor).to_have_value(HARD)


def test_a_new_text_takes_the_place_of_a_hard_one(visit: Visit) -> None:
    """Whoever changes a hard run does not wait for what is not wanted any more."""
    card = visit.open(HARD).card()
    visit.wait("() => document.querySelector('.result')?.getAttribute('aria-busy') === 'true'")
    for sigma in (2, 3, 4):
        card.editor.fill(f"Gaussian(sigma={sigma})")
    card.expect_epsilon("Gaussian(sigma=4)")
    visit.wait_for_table()


def test_while_a_new_answer_is_on_its_way_the_old_one_is_marked(visit: Visit) -> None:
    """A number beside a text that it does not belong to is said to be busy, and cannot be copied."""
    card = visit.open(RUN).card()
    card.expect_epsilon(RUN)
    held: list[Route] = []
    visit.page.route("**/api/ask", lambda route: held.append(route))
    card.editor.fill(OTHER)
    visit.wait_said("run", [OTHER])
    expect(card.result).to_have_attribute("aria-busy", "true")
    assert card.element.get_by_role("button", name="Copy as command").is_disabled()
    visit.page.unroute("**/api/ask")
    for route in held:
        with suppress(Error):  # one that the page has given up
            route.continue_()
    card.expect_epsilon(OTHER)


@pytest.mark.parametrize("address", ["/", "/?token=another-token-than-the-server-has"])
def test_without_its_token_there_is_no_page(visit: Visit, server: Served, address: str) -> None:
    visit.expected = ("403",)
    reply = visit.page.goto(server.origin + address)
    assert reply is not None
    assert reply.status == 403
    assert "token" in reply.text()


def test_nothing_of_elsewhere_may_be_loaded_or_run(visit: Visit) -> None:
    """The policy that every answer carries."""
    reply = visit.page.goto(visit.server.page)
    assert reply is not None
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
