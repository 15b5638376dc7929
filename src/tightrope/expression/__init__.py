"""Text to mechanism: a small language that looks like Python and is never evaluated.

    sum      := product ("+" product)*
    product  := mechanism ("*" count)* | count "*" product
    mechanism:= Name(keyword=number, ...) | mechanism.transformation(keyword=number, ...) | "(" sum ")"
              | mechanism.named("text")

Numbers are literals, `inf`, `pi`, + - * / ** of numbers, sqrt, exp or log of a number; lists of numbers stand for
masses, bounds and counts, quoted words for a choice, a name (name="GM1") or, where the caller allows it, for a file,
True and False for themselves. A linear scan bounds length, nesting and alphabet before Python's parser sees the text;
its syntax tree is read against the registry, and what is not in the registry does not exist. A decimal means the double
nearest to it, and so do pi, ** and the functions: each gives the double nearest to the exact value for the numbers that
it is given. repr(mechanism) is an expression.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ..calibrate.domain import POWERS
from ..calls import checked
from ..errors import ExpressionError, InvalidParameter, TightropeError
from ..mechanisms.base import Mechanism
from ..mechanisms.data_file import Folder
from .reader import Measured, Reader
from .scan import LENGTH_MAX as LENGTH_MAX
from .scan import has_unknown, scan, tree_of

TRIED_LENGTH_MAX = 10_000  # of a text with an unknown, for which more than a few values are tried


@dataclass(frozen=True, slots=True)
class Template:
    """A text with one unknown, written ?; parameter is what it stands for, integer whether it must be whole.

    Where ? is a part of a value (1/?), it stands for itself only.
    """

    text: str
    parameter: str
    integer: bool
    tree: ast.expr = field(compare=False, repr=False)
    files: Folder | None = None
    measured: Measured = field(default_factory=dict, compare=False, repr=False)

    def __call__(self, value: float) -> Mechanism:
        """The mechanism with the unknown filled in; files were read when the text was."""
        return Reader(self.text, value, self.files, self.measured).mechanism(self.tree)


@checked
def parse(text: str, files: Folder | None = None) -> Mechanism:
    """The mechanism that the text describes; ExpressionError, InvalidParameter or DataError if it describes none.

    files: the folder whose files the text may name; without it, it may name none.
    """
    scan(text, unknown=False)
    return Reader(text, None, files).mechanism(tree_of(text))


def parse_template(text: str, files: Folder | None = None) -> Template:
    """A text in which ? stands for the number that is wanted; every ? is the same one. files as for `parse`."""
    scan(text, unknown=True)
    if not has_unknown(text):
        raise ExpressionError("nothing to calibrate: write ? for the unknown, as in Gaussian(sigma=?)", text, 1)
    tree = tree_of(text)
    refused: TightropeError | None = None
    measured: Measured = {}
    # A value that is accepted: only then has all of the text been read.
    for power in POWERS if len(text) <= TRIED_LENGTH_MAX else POWERS[:3]:
        reader = Reader(text, 2**power, files, measured)
        try:
            reader.mechanism(tree)
        except (ExpressionError, InvalidParameter) as error:
            refused = refused or error
            continue
        places = dict.fromkeys(reader.places)
        return Template(
            text, "?" if "?" in places else " and ".join(places) or "?", reader.whole, tree, files, measured
        )
    assert refused is not None
    raise refused
