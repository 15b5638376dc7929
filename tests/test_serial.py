"""Mechanisms as JSON: both ways, by the schema, and what is refused."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope.core.text.registry import MECHANISMS, TRANSFORMS

SCHEMA = json.loads(files("tightrope").joinpath("schema/mechanism.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)

MECHANISMS_WRITTEN = [
    *(tr.parse(make.example) for make in (*MECHANISMS.values(), *TRANSFORMS.values())),
    tr.Gaussian(sigma=0.1, sensitivity=3),
    tr.Gaussian(sigma=1).poisson(rate=0.01) * 10**9 + tr.Laplace(scale=1 / 3),
    (tr.Gaussian(sigma=1) * 2 + tr.Gaussian(sigma=2)).poisson(rate=1e-8),
    tr.Gaussian(sigma=5e-324),
    tr.compose([]),
]

LEAF = {"mechanism": "Gaussian", "parameters": {"sigma": 1.0}}

REFUSED = {
    "": "not JSON",
    "{": "not JSON",
    "[" * 10_000: "nested more than 100",
    '{"a":' * 10_000 + "1" + "}" * 10_000: "nested more than 100",
    '["' + '\\"[' * 10_000: "not JSON",
    "[" + '"[", ' * 10_000 + "1]": "schema 1",
    "1": "schema 1",
    "null": "schema 1",
    "[]": "schema 1",
    "{}": "schema 1",
    '{"schema": 2, "run": {}}': "schema 1",
    '{"schema": true, "run": {}}': "schema 1",
    '{"schema": "1", "run": {}}': "schema 1",
    '{"schema": 1}': "keys run, schema",
    '{"schema": 1, "run": {}}': "a mechanism is",
    '{"schema": 1, "run": [1]}': "a mechanism is",
    '{"schema": 1, "run": {}, "more": 1}': "keys run, schema",
    '{"schema": 1, "schema": 1, "run": {}}': "'schema' is repeated",
    '{"schema": 1, "run": NaN}': "NaN is not JSON",
    '{"schema": 1, "run": -Infinity}': "not JSON",
    '{"schema": 1, "run": {"mechanism": "Gaussian", "parameters": {"sigma": 1e999}}}': "range of a double",
    '{"schema": 1, "run": {"mechanism": "Gaussian", "parameters": {"sigma": ' + "9" * 400 + "}}}": "range of a double",
    '{"schema": 1, "run": {"mechanism": "Gaussian", "parameters": {"sigma": ' + "9" * 5000 + "}}}": "range of a double",
    '{"schema": 1, "run": {"mechanism": "Gaussian", "parameters": {"sigma": 1, "sigma": 2}}}': "'sigma' is repeated",
}

REFUSED_TREES: list[tuple[Any, str]] = [
    ({"mechanism": "Gaussian"}, "keys mechanism, parameters"),
    ({"mechanism": "Gausian", "parameters": {}}, "did you mean Gaussian?"),
    ({"mechanism": ["Gaussian"], "parameters": {}}, "name (text)"),
    ({"mechanism": "Gaussian", "parameters": []}, "name (text)"),
    ({"mechanism": "Gaussian", "parameters": {}}, "needs sigma"),
    ({"mechanism": "Gaussian", "parameters": {"sgma": 1}}, "did you mean sigma?"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": "one"}}, "must be a number"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": True}}, "must be a number"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": None}}, "must be a number"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": -1}}, "sigma must be"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": "inf"}}, "sigma must be"),
    ({"mechanism": "Finite", "parameters": {"p": [0.5, [0.5]], "q": [0.5, 0.5]}}, "must be a number"),
    ({"mechanism": "Finite", "parameters": {"p": [0.5, 0.6], "q": [0.5, 0.5]}}, "must sum to 1"),
    ({"shuffel": {"of": LEAF}}, "unknown transformation 'shuffel'"),
    ({"poisson": LEAF}, '"of"'),
    ({"poisson": 3}, '"of"'),
    ({"poisson": {"of": LEAF}}, "needs rate"),
    ({"poisson": {"rate": 2, "of": LEAF}}, "rate must lie in [0, 1]"),
    ({"poisson": {"rate": 0.1, "base": 1, "of": LEAF}}, "it takes rate"),
    ({"mechanism": "Gaussian", "parameters": {"sigma": 1, "name": "x"}}, "name of a Gaussian stands beside"),
    ({"poisson": {"rate": 0.1, "name": "x", "of": LEAF}}, "name of a poisson stands beside"),
    ({**LEAF, "name": None}, "a name is a text, not NoneType"),
    ({**LEAF, "name": ["x"]}, "a name is a text, not list"),
    ({**LEAF, "name": ""}, "1 to 100 printable"),
    ({**LEAF, "name": "x\n"}, "1 to 100 printable"),
    ({"name": "x"}, "a mechanism is"),
    ({"name": "x", "of": LEAF}, "'of'"),
    ({"compose": LEAF}, "a list"),
    ({"compose": [LEAF]}, "keys count, of"),
    ({"compose": [3]}, "a list"),
    ({"compose": [], "poisson": {}}, "keys compose"),
    ({"compose": [{"count": -1, "of": LEAF}]}, "count must be"),
    ({"compose": [{"count": 1.5, "of": LEAF}]}, "count must be"),
    ({"compose": [{"count": "inf", "of": LEAF}]}, "count must be"),
]


@pytest.mark.parametrize("mechanism", MECHANISMS_WRITTEN, ids=repr)
def test_what_is_written_comes_back_and_obeys_the_schema(mechanism: tr.Mechanism) -> None:
    text = tr.dump(mechanism)
    VALIDATOR.validate(json.loads(text))
    assert tr.load(text) == mechanism
    assert "\n" not in text


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text[:60]))
def test_text_that_is_no_document_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(tr.DataError) as caught:
        tr.load(text)
    assert REFUSED[text] in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("tree", "message"), REFUSED_TREES, ids=lambda value: repr(value)[:60])
def test_trees_that_are_no_mechanism_are_refused_in_one_line(tree: Any, message: str) -> None:
    with pytest.raises(tr.DataError) as caught:
        tr.load(json.dumps({"schema": 1, "run": tree}))
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_nesting_is_limited_where_json_itself_would_allow_more() -> None:
    tree: Any = LEAF
    for _ in range(150):
        tree = {"poisson": {"rate": 1, "of": tree}}
    with pytest.raises(tr.DataError, match="nested more than 100"):
        tr.load(json.dumps({"schema": 1, "run": tree}))


def test_bytes_and_other_things_are_refused() -> None:
    with pytest.raises(tr.DataError):
        tr.load(None)  # type: ignore[arg-type]
    with pytest.raises(tr.DataError):
        tr.load(b"\xff\xfe\xfd")  # type: ignore[arg-type]


def test_the_schema_file_knows_every_transformation() -> None:
    VALIDATOR.check_schema(SCHEMA)
    assert list(TRANSFORMS) == SCHEMA["$defs"]["transformation"]["enum"]
