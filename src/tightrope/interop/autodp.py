"""autodp's mechanisms as Tightrope's: from_mechanism, for who comes from there.

What an object of autodp means is read off its class and parameters; what its transformers made keeps no parts, only
functions that hold them, and is read off those: their names and parameters overwrite each other. Claims about a
mechanism (RDP, approximate DP) are not the mechanism, and are refused, with what holds them here.
Meaning: sigma and b are noise over sensitivity, under the neighbours of the mechanism; Poisson sampling is about adding
or removing a record, random subsets are about replacing one. autodp composes parts of different neighbours as if they
agreed; here they are refused. Where neighboring is 'add_only' or 'remove_only', ask with direction='add' or 'remove'.
Reference: autodp 0.2.3.1, its mechanism_zoo, transformer_zoo and autodp_core; tests/interop/test_autodp.py holds both
libraries beside each other, docs/interop.md says where they differ.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from types import MappingProxyType
from typing import Any

from .. import (
    ZCDP,
    Exponential,
    Gaussian,
    GaussianSparseVector,
    InvalidParameter,
    Laplace,
    Mechanism,
    PureDP,
    RandomizedResponse,
    Relation,
    UnsupportedMechanism,
    compose,
)
from ..extend.mechanisms import repeat
from ..extend.parameters import whole
from .missing import missing

try:
    from autodp import autodp_core as core
    from autodp import mechanism_zoo as zoo
except ImportError:
    raise missing("autodp", "autodp==0.2.3.1") from None

EITHER = "add_remove"  # what autodp calls neighbours where nobody says
ONE_WAY = ("add_only", "remove_only")
KNOWN = (EITHER, "replace_one", *ONE_WAY)
AGREEMENT = 1e-9  # of a composed sigma with that of the parts that are named: it only tells them from others
CLAIM = (
    "what autodp claims of it is tr.RenyiCurve(orders=orders, divergences=[mech.get_RDP(order) for order in orders])"
)


def from_mechanism(mechanism: Any, *, records: int | None = None) -> Mechanism:
    """The mechanism that an object of autodp describes; what is none, or no one knows which, is refused in one line.

    records: the size of the data, needed for random subsets (PoissonSampling=False), of which autodp keeps the share.
    """
    return _read(mechanism, records).made


@dataclass(frozen=True, slots=True)
class Translated:
    """A translation, and which neighbours autodp speaks of."""

    made: Mechanism
    neighbours: str


def _read(mechanism: Any, records: int | None) -> Translated:
    if not isinstance(mechanism, core.Mechanism):
        raise InvalidParameter(f"from_mechanism takes a Mechanism of autodp, not {mechanism!r:.60}")
    if mechanism.group_size != 1:
        raise _refused(mechanism, "autodp never reads group_size: set it to 1, and add .group(size=...) here")
    if mechanism.neighboring not in KNOWN:
        raise _refused(mechanism, f"neighboring must be one of {', '.join(KNOWN)}, not {mechanism.neighboring!r:.40}")
    if type(mechanism) in LEAVES:
        made = _named(LEAVES[type(mechanism)](mechanism), mechanism.name, type(mechanism))
        return _flagged(mechanism, Translated(made, EITHER))
    if type(mechanism) in CLAIMS:
        raise _refused(mechanism, CLAIMS[type(mechanism)])
    if type(mechanism) is not core.Mechanism:
        raise _refused(mechanism, f"it is a class of its own; hand over what it is made of, or {CLAIM}")
    for name, function in (("Composition", mechanism.RenyiDP), ("ComposeAFA", mechanism.log_phi_p2q)):
        held = _held(_first(function), f"{name}.compose.")
        if held:
            return _flagged(mechanism, _composed(mechanism, held["mechanism_list"], held["coeff_list"], records))
    for name in ("AmplificationBySampling", "AmplificationBySampling_pld"):
        held = _held(_first(mechanism.approxDP), f"{name}.amplify.")
        if held:
            return _flagged(mechanism, _sampled(mechanism, held, name.endswith("pld"), records))
    raise _refused(
        mechanism, f"no transformer made it, or one at the rate 0; build it of Tightrope's parts, or {CLAIM}"
    )


def _refused(mechanism: Any, hint: str) -> UnsupportedMechanism:
    """Names the class, and the name that somebody gave to the object."""
    name = getattr(mechanism, "name", None)
    shown = "" if name is None else f" {name!r:.60}"
    return UnsupportedMechanism(hint, mechanism=f"autodp's {type(mechanism).__name__}{shown}")


def _named(made: Mechanism, name: object, kind: type) -> Mechanism:
    """By the name that somebody gave it, where that can be one here."""
    usual = signature(kind).parameters["name"].default
    if not isinstance(name, str) or name in (usual, f"{usual}c_1") or name.startswith("Compose:{"):
        return made
    try:
        return made.named(name)
    except InvalidParameter:
        return made


def _flagged(mechanism: Any, translated: Translated) -> Translated:
    """With the neighbours that the object names; a composition has the default, whatever its parts have."""
    own = mechanism.neighboring
    if own in (EITHER, translated.neighbours):
        return translated
    narrower = own in ONE_WAY or translated.made.relation is None  # both directions hold in each; noise as it is in any
    if translated.neighbours != EITHER or not narrower:
        raise _refused(
            mechanism, f"it is made for {translated.neighbours}, and says {own}: account for each on its own"
        )
    return replace(translated, neighbours=own)


def _first(function: Any) -> Any:
    """The description that a mechanism was made with: each later one is paired with those before by a minimum."""
    while getattr(function, "__qualname__", "") == "pointwise_minimum.<locals>.min_f1_f2":
        cells = _cells(function)
        if cells["f1"].__qualname__.startswith("Mechanism.__init__."):  # of a mechanism that nothing is known of
            return cells["f2"]
        function = cells["f1"]
    return function


def _held(function: Any, maker: str) -> dict[str, Any]:
    """The variables of that transformer which the function refers to."""
    ours = getattr(function, "__module__", "") == "autodp.transformer_zoo"
    return _cells(function) if ours and function.__qualname__.startswith(maker) else {}


def _cells(function: Any) -> dict[str, Any]:
    names = function.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, function.__closure__ or (), strict=True)}


def _composed(mechanism: Any, parts: Sequence[Any], counts: Sequence[float], records: int | None) -> Translated:
    if len(parts) != len(counts):
        raise _refused(mechanism, f"it has {len(parts)} parts and {len(counts)} counts; autodp drops the longer end")
    found = [_read(part, records) for part in parts]
    kinds = sorted({translated.neighbours for translated in found})
    if set(kinds) & set(ONE_WAY):
        kinds = [kind for kind in kinds if kind != EITHER]  # which holds in each direction
    if len(kinds) > 1:
        raise _refused(
            mechanism, f"its parts are for {' and for '.join(kinds)}: set neighboring of each part to what it is for"
        )
    uses = [whole("the count of a part", count, least=0) for count in counts]
    made = compose([translated.made * times for translated, times in zip(found, uses, strict=True)])
    return Translated(made, kinds[0] if kinds else EITHER)


def _sampled(mechanism: Any, held: Mapping[str, Any], one_way: bool, records: int | None) -> Translated:
    """AmplificationBySampling, and that of phi-functions, which is about one direction."""
    base, rate = _read(held["mechanism"], records), held["prob"]
    neighbours = mechanism.neighboring if one_way else EITHER
    if neighbours == "replace_one":
        raise _refused(mechanism, "it is sampled for one direction, and says replace_one: account for each on its own")
    subset = _is_subset(mechanism) if one_way else bool(mechanism.replace_one)
    if not subset:
        if base.neighbours not in (EITHER, neighbours):
            raise _refused(mechanism, f"Poisson sampling is about adding or removing, its base for {base.neighbours}")
        return Translated(base.made.poisson(rate=rate), neighbours)
    if base.neighbours != "replace_one":
        raise _refused(mechanism, f"a subset shows one record for another, its base is for {base.neighbours}")
    relation = Relation.ADD_REMOVE if one_way else Relation.REPLACE
    batch, size = _batch(mechanism, rate, records)
    made = base.made.without_replacement(batch=batch, records=size, neighbours=relation.value)
    return Translated(made, neighbours if one_way else "replace_one")


def _is_subset(mechanism: Any) -> bool:
    """How phi-functions were sampled, of which only the parameters tell."""
    ways: set[bool] = {key.startswith("Sub") for key in mechanism.params if re.match("(PoissonSample|Subsample)", key)}
    if len(ways) != 1:
        raise _refused(mechanism, "its parameters do not say how it is sampled: build it of Tightrope's parts")
    return ways.pop()


def _batch(mechanism: Any, rate: float, records: int | None) -> tuple[int, int]:
    """The whole number of records whose share is that double."""
    if records is None:
        raise _refused(mechanism, f"autodp keeps the share {rate!r} of the data: say from_mechanism(mech, records=...)")
    size = whole("records", records, least=1)
    batch = round(rate * size)
    if batch / size != rate:
        raise InvalidParameter(f"records must be such that the share {rate!r} of them is a whole number, not {records}")
    return batch, size


def _gaussian(mechanism: Any) -> Mechanism:
    """Also what ComposeGaussian made, whose name and parameters tell the parts where these have names of their own."""
    if "sigma" in mechanism.params:
        return Gaussian(sigma=mechanism.params["sigma"])
    sigmas = {key.removesuffix(":sigma"): float(sigma) for key, sigma in mechanism.params.items()}
    pattern = ", ".join(re.escape(name) + r": ([\d.e+]+)" for name in sigmas)
    named = re.fullmatch(r"Compose:\{" + pattern + r"\}", mechanism.name)
    if named is not None:
        counts = [whole("the count of a part", float(count), least=0) for count in named.groups()]
        power = math.fsum(count / sigma**2 for count, sigma in zip(counts, sigmas.values(), strict=True))
        held = _cells(_first(mechanism.approxDP)).get("sigma", math.nan)
        if math.isclose(power * held**2, 1.0, rel_tol=AGREEMENT):
            parts = (_named(Gaussian(sigma=sigma), name, type(mechanism)) for name, sigma in sigmas.items())
            return compose([part * count for part, count in zip(parts, counts, strict=True)])
    raise _refused(
        mechanism,
        "parts of one name overwrite each other there: name them apart, or use Composition(), not ComposeGaussian()",
    )


def _sparse_vector(mechanism: Any) -> Mechanism:
    """GaussianSVT with one answer, by the parameters that autodp's divergence reads."""
    given = mechanism.params
    if "c" in given:
        raise _refused(
            mechanism,
            "it does not say by which sensitivity sigma is divided, a query moves by 2 against the threshold: "
            "build tr.GaussianSparseVector(threshold_sigma=..., query_sigma=..., queries=k, answers=c)",
        )
    if "k" not in given:
        raise _refused(mechanism, "it has no k: build tr.GaussianSparseVector with the most queries that it is asked")
    sigma = float(given["sigma"])
    query = given.get("sigma2", given.get("sigma_nu", math.sqrt(3) * sigma))
    return GaussianSparseVector(
        threshold_sigma=sigma, query_sigma=query, queries=given["k"], sensitivity=given.get("Delta", 1.0)
    )


def _concentrated(mechanism: Any) -> Mechanism:
    if mechanism.params["xi"] != 0:
        raise _refused(mechanism, f"rho alone is what tr.ZCDP takes, not xi = {mechanism.params['xi']!r}; {CLAIM}")
    return ZCDP(rho=mechanism.params["rho"])


def _discrete_gaussian(mechanism: Any) -> Mechanism:
    """Its rho, 1/(2 sigma^2) after two roundings, and not its sigma; for vectors of any length, as there."""
    rho = float(mechanism.params["rho"])
    return ZCDP(rho=math.nextafter(math.nextafter(rho, math.inf), math.inf))


def _uses(mechanism: Any) -> Mechanism:
    return repeat(Gaussian(sigma=mechanism.params["sigma"]), mechanism.params["coeff"])


def _steps(mechanism: Any) -> Mechanism:
    """Poisson batches, Gaussian noise: SubsampleGaussian and NoisySGD."""
    given = mechanism.params
    if not given.get("PoissonSampling", True):
        raise _refused(mechanism, "build tr.Gaussian(sigma=...).without_replacement(batch=..., records=...) * steps")
    count: float = given["coeff"] if "coeff" in given else given["niter"]
    return repeat(Gaussian(sigma=given["sigma"]).poisson(rate=given["prob"]), count)


LEAVES: Mapping[type, Callable[[Any], Mechanism]] = MappingProxyType(
    {
        zoo.GaussianMechanism: _gaussian,
        zoo.ExactGaussianMechanism: _gaussian,
        zoo.LaplaceMechanism: lambda given: Laplace(scale=given.params["b"]),
        zoo.RandresponseMechanism: lambda given: RandomizedResponse(p=given.params["p"]),
        zoo.PureDP_Mechanism: lambda given: PureDP(epsilon=given.params["eps"]),
        zoo.ExponentialMechanism: lambda given: Exponential(epsilon=given.params["eps"]),
        zoo.zCDP_Mechanism: _concentrated,
        zoo.DiscreteGaussianMechanism: _discrete_gaussian,
        zoo.SubsampleGaussianMechanism: _steps,
        zoo.NoisySGD_Mechanism: _steps,
        zoo.ComposedGaussianMechanism: _uses,
        zoo.NoisyGD_Mechanism: lambda given: compose([Gaussian(sigma=sigma) for sigma in given.params["sigma_list"]]),
        zoo.GaussianSVT_Mechanism: _sparse_vector,
    }
)

CLAIMS: Mapping[type, str] = MappingProxyType(
    {
        zoo.LaplaceSVT_Mechanism: "it does not say by which sensitivity b is divided, a query moves by 2 against the "
        "threshold: build tr.SparseVector(threshold_scale=..., query_scale=..., answers=c)",
        zoo.NoisyScreenMechanism: "its divergences are those of one data set, and itself not private to publish",
        zoo.StageWiseMechanism: "it is a claim of (epsilon, delta) without the noise on queries: build "
        "tr.GaussianSparseVector(threshold_sigma=..., query_sigma=..., queries=k, answers=...) * stages",
    }
)
