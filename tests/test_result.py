"""Answers as JSON documents: by their schemas, and read back as they were."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import tightrope as tr
from tightrope import result
from tightrope.compare.comparison import Row
from tightrope.compare.methods import METHODS, Kind
from tightrope.question import ARGUMENTS
from tightrope.result import Result

SCHEMAS = {
    name: json.loads(files("tightrope").joinpath(f"schema/{name}.json").read_text("utf-8"))
    for name in ("result", "comparison", "calibration")
}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}

RUN = tr.Gaussian(sigma=1.0).poisson(rate=0.1) * 3
FEW = tr.RandomizedResponse(p=0.7) * 3
DRAWN = tr.Histograms(a=[900, 100], b=[880, 120], confidence=0.95)
JOINT = (tr.Gaussian(sigma=2) + tr.Laplace(scale=5)).poisson(rate=0.1)
ASKED: dict[str, Callable[[], Result]] = {
    "contour": lambda: Result(repr(RUN), "epsilon", {"delta": 1e-6}, RUN.epsilon(1e-6), 0.25),
    "proof": lambda: Result(repr(RUN), "delta", {"epsilon": 1.0}, RUN.delta(1.0, proof=True)),
    "lattice": lambda: Result(repr(FEW), "delta", {"epsilon": 1.0}, FEW.delta(1.0, engine="lattice")),
    "below 0": lambda: Result(repr(RUN), "delta", {"epsilon": -0.1}, RUN.delta(-0.1)),
    "loss below 0": lambda: Result(repr(FEW), "loss_cdf", {"t": -0.1}, FEW.loss_cdf(-0.1)),
    "pdp below 0": lambda: Result(repr(FEW), "pdp", {"epsilon": -0.1}, FEW.pdp(-0.1)),
    "at -inf": lambda: Result(repr(RUN), "delta", {"epsilon": -math.inf}, RUN.delta(-math.inf)),
    "one way": lambda: Result(
        repr(RUN), "delta", {"epsilon": 1.0}, RUN.delta(1.0, direction="add"), 0.0, tr.Direction.ADD
    ),
    "renyi": lambda: Result(repr(RUN), "renyi", {"order": math.inf}, RUN.renyi(math.inf)),
    "infinite": lambda: Result(
        "RandomizedResponse(p=1)", "epsilon", {"delta": 0.1}, tr.RandomizedResponse(p=1).epsilon(0.1)
    ),
    "drawn": lambda: Result("", "epsilon", {"delta": 0.1}, DRAWN.epsilon(0.1)),
    "wide": lambda: Result(repr(RUN), "epsilon", {"delta": 1e-6}, RUN.epsilon(1e-6, engine="buckets", seconds=0.01)),
    "joint": lambda: Result("", "delta", {"epsilon": 0.1}, JOINT.delta(0.1)),
}


@cache
def found(name: str) -> Result:
    """The result of that name: asked by the first test that looks at it, not by whoever lists the tests."""
    return ASKED[name]()


@pytest.mark.parametrize("name", ASKED)
def test_a_result_is_read_back_as_it_was(name: str) -> None:
    written = result.write([found(name)], several=False)
    VALIDATORS["result"].validate(json.loads(written))
    (again,) = result.read(written)
    assert again == found(name)
    assert again.seconds == found(name).seconds
    assert again.bound.certificate == found(name).bound.certificate
    assert result.write([again], several=False) == written


def test_several_results_are_a_list() -> None:
    written = result.write([found(name) for name in ASKED], several=True)
    VALIDATORS["result"].validate(json.loads(written))
    assert result.read(written) == tuple(found(name) for name in ASKED)


def changed(path: str, value: object) -> dict[str, Any]:
    """A document with another value at the place that the path names; ... takes it out."""
    document = copy.deepcopy(found("contour").document())
    *parents, key = path.split(".")
    inner = document
    for parent in parents:
        inner = inner[parent]
    inner[key] = value
    if value is ...:
        del inner[key]
    return {"schema": 1, **document}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("lower", 100.0),
        ("lower", -3.0),
        ("lower", 10**400),
        ("upper", 2**53 + 1),
        ("lower", True),
        ("tight", "yes"),
        ("confidence", "x"),
        ("upper", "large"),
        ("upper", ...),
        ("quantity", "gamma"),
        ("delta", ...),
        ("direction", "up"),
        ("only", "down"),
        ("expression", 3),
        ("certificate", None),
        ("certificate.relation", "swap"),
        ("certificate.budget.upper", {"friction": 1.0}),
        ("certificate.budget.upper", [1.0]),
        ("certificate.parameters", 3),
    ],
)
def test_what_is_no_result_is_refused(path: str, value: object) -> None:
    document = changed(path, value)
    with pytest.raises(tr.DataError) as caught:
        result.read(json.dumps(document))
    assert "\n" not in str(caught.value)
    if value not in (100.0, -3.0, 10**400, 2**53 + 1):  # what a schema of types cannot see
        with pytest.raises(ValidationError):
            VALIDATORS["result"].validate(document)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', '{"schema": 1, "results": 3}', '{"schema": 2}'])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(tr.DataError):
        result.read(text)


def test_a_bound_without_a_certificate_has_no_document() -> None:
    with pytest.raises(tr.InvalidParameter, match="certificate"):
        Result("", "delta", {"epsilon": 1.0}, tr.Bound(0.0, 1.0)).document()


def test_the_schema_knows_every_quantity_and_kind() -> None:
    quantities = SCHEMAS["result"]["$defs"]["result"]["oneOf"]
    assert {each["properties"]["quantity"]["const"]: tuple(each["required"]) for each in quantities} == ARGUMENTS
    kinds = SCHEMAS["comparison"]["$defs"]["method"]["properties"]["kind"]["enum"]
    assert kinds == [each.value for each in Kind if each is not Kind.INTERVAL]


def test_certificates_name_the_relation_of_neighbours() -> None:
    sampled, open_, mixed = RUN.delta(1.0), tr.Gaussian(sigma=1).delta(1.0), (RUN + tr.PureDP(epsilon=0.1)).renyi(2)
    for bound, relation, words in (
        (sampled, tr.Relation.ADD_REMOVE, "one record is added or removed"),
        (open_, None, "whatever each mechanism calls so"),
        (mixed, tr.Relation.ADD_REMOVE, "one record is added or removed"),
    ):
        assert bound.certificate is not None
        assert bound.certificate.relation is relation
        assert words in str(bound.certificate)


def test_comparisons_obey_their_schema() -> None:
    compared = tr.compare(tr.RandomizedResponse(p=0.6) * 20, epsilon=1.0)
    one = json.loads(result.comparisons([compared], several=False))
    VALIDATORS["comparison"].validate(one)
    assert (one["quantity"], one["epsilon"]) == ("delta", 1.0)
    assert [each["method"] for each in one["methods"]] == [row.method for row in compared.rows]
    assert len(one["methods"]) == len(METHODS)
    leaky = tr.compare(tr.ApproximateDP(epsilon=1.0, delta=0.1), delta=1e-3)
    several = json.loads(result.comparisons([compared, leaky], several=True))
    VALIDATORS["comparison"].validate(several)
    assert several["results"][1]["lower"] == "inf"
    assert set(one["methods"][0]) == set(Row.__slots__)
    one["methods"][0]["kind"] = "rumour"
    with pytest.raises(ValidationError):
        VALIDATORS["comparison"].validate(one)
