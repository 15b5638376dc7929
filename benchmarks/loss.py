"""Width and CPU time of readings of the loss: python -m benchmarks.loss."""

from __future__ import annotations

import time

from tightrope import parse

READINGS = (
    ("Gaussian(sigma=1) * 4", "pdp", 2.0),
    ("Laplace(scale=1) * 3", "pdp", 1.0),
    ("RandomizedResponse(p=0.75) * 512", "pdp", 300.0),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "pdp", 1.0),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "pdp", 0.0),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "loss_cdf", -1.0),
    ("Gaussian(sigma=1).poisson(rate=0.01) * 1000", "loss_quantile", 0.99),
    ("Gaussian(sigma=1).poisson(rate=0.25) * 2", "pdp", 1.0),
    ("Gaussian(sigma=100).poisson(rate=0.001) * 1000000000", "pdp", 5.0),
    ("DiscreteGaussian(sigma=3) * 50", "pdp", 0.0),
    ("TruncatedGaussian(sigma=2, bounds=[-6, 5]) * 16", "pdp", 1.0),
    ("Exponential(epsilon=0.5) * 20", "pdp", 1.0),
    ("Exponential(epsilon=0.5) * 2", "pdp", 0.1),
    ("Laplace(scale=2).poisson(rate=0.1) * 60", "pdp", 1.0),
    ("(Gaussian(sigma=3) + Laplace(scale=4)).poisson(rate=0.1) * 10", "pdp", 0.2),
)


def main() -> None:
    """One line for each."""
    for text, quantity, value in READINGS:
        run = parse(text)
        start = time.process_time()
        found = getattr(run, quantity)(value)
        seconds = time.process_time() - start
        engine = "" if found.certificate is None else f"{found.certificate.engine}, {found.certificate.arithmetic}"
        size = max(abs(found.lower), abs(found.upper), 1e-300)
        print(f"{found.width / size:8.1e}  {seconds:6.3f} s  {engine:22} {quantity}({value:g}) of {text}")


if __name__ == "__main__":
    main()
