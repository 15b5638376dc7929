"""autodp's mechanisms beside ours: what they mean, and that its numbers are in our intervals, above, or explained."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tightrope as tr

pytest.importorskip("autodp")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # escapes in its docstrings
    from autodp import autodp_core, calibrator_zoo, mechanism_zoo, transformer_zoo

from tightrope.interop.autodp import from_mechanism

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "interop.md").read_text("utf-8")
SECTION = PAGE[PAGE.index("\n## autodp") :].split("\n## ")[1]
ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \|(.*)$", re.MULTILINE)
RECORDS = 60000
DELTAS, EPSILONS = (1e-2, 1e-6, 1e-12), (0.0, 0.2, 1.0)
ROUNDING = 1e-9  # of autodp's doubles, relative


def replacing(mechanism: Any) -> Any:
    mechanism.neighboring = "replace_one"
    return mechanism


def described(update: object, kind: str) -> Any:
    """A mechanism of one's own, by what is claimed of it."""
    made = autodp_core.Mechanism()
    made.name, made.params = "ours", {}
    made.propagate_updates(update, kind)
    return made


NAMES: dict[str, Any] = {
    **vars(mechanism_zoo),
    **vars(transformer_zoo),
    **vars(calibrator_zoo),
    "np": np,
    "tr": tr,
    "replacing": replacing,
    "described": described,
}


def quietly(ask: Callable[..., Any], *given: Any) -> Any:
    """Without what it prints and warns."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ask(*given)


def evaluated(text: str) -> Any:
    return quietly(eval, text, dict(NAMES))


TRANSLATED = [
    (theirs, ours) for theirs, ours, why in ROW.findall(SECTION) if not why.strip() and "calibrator" not in theirs
]
REFUSED = [(theirs, ours) for theirs, ours, why in ROW.findall(SECTION) if why.strip()]
CALIBRATED = [(theirs, ours) for theirs, ours, _ in ROW.findall(SECTION) if "calibrator" in theirs]


def test_the_page_has_all_of_its_mechanisms_and_transformers() -> None:
    zoo = [
        name
        for module in (mechanism_zoo, transformer_zoo, calibrator_zoo)
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]
    assert [name for name in zoo if name not in SECTION] == []
    assert len(TRANSLATED) > 15
    assert len(REFUSED) > 8
    assert len(CALIBRATED) == 3


@pytest.mark.parametrize(("theirs", "ours"), TRANSLATED)
def test_the_table_holds(theirs: str, ours: str) -> None:
    assert from_mechanism(evaluated(theirs), records=RECORDS) == evaluated(ours)


@pytest.mark.parametrize(("theirs", "ours"), REFUSED)
def test_what_does_not_tell_is_refused_in_one_line(theirs: str, ours: str) -> None:
    with pytest.raises(tr.UnsupportedMechanism, match=r"^no engine can answer for autodp's [^\n]+$"):
        from_mechanism(evaluated(theirs), records=RECORDS)
    assert isinstance(evaluated(ours), tr.Mechanism)


@pytest.mark.parametrize(("theirs", "ours"), CALIBRATED)
def test_calibrators(theirs: str, ours: str) -> None:
    """autodp comes within 1e-3 of the target; ours meets it, with no more noise than Renyi bounds need."""
    found = evaluated(ours)
    assert found.bound.upper <= found.target.limit
    (noise,) = (float(value) for key, value in evaluated(theirs).params.items() if key in ("sigma", "b"))
    assert found.value <= noise * (1 + 1e-4)


# By rows of the table; those whose functions fail with the scipy of today, and the exponential mechanism composed (the
# page shows it), are left out.
@pytest.mark.parametrize("theirs", [row for row, _ in TRANSLATED if not re.search("AFA|_pld|SVT", row)])
def test_its_numbers_are_not_below_ours(theirs: str) -> None:
    mechanism = evaluated(theirs)
    ours = from_mechanism(mechanism, records=RECORDS)
    for delta in DELTAS:
        claimed = quietly(mechanism.get_eps, delta)
        assert claimed >= ours.epsilon(delta=delta).lower * (1 - ROUNDING)
    for epsilon in EPSILONS:
        claimed = quietly(mechanism.get_approx_delta, epsilon)
        assert claimed >= ours.delta(epsilon=epsilon).lower * (1 - ROUNDING)


@pytest.mark.parametrize("sigma", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_exact_numbers_agree(sigma: float, delta: float) -> None:
    """Where autodp has a formula and not a bound both are one number: our interval, and its rounding."""
    for mechanism in (
        mechanism_zoo.ExactGaussianMechanism(sigma),
        mechanism_zoo.NoisyGD_Mechanism(np.array([sigma, 2 * sigma])),
        mechanism_zoo.RandresponseMechanism(sigma / (sigma + 1)),
    ):
        bound = from_mechanism(mechanism).epsilon(delta=delta)
        claimed = float(quietly(mechanism.get_approxDP, delta))
        assert bound.lower * (1 - ROUNDING) <= claimed <= bound.upper * (1 + ROUNDING)


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_phi_functions_agree_in_delta(epsilon: float) -> None:
    """The analytical Fourier accountant, by its quadrature; its epsilons are no bounds, see the page."""
    parts = [mechanism_zoo.GaussianMechanism(5.0, phi_off=False), mechanism_zoo.LaplaceMechanism(8.0, phi_off=False)]
    composed = transformer_zoo.ComposeAFA()(parts, [3, 5])
    bound = from_mechanism(composed).delta(epsilon=epsilon)
    assert quietly(composed.get_approx_delta, epsilon) == pytest.approx(bound.upper, rel=1e-6)
    assert quietly(composed.get_approxDP, 1e-6) < from_mechanism(composed).epsilon(delta=1e-6).lower  # its fault


def test_parts_of_one_name_are_told_apart() -> None:
    """Names and parameters say 8.0 twice."""
    parts = [mechanism_zoo.GaussianMechanism(5.0), mechanism_zoo.GaussianMechanism(8.0)]
    composed = quietly(transformer_zoo.Composition(), parts, [3, 5])
    assert composed.params == {"Gaussian:sigma": 8.0}
    expected = tr.Gaussian(sigma=5.0) * 3 + tr.Gaussian(sigma=8.0) * 5
    assert from_mechanism(composed) == expected
    composed.name = "a name of its own"
    composed.propagate_updates(lambda order: order, "RDP")  # a claim more
    assert from_mechanism(composed) == expected
    sampled = quietly(transformer_zoo.AmplificationBySampling(), composed, 0.1)
    again = quietly(transformer_zoo.Composition(), [sampled, parts[0]], [7.0, np.int64(2)])
    assert from_mechanism(again) == expected.poisson(rate=0.1) * 7 + tr.Gaussian(sigma=5.0) * 2


def test_a_renamed_sum_of_gaussians_is_refused() -> None:
    parts = [mechanism_zoo.GaussianMechanism(5.0, name="a"), mechanism_zoo.GaussianMechanism(8.0, name="b")]
    composed = transformer_zoo.ComposeGaussian()(parts, [3, 5])
    composed.params["a:sigma"] = 6.0
    with pytest.raises(tr.UnsupportedMechanism, match=r"use Composition\(\)"):
        from_mechanism(composed)


def test_a_claim_of_a_composition_is_not_the_composition() -> None:
    """Its divergences are at most those: that is less than to be it."""
    composed = transformer_zoo.Composition()([mechanism_zoo.GaussianMechanism(5.0)], [3])
    with pytest.raises(tr.UnsupportedMechanism, match=r"tr\.RenyiCurve\(orders=orders"):
        from_mechanism(described(composed.RenyiDP, "RDP"))

    class Own(autodp_core.Mechanism):
        def __init__(self) -> None:
            super().__init__()
            self.set_all_representation(composed)

    with pytest.raises(tr.UnsupportedMechanism, match="autodp's Own: it is a class of its own; hand over"):
        from_mechanism(Own())


def test_the_claim_named_in_refusals_works() -> None:
    mech = mechanism_zoo.LaplaceSVT_Mechanism({"b": 10.0, "k": 100, "c": 2})
    orders = [2.0, 8.0, 32.0]
    claim = tr.RenyiCurve(orders=orders, divergences=[quietly(mech.get_RDP, order) for order in orders])
    assert claim.epsilon(delta=1e-6).upper < 1.0


def test_neighbours() -> None:
    gaussian = mechanism_zoo.GaussianMechanism
    composed = replacing(transformer_zoo.Composition()([gaussian(2.0)], [3]))
    subset = quietly(transformer_zoo.AmplificationBySampling(PoissonSampling=False), composed, 0.01)
    made = from_mechanism(subset, records=RECORDS)
    assert made == (tr.Gaussian(sigma=2.0) * 3).without_replacement(batch=600, records=RECORDS)
    assert made.relation is tr.Relation.REPLACE
    with pytest.raises(tr.UnsupportedMechanism, match=r"keeps the share 0\.01 of the data"):
        from_mechanism(subset)
    with pytest.raises(tr.InvalidParameter, match=r"the share 0\.01 of them is a whole number, not 150"):
        from_mechanism(subset, records=150)
    step = quietly(transformer_zoo.AmplificationBySampling(), gaussian(2.0), 0.01)
    for parts in ([step, subset], [subset, gaussian(2.0)], [step, replacing(gaussian(2.0))]):
        with pytest.raises(tr.UnsupportedMechanism, match="its parts are for add_remove and for replace_one"):
            from_mechanism(transformer_zoo.Composition()(parts, [1, 1]), records=RECORDS)
    with pytest.raises(tr.UnsupportedMechanism, match="it is made for add_remove, and says replace_one"):
        from_mechanism(replacing(step))
    both = transformer_zoo.Composition()([subset, replacing(gaussian(2.0))], [2, 1])
    assert from_mechanism(both, records=RECORDS) == made * 2 + tr.Gaussian(sigma=2.0)


def test_names_are_kept() -> None:
    """Those that somebody gave, and that can be names here."""
    parts = [
        mechanism_zoo.GaussianMechanism(5.0, name="GM1"),
        mechanism_zoo.GaussianMechanism(8.0, name="two\nlines"),
        mechanism_zoo.PureDP_Mechanism(0.1, name="SVT"),
    ]
    made = from_mechanism(transformer_zoo.Composition()(parts, [3, 5, 1]))
    assert dict(made.names) == {"GM1": 3, "Gaussian": 5, "SVT": 1}
    assert str(made.parameters["GM1:sigma"]) == "5.0"


def test_one_direction() -> None:
    """What holds for both directions holds for each; neither holds for the other."""
    gaussian = mechanism_zoo.GaussianMechanism(2.0, phi_off=False)
    ways = {
        way: transformer_zoo.AmplificationBySampling_pld(neighboring=way)(gaussian, 0.1)
        for way in ("add_only", "remove_only")
    }
    step = tr.Gaussian(sigma=2.0).poisson(rate=0.1)
    for sampled in ways.values():
        composed = transformer_zoo.ComposeAFA()([sampled, gaussian], [3, 1])
        assert from_mechanism(composed) == step * 3 + tr.Gaussian(sigma=2.0)
    given = {"prob": 0.1, "sigma": 2.0, "coeff": 3}
    one = mechanism_zoo.SubsampleGaussianMechanism(given, phi_off=False, RDP_off=True, neighboring="remove_only")
    assert one.neighboring == "remove_only"
    assert from_mechanism(one) == step * 3
    with pytest.raises(tr.UnsupportedMechanism, match="its parts are for add_only and for remove_only"):
        from_mechanism(transformer_zoo.ComposeAFA()(list(ways.values()), [1, 1]))
    with pytest.raises(tr.UnsupportedMechanism, match="it is made for add_only, and says replace_one"):
        from_mechanism(replacing(transformer_zoo.ComposeAFA()([ways["add_only"]], [1])))
    with pytest.raises(tr.UnsupportedMechanism, match="it is sampled for one direction, and says replace_one"):
        from_mechanism(replacing(ways["add_only"]))


def test_many_parts_are_read_at_once() -> None:
    parts = [mechanism_zoo.ExactGaussianMechanism(1.0 + index) for index in range(2000)]
    made = from_mechanism(transformer_zoo.Composition()(parts, [2] * len(parts)))
    assert len(made.parts) == len(parts)


def test_subsets_of_phi_functions_are_about_adding_or_removing() -> None:
    base = replacing(mechanism_zoo.GaussianMechanism(2.0, phi_off=False))
    subset = transformer_zoo.AmplificationBySampling_pld(PoissonSampling=False, neighboring="remove_only")(base, 0.01)
    made = from_mechanism(subset, records=RECORDS)
    assert made == tr.Gaussian(sigma=2.0).without_replacement(batch=600, records=RECORDS, neighbours="add_remove")
    poisson = transformer_zoo.AmplificationBySampling_pld(neighboring="add_only")(base, 0.01)
    with pytest.raises(tr.UnsupportedMechanism, match="its base for replace_one"):
        from_mechanism(poisson)


def test_odd_objects() -> None:
    gaussian = mechanism_zoo.GaussianMechanism(2.0)
    with pytest.raises(tr.InvalidParameter, match="takes a Mechanism of autodp, not Gaussian"):
        from_mechanism(tr.Gaussian(sigma=2.0))
    with pytest.raises(tr.InvalidParameter, match="sigma must be a number, not None"):
        from_mechanism(mechanism_zoo.ExactGaussianMechanism())
    with pytest.raises(tr.InvalidParameter, match=r"the count of a part must be a whole number.*not 0\.5"):
        from_mechanism(transformer_zoo.Composition()([gaussian], [0.5]))
    with pytest.raises(tr.UnsupportedMechanism, match="it has 1 parts and 2 counts"):
        from_mechanism(transformer_zoo.Composition()([gaussian], [1, 2]))
    gaussian.group_size = 3
    with pytest.raises(tr.UnsupportedMechanism, match=r"add \.group\(size=\.\.\.\) here"):
        from_mechanism(gaussian)
    gaussian.group_size, gaussian.neighboring = 1, "zero_out"
    with pytest.raises(tr.UnsupportedMechanism, match="neighboring must be one of add_remove"):
        from_mechanism(gaussian)


def test_a_discrete_gaussian_is_its_rho_and_no_less() -> None:
    for sigma in (0.7, 2.0, 1e3 + 0.1):
        made = from_mechanism(mechanism_zoo.DiscreteGaussianMechanism(sigma))
        assert made.epsilon(delta=1e-6).upper >= tr.DiscreteGaussian(sigma=sigma).epsilon(delta=1e-6).lower
        rho = tr.ZCDP(rho=0.5 / sigma**2)
        assert made.epsilon(delta=1e-6).upper >= rho.epsilon(delta=1e-6).lower
