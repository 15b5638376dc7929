"""Answers as JSON documents: by their schemas, and read back as they were."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

import tightrope as tr
from tightrope import documents, result
from tightrope.core.planning.comparison import Row
from tightrope.core.planning.methods import METHODS, Kind
from tightrope.core.values.question import ARGUMENTS
from tightrope.result import Result

SCHEMAS = {
    name: json.loads(files("tightrope").joinpath(f"schema/{name}.json").read_text("utf-8"))
    for name in ("result", "comparison", "calibration", "training")
}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}

DAY = "2026-11-16"
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
    written = result.write([found(name)], several=False, date=DAY)
    VALIDATORS["result"].validate(document := json.loads(written))
    assert (document["version"], document["date"]) == (tr.__version__, DAY)
    assert documents.digest_agrees(document)
    (again,) = result.read(written)
    assert again == found(name)
    assert again.seconds == found(name).seconds
    assert again.bound.certificate == found(name).bound.certificate
    assert result.write([again], several=False, date=DAY) == written


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
        ("relation", "replace"),
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
    if value not in (100.0, -3.0, 10**400, 2**53 + 1, "replace"):  # what a schema of types cannot see
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


EARLIER = sorted((Path(__file__).parent / "reference" / "documents").glob("*.json"))


@pytest.mark.parametrize("path", EARLIER, ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read(path: Path) -> None:
    """Each was printed by the version before, or by the first one that wrote any: without date, digest, assumptions."""
    document = documents.read(text := path.read_text("utf-8"), "a result")
    assert documents.digest_agrees(document) is None
    kind = document.get("quantity", "result")
    VALIDATORS.get(path.stem.split("_")[-1], VALIDATORS.get(kind, VALIDATORS["result"])).validate(document)
    if kind not in ("calibration", "training") and "methods" not in document:
        found = result.read(text)
        assert all(each.bound.certificate is not None for each in found)
        again = result.read(result.write(found, several="results" in document))
        assert again == found


def test_an_answer_that_was_changed_is_refused_in_one_line() -> None:
    document = json.loads(result.write([found("contour")], several=False))
    (held,) = result.read(json.dumps(document, indent=2, sort_keys=True))
    assert held == found("contour")
    for path in ("upper", "delta", "date", "seconds"):
        with pytest.raises(tr.DataError, match=r"changed after it was written: .* tightrope verify") as caught:
            result.read(json.dumps({**document, path: math.nextafter(1.0, 2.0)}))
        assert "\n" not in str(caught.value)
    assert documents.read(json.dumps({**document, "upper": 3.0}), "a result", changed=True)["upper"] == 3.0
    del document["digest"]
    assert result.read(json.dumps(document)) == (found("contour"),)


def test_a_calibration_carries_what_a_checker_needs() -> None:
    calibrated = tr.calibrate(
        lambda sigma: tr.Gaussian(sigma=sigma).poisson(rate=0.1) * 3, epsilon=1.0, delta=1e-5, direction="remove"
    )
    document = json.loads(result.calibration(calibrated, 0.5, DAY))
    VALIDATORS["calibration"].validate(document)
    assert documents.digest_agrees(document)
    assert (document["only"], document["relation"]) == ("remove", "add_remove")
    assert "direction remove only; the other one may cost more" in document["assumptions"]
    assert calibrated.missed is not None
    for part, expression in ((document["bound"], document["expression"]), (document["missed"], None)):
        mechanism = tr.parse(expression or part["expression"])
        assert mechanism == (calibrated.missed.mechanism if expression is None else calibrated.mechanism)
        assert part["direction"] == "remove"
        assert set(part["certificate"]["parameters"]) >= {"tilt", "alias_tilt", "step", "nodes"}
        limits = mechanism.epsilon(1e-5, direction="remove", proof=True)
        assert part["lower"] <= limits.upper
        assert limits.lower <= part["upper"]


def test_certificates_hold_the_grids_of_both_ends() -> None:
    parts = found("lattice").document()["certificate"]["parameters"]
    ratio = Fraction(0.7) / (1 - Fraction(0.7))
    assert parts["lattice"]["logarithm"] is True
    assert Fraction(parts["lattice"]["step"]) in (ratio, ratio**2)
    for proof in (False, True):
        bound = (tr.Laplace(scale=2) * 2).delta(0.5, engine="lattice", accuracy=0.01, proof=proof)
        assert bound.certificate is not None
        assert hash(bound.certificate)
        told = documents.plain(bound.certificate.parameters)
        ((start, step, size, levels),) = told["rulers"]
        assert math.frexp(told["unit"])[0] == 0.5
        assert step * 2**levels * told["unit"] == told["step"]
        assert told["points"] == [size]
        assert isinstance(start, int)
        assert ("theta" in told, "bits" in told) == (not proof, proof)
