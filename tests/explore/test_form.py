"""A text and its form say the same: what stands in a field is what was typed."""

from __future__ import annotations

from typing import Any

import pytest

import tightrope as tr
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS
from tightrope.explore.form import form_of
from tightrope.explore.menu import menu

TEXTS = [
    "  Gaussian(sigma=1).poisson(rate=256/60000) * 1000 + 2*Laplace(10)",
    "(Gaussian(sigma=3) * sqrt(100)).poisson(rate=0.01).named('a b')",
    "parallel(Gaussian(1, name='ü'), Laplace(scale=2*3) * 2)",
    "3 * (2 * Gaussian(sigma=1))",
    "Gaussian(sigma=(1+2)*3) * (1 + 2) * 2",
    "(Gaussian(sigma=1) + Laplace(scale=2)) * 3 + PureDP(epsilon=.1)",
    "training(records=60000, batch=256, epochs=15, sigma=1.1, sampling='fixed')",
    *(make.example for make in (*MECHANISMS.values(), *TRANSFORMS.values())),
]


def written(node: dict[str, Any]) -> str:
    """The form as text: what the page writes, in the plainest way."""
    if node["kind"] == "leaf":
        text = f"{node['name']}({given(node)})"
    elif node["kind"] == "parallel":
        text = f"parallel({', '.join(map(written, node['parts']))})"
    else:
        text = f"({' + '.join(f'({written(part)})' for part in node['parts'])})"
    for chip in node["chips"]:
        if chip["kind"] == "count":
            text = f"({text} * ({chip['text']}))"
        elif chip["kind"] == "name":
            text = f"{text}.named({chip['text']!r})"
        else:
            text = f"{text}.{chip['name']}({given(chip)})"
    return text


def given(call: dict[str, Any]) -> str:
    return ", ".join(f"{each['name']}={each['text']}" for each in call["arguments"])


def arguments(node: dict[str, Any]) -> list[dict[str, Any]]:
    """Every field of a form."""
    found = [*node.get("arguments", ())]
    for part in node.get("parts", ()):
        found += arguments(part)
    for chip in node["chips"]:
        found += [chip] if chip["kind"] == "count" else chip.get("arguments", [])
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_a_form_written_down_is_the_run(text: str) -> None:
    run = tr.parse(text)
    assert tr.parse(written(form_of(text))) == run


def test_an_unknown_is_a_field() -> None:
    (field,) = arguments(form_of("Gaussian(sigma=?)"))
    assert field == {"name": "sigma", "text": "?"}


def test_numbers_stay_as_they_were_typed() -> None:
    form = form_of("Gaussian(sigma=1).poisson(rate=256/60000) * (15*60000/300)")
    assert [field["text"] for field in arguments(form)] == ["1", "256/60000", "15*60000/300"]


def test_the_menu_offers_everything_with_values_to_begin_with() -> None:
    offered = menu()
    names = [each["name"] for section in offered["sections"] for each in section["mechanisms"]]
    assert sorted(names) == sorted(MECHANISMS)
    assert [each["name"] for each in offered["transformations"]] == list(TRANSFORMS)
    for section in offered["sections"]:
        for each in section["mechanisms"]:
            text = f"{each['name']}({', '.join(f'{name}={value}' for name, value in each['starts'].items())})"
            assert isinstance(tr.parse(text), MECHANISMS[each["name"]])
    for each in offered["transformations"]:
        needed = {item["name"] for item in each["takes"] if item["needed"]}
        assert needed <= set(each["starts"])
    for text in offered["opening"]:
        tr.parse(text)
