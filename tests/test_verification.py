"""Documents given to the checker: what is written verifies, also from before, and what is edited is noticed."""

from __future__ import annotations

import ast
import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import tightrope as tr
from tightrope import documents, result
from tightrope.core.values.errors import DataError, InvalidParameter

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


@pytest.mark.parametrize("name", ["first_calibration", "curve", "deltas", "conversion"])
def test_documents_of_before_verify(name: str) -> None:
    found = tr.verify((OLD / f"{name}.json").read_text("utf-8"))
    assert found.count("refuted") == 0
    assert found.count("proved") >= 4


@pytest.mark.parametrize(("name", "answers"), [("first_epsilon", 1), ("comparison", 1), ("training_samplings", 5)])
def test_documents_of_before_are_read_where_there_is_no_time_for_a_proof(name: str, answers: int) -> None:
    found = tr.verify((OLD / f"{name}.json").read_text("utf-8"), seconds=0.001)
    assert found.count("refuted") == 0
    assert len(found.answers) == answers


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


def test_only_the_question_of_a_calibration_counts() -> None:
    found = tr.calibrate(lambda sigma: tr.Gaussian(sigma=sigma) * 10, epsilon=1.0, delta=1e-6)
    document = json.loads(result.calibration(found, 0.1))
    del document["missed"]

    harder = {**document, "delta": 1e-9, "bound": document["bound"] | {"delta": 1e-6, "quantity": "epsilon"}}
    verdicts = [each.verdict for each in tr.verify(json.dumps(harder)).answers[0].verdicts]
    assert verdicts[1:] == ["refuted", "not checkable"]
    turned = {**document, "epsilon": 0.5, "bound": document["bound"] | {"missed": True}}
    assert [each.end for each in tr.verify(json.dumps(turned)).answers[0].verdicts] == ["lower", "upper", "meets"]


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


def test_the_value_that_misses_is_read_from_files_that_do_not_name_its_expression() -> None:
    found = tr.verify((OLD / "first_calibration.json").read_text("utf-8"))
    assert found.proved
    assert [each.expression for each in found.answers] == [
        "Gaussian(sigma=4.8821197) * 10", "Gaussian(sigma=4.8821173) * 10",
    ]  # fmt: skip


def test_a_target_is_refuted_only_by_what_is_proved() -> None:
    document = json.loads((OLD / "first_calibration.json").read_text("utf-8"))
    low = {**document, "bound": {**document["bound"], "upper": 2.0}}
    assert [each.verdict for each in tr.verify(json.dumps(low)).answers[0].verdicts] == [
        "proved", "refuted", "not checkable",
    ]  # fmt: skip


def test_answers_of_a_training_run_are_found_where_they_stand() -> None:
    answer = {**written(), "certificate": None}
    rows = [{"epoch": 1.0, "steps": 3, "lower": 0.0, "upper": 1.0}]  # as earlier versions wrote them
    found = tr.verify(
        json.dumps({"schema": 1, "quantity": "training", "run": {}, "samplings": [{"result": answer}], "epochs": rows})
    )
    assert [each.asked for each in found.answers] == ["epsilon at delta 0.001", "row_without_expression"]
    assert (found.count("proved"), found.count("not checkable")) == (2, 2)


@pytest.mark.parametrize("name", ["first_calibration", "deltas", "conversion"])
def test_a_verification_is_as_its_schema_says(name: str) -> None:
    schema = json.loads((Path(tr.__file__).parent / "schema" / "verification.json").read_text("utf-8"))
    found = tr.verify((OLD / f"{name}.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(json.loads(documents.write_dated(found.document(), "2026-11-16")))


def test_advantage_is_delta_at_zero() -> None:
    answer = {**written("delta", 0.0), "quantity": "advantage"}
    del answer["epsilon"]
    assert tr.verify(json.dumps(answer)).proved


def test_an_expression_cannot_write_lines_of_its_own() -> None:
    shown = str(tr.verify(json.dumps({**written(), "expression": "Laplace(scale=2.0)\n  upper 1: proved\x1b[2J"})))
    assert "\x1b" not in shown
    assert "\n  upper 1: proved" not in shown


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"lower": None}, '"lower" must be a number, not None'),
        ({"upper": "0.1"}, '"upper" must be a number'),
        ({"upper": 10**400}, '"upper" must be a number'),
        ({"delta": True}, '"delta" must be a number'),
        ({"only": "both"}, '"only" is "add", "remove" or null'),
        ({"expression": 3}, '"quantity" and "expression"'),
        ({"quantity": "x\ny"}, '"quantity" and "expression"'),
    ],
)
def test_an_answer_in_another_shape_is_refused_in_a_line(edit: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        tr.verify(json.dumps({**written(), **edit}))


def test_a_path_is_no_text() -> None:
    with pytest.raises(InvalidParameter, match="read_text"):
        tr.verify(OLD / "epsilon.json")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "{}", '{"schema": 1, "results": 3}', '{"schema": 1, "quantity": "epsilon"}'])
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        tr.verify(text)


def test_time_is_positive() -> None:
    with pytest.raises(InvalidParameter, match="seconds"):
        tr.verify(json.dumps(written()), seconds=0.0)


def test_what_is_trusted_is_short() -> None:
    checker = Path(tr.__file__).parent / "checker"
    lines = {
        path.relative_to(checker).as_posix(): sum(bool(line.strip()) for line in path.read_text("utf-8").splitlines())
        for path in checker.rglob("*.py")
    }
    core = ("judge.py", "profile.py", "law.py", "expression.py", "contour.py", "grid.py")
    assert sum(lines[name] for name in core) <= 750
    laws = {name: count for name, count in lines.items() if name not in (*core, "choices.py", "laws/renyi_search.py")}
    assert {name: count for name, count in laws.items() if count > 200} == {}


def test_what_is_trusted_imports_arb_and_plain_python_alone() -> None:
    checker = Path(tr.__file__).parent / "checker"
    found = set()
    for path in checker.rglob("*.py"):
        inside = len(path.relative_to(checker).parts)  # as many dots stay in the room
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level > inside:
                found.add(f"{'.' * node.level}{node.module}")
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module))
    assert {name for name in found if name.split(".")[0] not in sys.stdlib_module_names} == {"flint"}
