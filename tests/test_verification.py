"""Documents given to the checker: what is written verifies, also from before, and what is edited is noticed."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import tightrope as tr
from tightrope import documents, result
from tightrope.errors import DataError, InvalidParameter

OLD = Path(__file__).parent / "reference" / "documents"
RUN = "Laplace(scale=2.0) * 3 + PureDP(epsilon=0.5)"


def written(quantity: str = "epsilon", given: float = 1e-3) -> dict[str, Any]:
    run = tr.parse(RUN)
    bound = run.epsilon(given) if quantity == "epsilon" else run.delta(given)
    name = "delta" if quantity == "epsilon" else "epsilon"
    found: dict[str, Any] = json.loads(result.write([result.Result(repr(run), quantity, {name: given}, bound)], False))
    return found


@pytest.mark.parametrize(("quantity", "given"), [("epsilon", 1e-3), ("delta", 1.0), ("delta", -0.25)])
def test_what_is_written_verifies(quantity: str, given: float) -> None:
    found = tr.verify(json.dumps(written(quantity, given)))
    assert found.proved
    assert found.unchanged is True
    assert (found.count("proved"), found.count("refuted"), found.count("not checkable")) == (2, 0, 0)
    assert pickle.loads(pickle.dumps(found)) == found
    assert str(found).endswith("2 proved, 0 refuted, 0 not checkable; the digest agrees")
    assert json.loads(documents.write(found.document()))["proved"] == 2


def test_a_moved_end_is_never_proved_and_the_digest_may_be_made_anew() -> None:
    document = written()
    width = document["upper"] - document["lower"]
    for end, move in (("lower", width), ("upper", -width)):
        edited = {**document, end: document[end] + move}
        found = tr.verify(json.dumps(edited))
        assert found.unchanged is False
        assert not found.proved
        edited["digest"] = documents.digest(edited)
        again = tr.verify(json.dumps(edited))
        assert again.unchanged is True
        assert [each.verdict for each in again.answers[0].verdicts if each.end == end] == ["refuted"]


def test_another_expression_is_another_question() -> None:
    edited = {**written(), "expression": "Laplace(scale=1.0) * 3 + PureDP(epsilon=0.5)"}
    assert tr.verify(json.dumps(edited)).count("refuted") == 1


@pytest.mark.parametrize("name", ["first_epsilon", "epsilon", "first_calibration", "calibration", "comparison"])
def test_documents_of_before_are_read(name: str) -> None:
    found = tr.verify((OLD / f"{name}.json").read_text("utf-8"))
    assert found.count("refuted") == 0
    assert found.count("proved") >= 2


def test_a_calibration_is_proved_to_meet_its_target_and_its_neighbour_to_miss_it() -> None:
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma) * 10, epsilon=1.0, delta=1e-6)
    document = json.loads(result.calibration(found, 0.1))
    verified = tr.verify(json.dumps(document))
    assert verified.proved
    assert [each.end for answer in verified.answers for each in answer.verdicts] == [
        "lower", "upper", "meets", "lower", "upper", "misses",
    ]  # fmt: skip
    tight = tr.verify(json.dumps({**document, "epsilon": 0.5}))
    assert [each.verdict for each in tight.answers[0].verdicts] == ["proved", "proved", "refuted"]


def test_a_curve_verifies_point_by_point() -> None:
    run = tr.Gaussian(sigma=2.0)
    curve = run.curve(epsilons=[-1.0, 0.0, 1.0])
    results = [
        result.Result(repr(run), "delta", {"epsilon": epsilon}, bound)
        for epsilon, bound in zip(curve.epsilons, curve.bounds, strict=True)
    ]
    done: list[tuple[int, int]] = []
    found = tr.verify(result.write(results, True), told=lambda *step: done.append(step))
    assert found.proved
    assert len(found.answers) == 3
    assert done == [(0, 3), (1, 3), (2, 3)]


def test_a_report_is_read_for_what_it_holds() -> None:
    page = f'<p>x</p><script type="application/json" id="tightrope-result">{json.dumps(written())}</script>'
    assert tr.verify(page).proved


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 1, "results": 3}', '{"schema": 1, "quantity": "epsilon"}'])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        tr.verify(text)


def test_time_is_positive() -> None:
    with pytest.raises(InvalidParameter, match="seconds"):
        tr.verify(json.dumps(written()), seconds=0.0)
