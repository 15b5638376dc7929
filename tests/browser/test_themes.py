"""Dark and light: as the machine has it, until somebody chooses; the choice stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from .visits import Visit

RUN = "Gaussian(sigma=2) * 3"
GROUND = {"light": "rgb(243, 246, 248)", "dark": "rgb(15, 23, 30)"}


def ground(visit: Visit) -> str:
    found: str = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_of_the_machine_and_the_toggle(visitor: Callable[..., Visit], scheme: str) -> None:
    other = {"light": "dark", "dark": "light"}[scheme]
    visit = visitor(color_scheme=scheme).open(RUN)
    visit.card().expect_epsilon(RUN)
    assert ground(visit) == GROUND[scheme]
    visit.page.get_by_role("button", name="Dark or light").click()
    expect(visit.page.locator("html")).to_have_attribute("data-theme", other)
    assert ground(visit) == GROUND[other]
    visit.page.reload()
    visit.card().expect_epsilon(RUN)
    assert ground(visit) == GROUND[other]
    visit.page.get_by_role("button", name="Dark or light").click()
    assert ground(visit) == GROUND[scheme]


def test_the_chart_follows_the_theme(visit: Visit) -> None:
    """Its canvas is painted anew: the pixels of the run's line are of the other palette."""
    visit.open(RUN).card().expect_epsilon(RUN)
    visit.wait_for_table()
    painted = """colour => {
        const shown = document.querySelector('#view canvas');
        const copy = new OffscreenCanvas(shown.width, shown.height).getContext('2d', {willReadFrequently: true});
        copy.drawImage(shown, 0, 0);
        const {data} = copy.getImageData(0, 0, shown.width, shown.height);
        for (let at = 0; at < data.length; at += 4)
            if (colour.every((part, place) => data[at + place] === part)) return true;
        return false;
    }"""
    visit.wait(painted, [0x1A, 0x6F, 0xB5])
    visit.page.emulate_media(color_scheme="dark")
    visit.wait(painted, [0x63, 0xB3, 0xF2])
    assert not visit.page.evaluate(painted, [0x1A, 0x6F, 0xB5])


def test_a_theme_does_not_jump_when_the_page_comes(visitor: Callable[..., Visit]) -> None:
    """The chosen theme is there with the first picture: the page is never seen in the other one."""
    visit = visitor().open(RUN)
    visit.page.get_by_role("button", name="Dark or light").click()
    visit.context.add_init_script(
        "window.grounds = []; requestAnimationFrame(function look() {"
        " if (document.body?.children.length > 2) grounds.push(getComputedStyle(document.body).backgroundColor);"
        " if (grounds.length < 60) requestAnimationFrame(look); })"
    )
    visit.page.reload()
    visit.card().expect_epsilon(RUN)
    visit.wait("() => grounds.length > 5")
    assert set(visit.page.evaluate("grounds")) == {GROUND["dark"]}
