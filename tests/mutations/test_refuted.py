"""The checker refutes what a fault makes us say; `python -m benchmarks.faults_refuted` asks about all faults."""

from __future__ import annotations

import pytest

from benchmarks.faults_refuted import Asked, checked, forked, truth, under, wrong

from .test_faults import FAULTS

# A fault, and a question that has a wrong answer under it.
WRONG: tuple[tuple[str, Asked], ...] = (
    ("a look at the last node", ("Gaussian(sigma=2) * 3", "delta", 1.0, {"engine": "contour"})),
    ("wrap-around counted in the lower end", ("Gaussian(sigma=2) * 3", "delta", 1.0, {"engine": "lattice"})),
    ("loss before epsilon taken", ("DiscreteGaussian(sigma=2) * 4", "delta", 1.0, {})),
)


@pytest.mark.parametrize(("name", "question"), WRONG, ids=[name for name, _ in WRONG])
def test_what_a_fault_says_wrongly_is_refuted(name: str, question: Asked) -> None:
    fault = next(each for each in FAULTS if each.name == name)
    answers = forked(lambda: under(fault, (question,), own=False), 60.0)  # a process keeps nothing of the fault
    ends = [(answer, end) for answer in answers if (end := wrong(answer, truth(answer.question)))]
    assert ends, "the fault no longer makes this answer wrong"
    for answer, end in ends:
        assert checked(answer.document, end) == "refuted"
