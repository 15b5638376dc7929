"""From the text of a run to its laws: the few words that the checker knows, read by code of its own.

A text is a sum of mechanisms, each times a whole number: `Gaussian(sigma=1.0).poisson(rate=0.01) * 1000 + ...`.
Decimals mean the double that is nearest to them, as everywhere in the package, and are exact from then on.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from fractions import Fraction

from .law import CheckedLaw, NotCheckable, Term
from .laws import LAWS
from .laws.gaussian import GaussianLaw, SampledGaussianLaw
from .laws.sampled import sampled

EXPRESSION_MAX = 200_000
CHECKED_USES_MAX = 10**15


def terms_of(text: str) -> tuple[Term, ...]:
    """The laws of a run with the record first, equal ones together and all Gaussians as one."""
    if len(text) > EXPRESSION_MAX or "#" in text:  # of a comment a reader may think that it counts
        raise NotCheckable(f"its text has a # or is longer than {EXPRESSION_MAX:,} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotCheckable("its text is not an expression") from None
    try:
        return _merged(_terms(tree))
    except RecursionError:
        raise NotCheckable("its text is nested too deeply") from None


def _terms(node: ast.expr) -> list[Term]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _terms(node.left) + _terms(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        count = _number(node.right)
        if not isinstance(count, int) or not 0 <= count <= CHECKED_USES_MAX:
            raise NotCheckable("a count is no whole number")
        return [(law, uses * count) for law, uses in _terms(node.left)]
    if isinstance(node, ast.Call) and not node.args:
        given = {keyword.arg or "": _number(keyword.value) for keyword in node.keywords}  # a ** has no name
        if len(given) < len(node.keywords) or "" in given or not isinstance(given.pop("name", ""), (str, type(None))):
            raise NotCheckable("its text gives an argument twice, or without a name")
        if isinstance(node.func, ast.Name) and node.func.id == "training":
            return _training(given)
        if isinstance(node.func, ast.Name):
            return [(_law(node.func.id, given), 1)]
        if isinstance(node.func, ast.Attribute) and node.func.attr == "poisson" and set(given) == {"rate"}:
            return [(_sampled(_merged(_terms(node.func.value)), given["rate"]), 1)]
        if isinstance(node.func, ast.Attribute):
            raise NotCheckable(f".{node.func.attr} is not among the transformations that the checker knows")
    raise NotCheckable("its text has a part that the checker cannot read")


def _law(name: str, given: dict[str, object]) -> CheckedLaw:
    if name not in LAWS:
        raise NotCheckable(f"{name} is not among the laws that the checker knows")
    try:
        return LAWS[name](**given)
    except (TypeError, ValueError, OverflowError) as error:
        raise NotCheckable(f"{name} with these arguments is not known to the checker: {error!s:.80}") from None


def _sampled(base: Sequence[Term], rate: object) -> CheckedLaw:
    """One use on a Poisson sample: ((1 - r) Q + r P, Q) for remove, and (Q, (1 - r) Q + r P) is its reverse."""
    if not isinstance(rate, (int, Fraction)) or not 0 < rate <= 1:
        raise NotCheckable("a sample needs a rate in (0, 1]")
    if len(base) != 1 or base[0][1] != 1:
        raise NotCheckable("several mechanisms on one sample are not known to the checker")
    law = base[0][0]
    if rate == 1:
        return law
    if isinstance(law, GaussianLaw):
        return SampledGaussianLaw(law.square, Fraction(rate))
    checked_law = sampled(law, Fraction(rate), False)
    if checked_law is None:
        raise NotCheckable("this law on a sample is not known to the checker")
    return checked_law


def _training(given: dict[str, object]) -> list[Term]:
    """DP-SGD with Poisson batches: Gaussian(sigma).poisson(rate=batch/records), once in each step."""
    records, batch, sigma = (given.pop(name, None) for name in ("records", "batch", "sigma"))
    steps, epochs = given.pop("steps", None), given.pop("epochs", None)
    plain = given.pop("sampling", "poisson") == "poisson" and not given
    if not (plain and isinstance(records, int) and isinstance(batch, int) and isinstance(sigma, (int, Fraction))):
        raise NotCheckable("of training runs the checker knows those with Poisson batches and one sigma")
    if not 0 < batch <= records or (steps is None) == (epochs is None):
        raise NotCheckable("this training run is not known to the checker")
    if steps is None and isinstance(epochs, int):
        steps = -(-epochs * records // batch)  # a step that is begun counts
    if not isinstance(steps, int) or not 0 <= steps <= CHECKED_USES_MAX:
        raise NotCheckable("its steps are no whole number")
    rate = Fraction(batch / records)  # the double, which is what the run means
    return [(_sampled([(_law("Gaussian", {"sigma": sigma}), 1)], rate), steps)]


def _merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Equal laws as one with more uses; Gaussians compose to a Gaussian, whose squares of mu add."""
    counts: dict[CheckedLaw, int] = {}
    square = Fraction(0)
    for law, uses in terms:
        if isinstance(law, GaussianLaw):
            square += law.square * uses
        elif uses:
            counts[law] = counts.get(law, 0) + uses
    return (*counts.items(), *([(GaussianLaw(square), 1)] if square else []))


def _number(node: ast.expr) -> object:
    """A whole number, an exact Fraction of a double, a text, None or a tuple of them."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return -value if isinstance(value, (int, Fraction)) else None
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        if node.value - node.value != 0:
            raise NotCheckable("a number is infinite")
        return Fraction(node.value)
    if isinstance(node, ast.Constant) and type(node.value) in (int, str, type(None)):  # and no bool
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_number(elt) for elt in node.elts)
    raise NotCheckable("its text has an argument that the checker cannot read")
