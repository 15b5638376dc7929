"""Vuvuzela's cover traffic as section 7 has it, and the analysis of its authors.

Whole numbers of messages, rounded up and clamped at 0: ceil(max(0, noise(mean))) against ceil(max(0, noise(mean + s))).
Dialing: s = 2. Conversation: s = 2 at (mean, spread) together with s = 1 at (mean/2, spread/2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from flint import arb

from tightrope import Mechanism
from tightrope.core.conversions.classical import at_or_above
from tightrope.core.mechanisms.truncated import TruncatedGaussian, TruncatedLaplace

TARGET = (2.0, 1e-4)  # e^epsilon and delta
SLACK = 1e-5  # the part of delta that the original analysis gives to advanced composition


@dataclass(frozen=True, slots=True)
class Noise:
    """Laplace noise of scale `spread` (LP) or Gaussian noise of deviation `spread` (GS) around `mean`."""

    shape: str
    mean: float
    spread: float

    def half(self) -> Noise:
        """Half the mean and half the spread: the noise on pairs of requests."""
        return Noise(self.shape, self.mean / 2.0, self.spread / 2.0)

    def gaussian(self) -> Noise:
        """Gaussian noise of the same mean and variance as this Laplace noise."""
        return Noise("GS", self.mean, self.spread * math.sqrt(2.0))

    def __str__(self) -> str:
        spread = f"{self.spread:g}" if self.spread < 10_000 else f"{self.spread / 1000:.3g}k"
        return f"{self.shape}({self.mean / 1000:g}k, {spread})"


def clamped(noise: Noise, sensitivity: float) -> Mechanism:
    """As the protocol does it: what would be negative is 0."""
    return _truncated(noise, (0.0, math.inf), "clamp", noise.mean, sensitivity)


def cut(noise: Noise, sensitivity: float) -> Mechanism:
    """Noise conditioned to be at least 0 without the record: fewer than `sensitivity` messages tell everything."""
    return _truncated(noise, (-noise.mean, math.inf), "cut", noise.mean, sensitivity)


def _truncated(noise: Noise, bounds: tuple[float, float], mode: str, mean: float, sensitivity: float) -> Mechanism:
    if noise.shape == "GS":
        return TruncatedGaussian(noise.spread, mean, bounds, mode, integer=True, sensitivity=sensitivity)
    return TruncatedLaplace(noise.spread, mean, bounds, mode, integer=True, sensitivity=sensitivity)


def dialing(noise: Noise, rounds: int) -> Mechanism:
    """The dialing protocol."""
    return clamped(noise, 2.0) * rounds


def conversation(noise: Noise, rounds: int) -> Mechanism:
    """The conversation protocol: both components in every round."""
    return (clamped(noise, 2.0) + clamped(noise.half(), 1.0)) * rounds


def one_component(noise: Noise, rounds: int) -> Mechanism:
    """The conversation protocol with its single requests alone."""
    return clamped(noise, 2.0) * rounds


def conversation_cut(noise: Noise, rounds: int) -> Mechanism:
    """The conversation protocol if its noise were cut instead of clamped."""
    return (cut(noise, 2.0) + cut(noise.half(), 1.0)) * rounds


@dataclass(frozen=True, slots=True)
class Original:
    """What advanced composition says of Laplace noise, rounded up: epsilon and delta of all rounds."""

    epsilon: float
    delta: float

    @property
    def factor(self) -> float:
        """e^epsilon, rounded up."""
        return at_or_above(lambda: arb(self.epsilon).exp())


def original_dialing(noise: Noise, rounds: int) -> Original:
    """One round is (2/b, exp((2 - mean)/b)/2)-DP."""
    return _original(noise, rounds, shift=2, weight=0.5)


def original_conversation(noise: Noise, rounds: int) -> Original:
    """One round is (4/b, exp((2 - mean)/b))-DP: both components added up."""
    return _original(noise, rounds, shift=4, weight=1.0)


def _original(noise: Noise, rounds: int, shift: int, weight: float) -> Original:
    """E = e sqrt(2 k log(1/s)) + k e (e^e - 1), D = k d + s, where d is the mass of outputs below 2 messages."""

    def epsilon() -> arb:
        once = arb(shift) / arb(noise.spread)
        return once * (-2 * rounds * arb(SLACK).log()).sqrt() + rounds * once * once.expm1()

    def delta() -> arb:
        return rounds * arb(weight) * ((2 - arb(noise.mean)) / arb(noise.spread)).exp() + arb(SLACK)

    return Original(at_or_above(epsilon), at_or_above(delta))


DIAL_FEW, DIAL_MANY = 1_024, 8_192
TALK_FEW, TALK_MANY = 65_536, 524_288

LP_8K, LP_13K, LP_20K = Noise("LP", 8_000, 500), Noise("LP", 13_000, 770), Noise("LP", 20_000, 1_130)
LP_4K, LP_10K = Noise("LP", 4_000, 330), Noise("LP", 10_000, 827)
GS_1K6, GS_4K1 = Noise("GS", 1_600, 320), Noise("GS", 4_100, 833)
GS_8K, GS_20K = Noise("GS", 8_000, 707), Noise("GS", 20_000, 1_598)

NEW_1, NEW_2 = Noise("GS", 15_000, 2_500), Noise("GS", 45_000, 7_500)
LOW, MEDIUM, HIGH = Noise("LP", 150_000, 7_300), Noise("LP", 300_000, 13_800), Noise("LP", 450_000, 20_000)
LP_37K, LP_112K = Noise("LP", 37_500, 2_300), Noise("LP", 112_500, 6_900)
