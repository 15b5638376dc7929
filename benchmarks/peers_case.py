"""One peer on one case, in this process: prints JSON. Run by benchmarks/peers.py, which sets the limits.

Usage: peers_case.py TOOL SIGMA RATE COUNT DELTA; the tool's package must be importable.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time


def tightrope(sigma: float, rate: float, count: int, delta: float) -> tuple[float, float]:
    """The certified interval."""
    import tightrope as tr

    bound = (tr.Gaussian(sigma=sigma).poisson(rate=rate) * count).epsilon(delta)
    return bound.lower, bound.upper


def dp_accounting(sigma: float, rate: float, count: int, delta: float) -> tuple[float, float]:
    """The pessimistic answer at interval 1e-4; it offers no lower end of its own."""
    import dp_accounting as library
    from dp_accounting import pld

    accountant = pld.PLDAccountant(value_discretization_interval=1e-4)
    accountant.compose(library.PoissonSampledDpEvent(rate, library.GaussianDpEvent(sigma)), count)
    return 0.0, float(accountant.get_epsilon(delta))


def prv_accountant(sigma: float, rate: float, count: int, delta: float) -> tuple[float, float]:
    """Its interval at an epsilon error of 0.01."""
    from prv_accountant import (  # type: ignore[import-not-found]
        PoissonSubsampledGaussianMechanism,
        PRVAccountant,
    )

    mechanism = PoissonSubsampledGaussianMechanism(noise_multiplier=sigma, sampling_probability=rate)
    accountant = PRVAccountant(
        prvs=[mechanism], max_self_compositions=[count], eps_error=0.01, delta_error=delta / 1000.0
    )
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=[count])
    return float(low), float(high)


TOOLS = {"tightrope": tightrope, "dp-accounting": dp_accounting, "prv-accountant": prv_accountant}


def main() -> None:
    """The first answer is timed too: most users ask once."""
    tool, sigma, rate, count, delta = TOOLS[sys.argv[1]], *map(float, sys.argv[2:6])
    times: list[float] = []
    while len(times) < 3 and sum(times) < 5.0:
        began = time.perf_counter()
        lower, upper = tool(sigma, rate, round(count), delta)
        times.append(time.perf_counter() - began)
    json.dump(
        {
            "lower": lower if math.isfinite(lower) else str(lower),
            "upper": upper if math.isfinite(upper) else str(upper),
            "seconds_first": times[0],
            "seconds": min(times),
            "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()
