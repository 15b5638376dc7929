"""The running example of the characteristic-function paper's software."""

from __future__ import annotations

from tightrope import Gaussian, Mechanism, PureDP

PRINTED = {1e-6: 2.18001192542518, 1e-4: 1.689983703842748}  # what that software printed, by delta


def running_example() -> Mechanism:
    """Three Gaussians of sigma 5, five of sigma 8, and one pure mechanism."""
    return Gaussian(sigma=5.0) * 3 + Gaussian(sigma=8.0) * 5 + PureDP(epsilon=0.1)
