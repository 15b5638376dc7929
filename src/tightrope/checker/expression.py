"""From the text of a run to its laws: the few words that the checker knows, read by code of its own.

A text is a sum of mechanisms, each times a whole number: `Gaussian(sigma=1.0).poisson(rate=0.01) * 1000 + ...`.
Decimals mean the double that is nearest to them, as everywhere in the package, and are exact from then on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .hypotheses import ADD_REMOVE, NOISE, REPLACE, Facts, after, demand, facts_of, together
from .law import CheckedLaw, NotCheckable, Term
from .laws import LAWS, TRANSFORMATIONS
from .laws.gaussian import GaussianLaw
from .laws.variance import VarianceLaw

EXPRESSION_MAX = 200_000
CHECKED_USES_MAX = 10**15
OTHER_NUMBERS = re.compile(r"(?<![\w.])[\d.]+[_xXoObBjJ]|\d_")  # 0x10, 1_000, 1j


@dataclass(frozen=True)
class Run:
    """The laws with the record first, each with its uses; what is known of neighbours."""

    terms: tuple[Term, ...]
    facts: Facts


def run_of(text: str) -> Run:
    """The run of a text, equal laws together and all Gaussians as one."""
    if len(text) > EXPRESSION_MAX or "#" in text:  # of a comment a reader may think that it counts
        raise NotCheckable(f"its text has a # or is longer than {EXPRESSION_MAX:,} characters")
    if not text.isascii() or OTHER_NUMBERS.search(text):  # letters that look alike, and digits that Python groups
        raise NotCheckable("its text has other characters than ASCII, or numbers that are not decimal")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise NotCheckable("its text is not an expression") from None
    try:
        run = _run(tree)
    except RecursionError:
        raise NotCheckable("its text is nested too deeply") from None
    if ADD_REMOVE not in run.facts and any(law.reversed() != law for law, _ in run.terms):
        raise NotCheckable("where a record is replaced a law may be met in either order, and this one has two")
    return run


def terms_of(text: str) -> tuple[Term, ...]:
    """Its laws with the record first."""
    return run_of(text).terms


def _run(node: ast.expr) -> Run:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_run(node.left), _run(node.right)]
        return Run(_merged([term for part in parts for term in part.terms]), together([run.facts for run in parts]))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        count, base = _number(node.right), _run(node.left)
        if type(count) is not int or not 0 <= count <= CHECKED_USES_MAX:
            raise NotCheckable("a count is no whole number")
        return Run(_merged([(law, uses * count) for law, uses in base.terms]), base.facts)
    if isinstance(node, ast.Call) and not node.args:
        given = {keyword.arg or "": _number(keyword.value) for keyword in node.keywords}  # a ** has no name
        if len(given) < len(node.keywords) or "" in given or not isinstance(given.pop("name", ""), (str, type(None))):
            raise NotCheckable("its text gives an argument twice, or without a name")
        if isinstance(node.func, ast.Name) and node.func.id == "training":
            return Run(_training(given), facts_of("training", given))
        if isinstance(node.func, ast.Name):
            return Run(_merged([(_law(node.func.id, given), 1)]), facts_of(node.func.id, given))
        if isinstance(node.func, ast.Attribute):
            return _transformed(node.func.attr, _run(node.func.value), given)
    raise NotCheckable("its text has a part that the checker cannot read")


def _law(name: str, given: dict[str, object]) -> CheckedLaw:
    if name not in LAWS:
        raise NotCheckable(f"{name} is not among the laws that the checker knows")
    try:
        return LAWS[name](**given)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise NotCheckable(f"{name} with these arguments is not known to the checker: {error!s:.80}") from None


def _transformed(name: str, base: Run, given: dict[str, object]) -> Run:
    """A sample of the base, or groups of its records."""
    if name not in TRANSFORMATIONS:
        raise NotCheckable(f".{name} is not among the transformations that the checker knows")
    demand(name, base.facts)
    try:
        if name == "group":
            laws = [(TRANSFORMATIONS[name](law, **given), uses) for law, uses in base.terms]
        elif len(base.terms) != 1 or base.terms[0][1] != 1:
            raise NotCheckable("several mechanisms on one sample are not known to the checker")
        else:
            laws = [(TRANSFORMATIONS[name](base.terms[0][0], **given), 1)]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise NotCheckable(f".{name} with these arguments is not known to the checker: {error!s:.80}") from None
    terms = _merged([(law, uses) for law, uses in laws if law is not None])
    if any(law is None for law, _ in laws):
        raise NotCheckable(f".{name} of this law is not known to the checker")
    relation = ADD_REMOVE if name in ("poisson", "truncated_poisson", "random_allocation") else REPLACE
    return Run(terms, after(name, base.facts, str(given.get("neighbours", relation))))


def _training(given: dict[str, object]) -> tuple[Term, ...]:
    """DP-SGD with Poisson batches: Gaussian(sigma).poisson(rate=batch/records), once in each step; groups of it."""
    records, batch, sigma = (given.pop(name, None) for name in ("records", "batch", "sigma"))
    steps, epochs, size = given.pop("steps", None), given.pop("epochs", None), given.pop("group", 1)
    plain = given.pop("sampling", "poisson") == "poisson" and not given
    if not (plain and type(records) is type(batch) is int and type(sigma) in (int, Fraction)):
        raise NotCheckable("of training runs the checker knows those with Poisson batches and one sigma")
    if not 0 < batch <= records or (steps is None) == (epochs is None):
        raise NotCheckable("this training run is not known to the checker")
    if steps is None and type(epochs) is int:
        steps = -(-epochs * records // batch)  # a step that is begun counts
    if type(steps) is not int or not 0 <= steps <= CHECKED_USES_MAX:
        raise NotCheckable("its steps are no whole number")
    rate = Fraction(batch / records)  # the double, which is what the run means
    step = _transformed("poisson", Run(((_law("Gaussian", {"sigma": sigma}), 1),), NOISE), {"rate": rate})
    step = _transformed("group", step, {"size": size}) if size != 1 else step
    return _merged([(law, steps) for law, _ in step.terms])


def _merged(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Equal laws as one with more uses; Gaussians compose to one, whose squares of mu add, and so do two deviations."""
    counts: dict[CheckedLaw, int] = {}
    square, variances = Fraction(0), dict[Fraction, int]()
    for law, uses in terms:
        if isinstance(law, GaussianLaw):
            square += law.square * uses
        elif isinstance(law, VarianceLaw) and uses:
            variances[law.square] = variances.get(law.square, 0) + law.uses * uses
        elif uses:
            counts[law] = counts.get(law, 0) + uses
    variance = [(VarianceLaw(ratio, uses), 1) for ratio, uses in variances.items()]
    return (*counts.items(), *variance, *([(GaussianLaw(square), 1)] if square else []))


def _number(node: ast.expr) -> object:
    """A whole number, an exact Fraction of a double, a text, None or a tuple of them."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _number(node.operand)
        return -value if type(value) in (int, Fraction) else None  # type: ignore[operator]
    if isinstance(node, ast.Constant) and isinstance(node.value, float):
        if node.value - node.value != 0:
            raise NotCheckable("a number is infinite")
        return Fraction(node.value)
    if isinstance(node, ast.Constant) and type(node.value) in (int, str, bool, type(None)):
        return node.value
    if isinstance(node, (ast.Tuple, ast.List)):
        return tuple(_number(elt) for elt in node.elts)
    raise NotCheckable("its text has an argument that the checker cannot read")
