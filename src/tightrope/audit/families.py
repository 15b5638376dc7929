"""Runs with one open number, the noise: a family that promises less as it falls.

More Gaussian noise is less Gaussian noise with more added to each release, and so is Laplace noise (a share
(b/b')^2 of Laplace noise b needs none, the others Laplace noise b'); sampling comes before, composition keeps the
order. So what refutes the family at one value refutes it at every larger one.
Reference: docs/proofs/audit.md, section 12.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ..core.mechanisms.base import Mechanism
from ..core.text.expressions import Template
from ..core.values.errors import InvalidParameter, TightropeError, WorkExhausted
from .evidence import narrowed

NOISES = {"sigma": "Gaussian", "scale": "Laplace"}
CALLS = re.compile(r"(\w+)\s*\(")
SAMPLING = ("poisson",)
FACTOR, FACTORS_MAX = 2.0, 12  # from 1 on: how far a search for the noise goes
NOISE_NARROW = 1e-4
UNKNOWN_MARK = 0.8414709848078965  # stands for ? until the run is written out


@dataclass(frozen=True)
class Family:
    """The runs of a text with ? for its noise."""

    template: Template
    start: float = 1.0

    @property
    def parameter(self) -> str:
        """What the open number is called."""
        return self.template.parameter

    @property
    def text(self) -> str:
        """As runs are written everywhere, whatever the user left out or turned around."""
        text, number = repr(self.run(UNKNOWN_MARK)), f"{self.parameter}={UNKNOWN_MARK!r}"
        return text.replace(number, f"{self.parameter}=?") if text.count(number) == 1 else self.template.text

    @property
    def gaussian(self) -> bool:
        """Whether it is one Gaussian release, of which 1/sigma is mu."""
        return self.text == "Gaussian(sigma=?)"

    def run(self, value: float) -> Mechanism:
        """The run with this noise."""
        return self.template(value)

    def weakest(self, p: Callable[[float], float], limit: float, start: float | None = None) -> float | None:
        """The least noise found at which p is at most the limit, from start on; None where there is none."""

        def of(x: float) -> float:  # x = -log noise: p rises
            try:
                return p(math.exp(-x))
            except WorkExhausted:
                raise
            except TightropeError:
                return 1.0

        x = -math.log(self.start if start is None else start)
        at, step = of(x), math.log(FACTOR) if start is None else 0.02
        low = (x, at) if at <= limit else None
        high = None if at <= limit else (x, at)
        for _ in range(FACTORS_MAX):
            if low is not None and high is not None:
                break
            try:
                x += step if low is not None else -step
                at = of(x)
            except WorkExhausted:
                break
            if at <= limit:
                low = (x, at)
            else:
                high = (x, at)
            step *= 1.0 if start is None else 2.0
        if low is None:
            return None
        value = low[0] if high is None else narrowed(of, limit, low, high, NOISE_NARROW)
        return math.exp(-value)


def family_of(template: Template) -> Family:
    """The family of a text; InvalidParameter where it is not known to fall with its number."""
    name, calls = template.parameter, set(CALLS.findall(template.text))
    if name not in NOISES or not calls <= {NOISES[name], *SAMPLING}:
        raise InvalidParameter(
            "a claim with ? is one of Gaussian(sigma=?) or Laplace(scale=?), sampled by .poisson and composed: of "
            "others it is not proven that more noise promises more; give the number, and audit that claim"
        )
    return Family(template)
