"""The noise of a training run that its steps share: C^-1 Z, where a step adds its row; C by a word or its coefficients.

    identity     C = I: every step has noise of its own
    banded:K     the square root of the running sums, cut to K bands: c_0 = 1, c_m = c_(m-1) (2m - 1)/(2m), m < K
    sqrt         the same, all of its bands
    bisr:K       the inverse of the square root cut to K bands: C^-1 has d_0 = 1, d_m = d_(m-1) (2m - 3)/(2m), m < K
    tree         a binary tree of sums, with noise of its own on each node (matrix_mechanism.py)
Guarantee: coefficients are doubles within 2m units in the last place of these, and the run is that with these doubles.
Reference: Fichtenberger, Henzinger, Upadhyay 2023 (square root); Choquette-Choo and others 2023 (bands); Kalinin,
McKenna, Upadhyay, Lampert 2025 (banded inverse).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..values.calls import cut, nearest
from ..values.errors import InvalidParameter
from .matrix_mechanism import MatrixMechanism, TreeAggregation
from .parameters import numbers

if TYPE_CHECKING:
    from .base import Mechanism


IDENTITY_WORD = "identity"
BANDED_WORDS = ("banded", "bisr")  # with a number of bands
MATRIX_WORDS = (IDENTITY_WORD, "banded:K", "sqrt", "bisr:K", "tree")
COEFFICIENTS_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Encoder:
    """C of any number of steps: a word with its bands, or coefficients of C (toeplitz) or of C^-1 (inverse)."""

    word: str
    bands: int = 0  # K; 0 of a word without
    coefficients: tuple[float, ...] = ()

    @property
    def independent(self) -> bool:
        """Whether every step has noise of its own."""
        return self.word == IDENTITY_WORD

    @property
    def groups(self) -> int:
        """The bands of C, which groups that are sampled in turn must be; 0 where C has as many as steps."""
        return {IDENTITY_WORD: 1, "banded": self.bands, "toeplitz": len(self.coefficients)}.get(self.word, 0)

    @property
    def told(self) -> str:
        """What the noise is, in words."""
        return {
            IDENTITY_WORD: "every step has noise of its own",
            "banded": f"C^-1 Z, C the square root of the running sums cut to {self.bands} bands",
            "sqrt": "C^-1 Z, C the square root of the running sums",
            "bisr": f"C^-1 Z, C^-1 the inverse square root of the running sums cut to {self.bands} bands",
            "tree": "on every node of a binary tree over the steps, once",
            "toeplitz": f"C^-1 Z, C lower triangular with the {len(self.coefficients)} coefficients given",
            "inverse": f"C^-1 Z, C^-1 lower triangular with the {len(self.coefficients)} coefficients given",
        }[self.word]

    def run(self, sigma: float, steps: int, **use: Any) -> Mechanism:
        """So many steps with it; use: in which of them a record is, as MatrixMechanism has it."""

        if self.word == "tree":
            if "bins" in use or "groups" in use:
                raise InvalidParameter(
                    "matrix='tree' has no bound with batches that are drawn: state sampling='in_order' or 'any_order', "
                    "or matrix='banded:K' for bins and groups"
                )
            return TreeAggregation(sigma=sigma, steps=steps, **use)
        if self.word in ("bisr", "inverse"):
            return MatrixMechanism(sigma=sigma, inverse=self._given(steps), steps=steps, **use)
        return MatrixMechanism(sigma=sigma, toeplitz=self._given(steps), steps=steps, **use)

    def _given(self, steps: int) -> tuple[float, ...]:
        if self.coefficients:
            return self.coefficients
        if self.word == "sqrt" and steps > COEFFICIENTS_MAX:
            raise InvalidParameter(
                f"matrix='sqrt' has a coefficient for each step, and at most {COEFFICIENTS_MAX:,}, not {steps:,}: "
                "matrix='banded:K' cuts it to K bands, for any number of steps"
            )
        many = {IDENTITY_WORD: 1, "sqrt": steps}.get(self.word, min(self.bands, steps))
        odd = 3 if self.word == "bisr" else 1
        return tuple(accumulate(range(1, many), lambda value, m: value * (2 * m - odd) / (2 * m), initial=1.0))


def encoder_of(matrix: object, toeplitz: Sequence[float] | None, inverse: Sequence[float] | None) -> Encoder:
    """The encoder that these parameters of a run mean, at most one of them given."""
    lists = {name: value for name, value in (("toeplitz", toeplitz), ("inverse", inverse)) if value is not None}
    if len(lists) > 1 or (lists and matrix != IDENTITY_WORD):
        given = [*lists, *(["matrix"] if matrix != IDENTITY_WORD else [])]
        raise InvalidParameter(f"{' and '.join(given)} say the same: give one of them")
    for name, value in lists.items():
        coefficients = numbers(name, value)
        if len(coefficients) > COEFFICIENTS_MAX:
            raise InvalidParameter(f"{name} must have at most {COEFFICIENTS_MAX:,} coefficients")
        return Encoder(name, coefficients=coefficients)
    word, colon, bands = matrix.partition(":") if isinstance(matrix, str) else ("", "", "")
    if word in BANDED_WORDS and bands.isascii() and bands.isdigit() and len(bands) < 9 and int(bands):
        return Encoder(word, int(bands))
    if word in BANDED_WORDS:
        raise InvalidParameter(f"matrix={word!r} needs its bands, as {word}:16, not {cut(matrix, 40)}")
    if colon or word not in (IDENTITY_WORD, "sqrt", "tree"):
        meant = nearest(matrix, MATRIX_WORDS) if isinstance(matrix, str) else ""
        raise InvalidParameter(
            f"matrix must be one of {', '.join(MATRIX_WORDS)}, not {cut(matrix, 40)}{meant}; coefficients of another C "
            "are toeplitz=, those of its inverse inverse="
        )
    return Encoder(word)
