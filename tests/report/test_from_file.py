"""Reports of what was written before: asked again, and refused where the two cannot both be true."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tightrope as tr
from tightrope import result
from tightrope.report.from_file import RESULT_ID, document_of, embedded, questions_of
from tightrope.result import Result

RUN = tr.Gaussian(sigma=2.0) * 3


def asked(delta: float = 1e-6) -> Result:
    return Result(repr(RUN), "epsilon", {"delta": delta}, RUN.epsilon(delta))


def test_the_document_of_a_page_and_of_a_file() -> None:
    text = result.write([asked()], several=False, date="2026-11-16")
    page = f'<p><script type="application/json" id="{RESULT_ID}">{embedded(text)}</script></p>'
    assert result.read(document_of(page)) == result.read(document_of(text)) == (asked(),)
    assert "</" not in embedded("a</script>")


def test_questions_are_those_of_the_file() -> None:
    found = questions_of(result.write([asked(), asked(1e-9)], several=True))
    assert found.deltas == [1e-6, 1e-9]
    assert tr.parse(found.expression) == RUN
    assert found.direction is None
    found.check([asked(), asked(1e-9)])


def test_what_cannot_be_true_is_refused() -> None:
    moved = replace(asked(), bound=tr.Bound(0.5, 0.6, asked().bound.certificate))
    with pytest.raises(tr.DataError, match="not to be believed"):
        questions_of(result.write([moved], several=False)).check([asked()])


def test_other_files_are_refused() -> None:
    delta = Result(repr(RUN), "delta", {"epsilon": 1.0}, RUN.delta(1.0))
    with pytest.raises(tr.DataError, match="has none"):
        questions_of(result.write([delta], several=False))
    with pytest.raises(tr.DataError, match="several"):
        questions_of(result.write([asked(), replace(asked(), expression="Gaussian(sigma=1)")], several=True))
    with pytest.raises(tr.DataError):
        questions_of("<html></html>")
