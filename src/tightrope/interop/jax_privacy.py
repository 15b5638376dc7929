"""jax-privacy's plans for noise that steps share, as mechanisms; and its Monte Carlo accountant beside ours.

    BandMFExecutionPlanConfig (2.0), BandMFConfig (2.2)    groups of records, each Poisson sampled in its turn
    BallsInBinsSampling, CyclicPoissonSampling             batches, with the coefficients of C and the noise
The noise of a plan has deviation noise_multiplier ||strategy||, in units of the clipping norm, before C^-1.
Guarantee: the mechanism has the pair of the plan, for a record that is added or removed, or there or not. The Monte
Carlo numbers are jax-privacy's: estimates, which bound nothing.
Reference: the texts of these classes, versions 2.0.0 and 2.2.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from .. import Gaussian, InvalidParameter, MatrixMechanism, Mechanism
from ..extend.parameters import positive, probability, whole
from .missing import missing

try:
    from jax_privacy import batch_selection
    from jax_privacy.experimental.monte_carlo import delta_calculation, sample_generation
except ImportError:
    raise missing("jax_privacy", "jax-privacy>=2.0.0") from None

LIBRARY = f"jax-privacy {version('jax-privacy')}"
SAMPLES, SAMPLES_MAX = 10_000, 10_000_000
EPSILON_HALVINGS = 60  # of an interval of epsilons


def from_config(config: Any, noise_multiplier: float | None = None) -> Mechanism:
    """The run of a BandMF configuration; noise_multiplier stands for that of the configuration."""
    multiplier = getattr(config, "noise_multiplier", None) if noise_multiplier is None else noise_multiplier
    if multiplier is None:
        raise InvalidParameter(
            "the configuration has no noise_multiplier: give one, from_config(config, noise_multiplier=1.0), or find "
            "it by tr.calibrate(lambda sigma: from_config(config, sigma), epsilon=1, delta=1e-5)"
        )
    if getattr(config, "truncated_batch_size", None):
        raise InvalidParameter(
            "truncated_batch_size has no bound where steps share their noise: make the configuration without it"
        )
    relation = getattr(getattr(config, "accountant", None), "neighboring_relation", None)
    if relation is not None and relation.name == "REPLACE_ONE":
        raise InvalidParameter(
            "sampled groups are known for a record that is there or not, and the accountant is about one that is "
            "replaced: make it for ADD_OR_REMOVE_ONE or REPLACE_SPECIAL"
        )
    strategy = np.asarray(config.strategy, float).tolist()
    steps = whole("iterations", config.iterations, least=1)
    rate = getattr(config, "sampling_prob", None)
    if rate is None:
        rate = config.expected_participations * len(strategy) / steps
    sigma = positive("noise_multiplier", multiplier) * float(np.linalg.norm(strategy))
    if config.column_normalize:  # every column of C has norm 1, and the noise is that of the strategy
        return Gaussian(sigma=sigma).poisson(rate=probability("sampling_prob", rate)) * -(-steps // len(strategy))
    return MatrixMechanism(sigma=sigma, toeplitz=strategy, steps=steps, rate=rate, groups=len(strategy))


def from_sampling(strategy: Any, noise_multiplier: float, c_col: Sequence[float]) -> MatrixMechanism:
    """The run over batches of this strategy; noise_multiplier is the deviation over the clipping norm, and c_col are
    the coefficients of C, as jax-privacy's Monte Carlo takes both."""
    sigma, entries, steps = positive("noise_multiplier", noise_multiplier), tuple(c_col), strategy.iterations
    if isinstance(strategy, batch_selection.BallsInBinsSampling):
        return MatrixMechanism(sigma=sigma, toeplitz=entries, steps=steps, bins=strategy.cycle_length)
    if isinstance(strategy, batch_selection.CyclicPoissonSampling) and strategy.truncated_batch_size is None:
        rate, groups = strategy.sampling_prob, strategy.cycle_length
        return MatrixMechanism(sigma=sigma, toeplitz=entries, steps=steps, rate=rate, groups=groups)
    raise InvalidParameter(
        f"{type(strategy).__name__} has no bound where steps share their noise: BallsInBinsSampling, and "
        "CyclicPoissonSampling without truncated_batch_size, have one"
    )


@dataclass(frozen=True)
class MonteCarloEpsilon:
    """An epsilon of so many losses that were drawn, in the worse direction, and about how far its delta may be off."""

    epsilon: float
    delta_error: float  # relative, one deviation
    samples: int

    @property
    def said(self) -> str:
        """In one line."""
        return (
            f"Monte Carlo of {LIBRARY}, {self.samples:,} losses: epsilon about {self.epsilon:.4g}, its delta known to "
            f"about {100.0 * self.delta_error:.2g} %; an estimate, no bound"
        )

    def document(self) -> dict[str, object]:
        """As JSON has it."""
        return {"library": LIBRARY, **asdict(self)}


def monte_carlo(run: MatrixMechanism, delta: float, samples: int = SAMPLES, seed: int = 0) -> MonteCarloEpsilon:
    """What jax-privacy's Monte Carlo says of the epsilon of a run over balls in bins: no bound, and no certificate."""
    if run.bins is None or run.toeplitz is None or run.restart is not None or run.sensitivity != 1.0:
        raise InvalidParameter(
            "jax-privacy draws losses of balls in bins for a Toeplitz C of sensitivity 1: MatrixMechanism(sigma=..., "
            "toeplitz=..., steps=..., bins=...)"
        )
    aim = probability("delta", delta)
    many = whole("samples", samples, least=2)
    if many > SAMPLES_MAX:
        raise InvalidParameter(f"samples must be at most {SAMPLES_MAX:,}, not {many:,}")
    assert run.steps is not None
    strategy = batch_selection.BallsInBinsSampling(iterations=run.steps, cycle_length=run.bins)
    coefficients = np.asarray(run.toeplitz[: run.steps])
    best = MonteCarloEpsilon(0.0, 0.0, many)
    for positive_sample in (True, False):
        losses, _ = sample_generation.get_privacy_loss_sample(
            strategy, run.sigma, coefficients, seed=seed, positive_sample=positive_sample, num_samples=many
        )
        low, high = 0.0, max(float(np.max(losses)), 0.0)
        for _ in range(EPSILON_HALVINGS):
            middle = (low + high) / 2.0
            over = delta_calculation.delta_from_epsilon_and_samples(middle, losses) > aim
            low, high = (middle, high) if over else (low, middle)
        shares = -np.expm1(np.minimum(high - losses, 0.0))
        spread = float(np.std(shares)) / math.sqrt(many)
        if high >= best.epsilon:
            best = MonteCarloEpsilon(high, spread / aim if aim else math.inf, many)
    return best
