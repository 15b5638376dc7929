"""The methods that are compared: what each claims, and why it is off, in one sentence."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..conversions import classical, concentrated, normal_limit, renyi_accountant
from ..mechanisms.base import Mechanism
from ..mechanisms.composition import terms_of
from ..values.bound import why_wide
from ..values.calls import rounded, short, shortened, timed
from ..values.errors import InvalidParameter
from ..values.question import ARGUMENTS, Direction

if TYPE_CHECKING:
    from .comparison import Comparison, Row


class Kind(Enum):
    """What kind of statement a number is."""

    INTERVAL = "certified interval"
    UPPER = "upper bound"
    APPROXIMATION = "approximation, no bound"


@dataclass(frozen=True, slots=True)
class Method:
    """epsilon(run, delta) and delta(run, epsilon), inf and 1 where nothing can be said."""

    name: str
    why: str
    epsilon: Callable[[Mechanism, float], float]
    delta: Callable[[Mechanism, float], float]
    kind: Kind = Kind.UPPER


KNOWN_ORDER = 2.0  # any will do
CERTIFIED_WHY = "the law of the summed loss itself, with every error inside the interval"
OPTIMAL_WHY = "the worst of all mechanisms with these Renyi divergences, so that no conversion of them can say less"

METHODS = (
    Method(
        "naive composition",
        "adds up epsilons as if the worst outcome came every time",
        classical.naive_epsilon,
        classical.naive_delta,
    ),
    Method(
        "adaptive composition",
        "adds up epsilons too, and only spares the overlap of the deltas",
        classical.adaptive_epsilon,
        classical.adaptive_delta,
    ),
    Method(
        "advanced composition",
        "grows with the root of the count, but by a tail inequality with generous constants",
        classical.advanced_epsilon,
        classical.advanced_delta,
    ),
    Method(
        "advanced composition, as printed",
        "the same tail with log(e + spread/delta) for log(1/delta), which is less while the spread is below 1",
        classical.printed_epsilon,
        classical.printed_delta,
    ),
    Method(
        "optimal, one point",
        "exact for randomized response with the same (epsilon, delta), so blind to the rest of the curve",
        classical.one_point_epsilon,
        classical.one_point_delta,
    ),
    Method(
        "optimal, best point",
        "tries every point of the curve, yet each try still knows only that one point",
        classical.curve_epsilon,
        classical.curve_delta,
    ),
    Method(
        "moments accountant (Mironov 2017)",
        "knows all moments of the loss, but turns them into delta by Markov's inequality",
        renyi_accountant.markov_epsilon,
        renyi_accountant.markov_delta,
    ),
    Method(
        "Renyi, best conversion (Balle et al. 2020)",
        "the same moments with the sharpest factor that depends on the order, and one exponential in place of a tail",
        renyi_accountant.renyi_epsilon,
        renyi_accountant.renyi_delta,
    ),
    Method(
        "Renyi, exact at one order (Asoodeh et al. 2021)",
        "the worst mechanism with the divergence of the best order, which knows nothing of the other orders",
        renyi_accountant.one_order_epsilon,
        renyi_accountant.one_order_delta,
    ),
    Method(
        "zCDP (Bun, Steinke 2016)",
        "puts one parabola above all moments, which sampling hardly lowers, and Markov's inequality on top",
        concentrated.classical_epsilon,
        concentrated.classical_delta,
    ),
    Method(
        "zCDP, best conversion (Canonne et al. 2020)",
        "the same parabola, turned into delta with the sharpest factor that depends on the order",
        concentrated.zcdp_epsilon,
        concentrated.zcdp_delta,
    ),
    Method(
        "subgaussian fit",
        "a parabola with the true mean, and a spread that only the range of the loss decides",
        concentrated.fitted_epsilon,
        concentrated.fitted_delta,
    ),
    Method(
        "(xi, rho)-CDP",
        "the line of the subgaussian fit, with the classical Gaussian tail for its delta",
        concentrated.cdp_epsilon,
        concentrated.cdp_delta,
    ),
    Method(
        "Gaussian limit (CLT)",
        "takes the summed loss as normal, which its tail is not: it may err on either side",
        normal_limit.limit_epsilon,
        normal_limit.limit_delta,
        Kind.APPROXIMATION,
    ),
)


def why_certified(run: Mechanism) -> str:
    """What the certified interval knows: the law of a run, or only bounds on its Renyi divergences."""
    terms = terms_of(run.nameless, Direction.REMOVE)
    only_bounds = len(terms) == 1 == terms[0][1] and terms[0][0].moments().divergence(KNOWN_ORDER) is not None
    return OPTIMAL_WHY if only_bounds else CERTIFIED_WHY


def find_methods(names: str | Iterable[str] | None) -> tuple[Method, ...]:
    """The methods that have one of the names, whole or in part, in any case; all but those of libraries for None."""
    from .accountants import ACCOUNTANTS

    if names is None:
        return METHODS
    known = (*METHODS, *ACCOUNTANTS)
    words = [names] if isinstance(names, str) else list(names)
    for word in words:
        if not isinstance(word, str) or not any(_named(method, word) for method in known):
            listed = "; ".join(method.name for method in known)
            raise InvalidParameter(f"no method has {word!r:.40} in its name; known: {listed}")
    if not words:
        raise InvalidParameter("methods must name at least one method; leave it out for all")
    return tuple(method for method in known if any(_named(method, word) for word in words))


def _named(method: Method, word: str) -> bool:
    return bool(word.strip()) and word.strip().lower() in method.name.lower()


# A comparison as text and as HTML: one line per method, the certified interval first.

DIGITS = 6
TITLE_MAX = 160


Line = tuple[str, str, str, str, str, str]  # what a reader sees of a method: name, value, kind, distance, time, why


def lines(comparison: Comparison) -> list[Line]:
    """The certified interval, and the methods as they are sorted."""
    why = comparison.why or CERTIFIED_WHY
    first = "certified", str(comparison.truth), Kind.INTERVAL.value, "", timed(comparison.seconds), why
    return [first, *(_line(row, comparison.quantity) for row in comparison.rows)]


def text(
    comparison: Comparison,
    show: Callable[[str, object], str] = "{}={!r}".format,
    dimmed: Callable[[str], str] = str,
) -> str:
    """Aligned columns, and the reason beneath each line; show writes an argument that may narrow the interval."""
    rows = [
        ((name, value, ", ".join(filter(None, (kind, distance)))), seconds, why)
        for name, value, kind, distance, seconds, why in lines(comparison)
    ]
    widths = [max(map(len, column)) for column in zip(*(cells for cells, _, _ in rows), strict=True)]
    shown = [title(comparison), ""]
    for cells, seconds, why in rows:
        padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        shown += [f"  {'  '.join(padded)}  {seconds:>9}", dimmed(f"    {why}")]
    wide = why_wide(comparison.truth, show)
    shown += [f"  wide: {wide}"] if wide is not None else []
    if any(row.late for row in comparison.rows):
        shown.append("  time ran out before every method could answer: give more seconds")
    shown += [f"  {assurance(comparison)}"] if assurance(comparison) else []
    return "\n".join(shown)


def html(comparison: Comparison, picture: bytes | None) -> str:
    """The picture, where there is one, above the table."""
    image = (
        "" if picture is None else f'<img src="data:image/png;base64,{b64encode(picture).decode()}" width="640"><br>'
    )
    return image + comparison.table.html() + assurance(comparison)


def title(comparison: Comparison) -> str:
    """The question, on one line."""
    return f"{heading(comparison)} of {shortened(comparison.title or comparison.expression, TITLE_MAX)}"


def heading(comparison: Comparison) -> str:
    """What is compared, such as epsilon at delta 1e-06."""
    return f"{comparison.quantity} at {ARGUMENTS[comparison.quantity][0]} {short(comparison.given)}"


def _line(row: Row, quantity: str) -> Line:
    if row.late:
        value = "-"
    elif row.silent:
        value = "inf" if quantity == "epsilon" else "1"
    elif row.kind is Kind.APPROXIMATION:
        value = f"{row.value:.{DIGITS}g}"
    else:
        value = rounded(row.value, DIGITS, up=True)  # a bound stays one when it is printed
    return row.method, value, row.kind.value, row.distance, timed(row.seconds), row.why


def assurance(comparison: Comparison) -> str:
    """How sure the certified interval is, where it rests on draws; else nothing."""
    return "" if comparison.truth.certificate is None else comparison.truth.certificate.assurance
