"""Every fault on the lists is noticed by the test that it names, and without the fault that test passes.

Noticed is also what contradicts another bound by itself: the question is not answered then.
"""

from __future__ import annotations

import pytest

import tightrope as tr

from . import (
    accountant_faults,
    adaptive_faults,
    allocation_faults,
    attack_faults,
    bucket_faults,
    chain_faults,
    contour_faults,
    engine_faults,
    gaussian_faults,
    graded_faults,
    integer_faults,
    lattice_faults,
    loss_faults,
    mixture_faults,
    name_faults,
    noisy_max_faults,
    own_faults,
    participation_faults,
    plan_faults,
    points_faults,
    reading_faults,
    renyi_faults,
    renyi_only_faults,
    response_faults,
    sampling_faults,
    selection_faults,
    shuffle_faults,
    shuffled_batches_faults,
    smooth_faults,
    sparse_vector_faults,
    stability_faults,
    sweep_faults,
    target_faults,
    training_faults,
    tree_faults,
    truncated_faults,
    variance_faults,
)
from .contour_faults import Fault

FAULTS = (
    *contour_faults.FAULTS,
    *attack_faults.FAULTS,
    *lattice_faults.FAULTS,
    *graded_faults.FAULTS,
    *smooth_faults.FAULTS,
    *engine_faults.FAULTS,
    *bucket_faults.FAULTS,
    *own_faults.FAULTS,
    *points_faults.FAULTS,
    *name_faults.FAULTS,
    *noisy_max_faults.FAULTS,
    *truncated_faults.FAULTS,
    *loss_faults.FAULTS,
    *training_faults.FAULTS,
    *tree_faults.FAULTS,
    *adaptive_faults.FAULTS,
    *mixture_faults.FAULTS,
    *sampling_faults.FAULTS,
    *allocation_faults.FAULTS,
    *chain_faults.FAULTS,
    *selection_faults.FAULTS,
    *shuffle_faults.FAULTS,
    *shuffled_batches_faults.FAULTS,
    *stability_faults.FAULTS,
    *sweep_faults.FAULTS,
    *renyi_faults.FAULTS,
    *renyi_only_faults.FAULTS,
    *gaussian_faults.FAULTS,
    *integer_faults.FAULTS,
    *target_faults.FAULTS,
    *reading_faults.FAULTS,
    *response_faults.FAULTS,
    *participation_faults.FAULTS,
    *sparse_vector_faults.FAULTS,
    *variance_faults.FAULTS,
    *accountant_faults.FAULTS,
    *plan_faults.FAULTS,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_suite_kills_the_fault(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.apply(monkeypatch)
    with pytest.raises((AssertionError, tr.InternalContradiction)):
        fault.killed_by(monkeypatch)
