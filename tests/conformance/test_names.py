"""Every mechanism takes a name, keeps it in text, JSON and pickles, and answers as it does without one."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tests.conformance.cases import ROWS
from tightrope.core.mechanisms.base import Leaf
from tightrope.core.mechanisms.composition import Transformation
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS

SCHEMA = Path(tr.__file__).parent / "schema" / "mechanism.json"
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
FIRST = {type(row.mechanism).__name__: row.mechanism for row in reversed(ROWS)}
NAME = 'it\'s "GM1" * 3 \\ ? é µ 漢 $x_1$ <b> %s {0}'


def in_text(mechanism: tr.Mechanism) -> bool:
    return all(type(leaf).__name__ in MECHANISMS for leaf, _ in mechanism.parts)


def check(named: tr.Mechanism, plain: tr.Mechanism) -> None:
    """Equal to itself by every way there and back, and to no mechanism of another name."""
    ways = [pickle.loads(pickle.dumps(named)) if in_text(named) else named, copy.copy(named), copy.deepcopy(named)]
    if in_text(named):
        ways += [tr.parse(repr(named)), tr.load(tr.dump(named))]
        VALIDATOR.validate(json.loads(tr.dump(named)))
    for again in ways:
        assert again == named
        assert hash(again) == hash(named)
        assert repr(again) == repr(named)
        assert again.name == named.name == named.label
    assert named != plain
    assert named != named.named("another")
    assert named.named("another").named(named.name) == named
    assert named.nameless == plain.nameless == named.named(None).nameless
    assert named.terms == plain.terms
    assert dict(named.parameters) == dict(plain.parameters)
    assert "name" not in named.parameters


@pytest.mark.parametrize("kind", FIRST)
def test_every_mechanism_takes_a_name(kind: str) -> None:
    plain = FIRST[kind]
    assert isinstance(plain, Leaf)
    named = type(plain)(**plain.parameters, name=NAME)
    assert named == plain.named(NAME)
    check(named, plain)
    taken = inspect.signature(type(plain)).parameters
    assert taken["name"].kind is inspect.Parameter.KEYWORD_ONLY
    assert taken["name"].default is plain.name is None
    with pytest.raises(tr.InvalidParameter, match="name must be a text"):
        type(plain)(**plain.parameters, name=5)


def takes(make: type[Transformation], base: tr.Mechanism) -> bool:
    """Whether a transformation is for this base: shuffling, for one, is for bounded losses only."""
    try:
        replace(tr.parse(make.example), base=base)  # type: ignore[call-arg]
    except tr.InvalidParameter:
        return False
    return True


@pytest.mark.parametrize("kind", FIRST)
@pytest.mark.parametrize("call", TRANSFORMS)
def test_every_transformation_takes_a_name(kind: str, call: str) -> None:
    make = TRANSFORMS[call]
    example = tr.parse(make.example)
    assert isinstance(example, make)
    if kind in MECHANISMS and takes(make, FIRST[kind]):
        plain = replace(example, base=FIRST[kind])
        check(make(**{**plain.arguments, "base": plain.base, "name": NAME}), plain)
        check(plain.named(NAME), plain)
        check((plain * 3).named(NAME), plain * 3)
        inside = replace(plain, base=plain.base.named(NAME))
        assert inside != plain
        assert inside.nameless == plain
        assert tr.parse(repr(inside)) == tr.load(tr.dump(inside)) == inside


@pytest.mark.parametrize("kind", FIRST)
def test_a_name_changes_no_answer(kind: str) -> None:
    plain = FIRST[kind]
    once, found = plain.delta(0.25), plain.named("a").delta(0.25)
    assert found == once
    assert found.certificate is not None
    assert once.certificate is not None
    assert found.certificate.label == "a"
    assert replace(found.certificate, label="") == once.certificate
    assert (plain.named("a") + plain.named("b")).terms == (plain * 2).terms
