"""Numbers of other libraries that no case asks for and that miss the truth: python -m benchmarks.peers.faults.

Each is a few lines that anyone can paste; they run in the environments of make bench-peers, and what they print goes
into faults.json beside the truth, which is found as in truth.py, without the package; but the last is our lower end.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap

from .case import HERE, Case

COLUMNS = 116
FAULTS = HERE / "faults.json"
RECENT, OLD = ".venv-peers", ".venv-peers-autodp"


@dataclass(frozen=True)
class Fault:
    """Lines that print one number, which should be no less than the truth."""

    name: str
    package: str
    environment: str
    code: str
    why: str
    truth: Callable[[], str]

    @property
    def command(self) -> str:
        """For a shell."""
        return f"{self.environment}/bin/python -W ignore -c '{self.code}'"


def reports() -> str:
    """Ten reports of one of three answers, the true one with 2/3: the sum over how many are true and false."""
    from flint import arb, ctx

    from .truth import solved

    def delta(epsilon: arb) -> arb:
        total = arb(0)
        for true in range(11):
            for false in range(11 - true):
                loss = (true - false) * arb(4).log() - epsilon
                if loss > 0:
                    ways = math.comb(10, true) * math.comb(10 - true, false)
                    mass = Fraction(2, 3) ** true * Fraction(1, 6) ** (10 - true) * ways
                    total += arb(mass.numerator) / mass.denominator * (1 - (-loss).exp())
        return total

    ctx.prec = 256
    return solved(delta, 1e-3)


def one_gaussian() -> str:
    """The closed form."""
    from .truth import gaussian, solved

    return solved(gaussian(Fraction(1, 4)), 1e-6)


def least_sigma() -> str:
    """By secants on the closed form."""
    from .truth import calibrated

    step = {"noise": "gaussian", "sigma": "?", "count": 1}
    return calibrated(Case("sigma", "", (step,), delta=1e-10, question="sigma", epsilon=1.0))[0]


def summed_batches() -> str:
    """A record is in so many of four samples as a group of four has members in one: our certified lower end."""
    import tightrope as tr

    return repr(tr.parse("Gaussian(sigma=1.1).poisson(rate=0.05).group(size=4) * 5").epsilon(1e-5).lower)


KNOWN = (
    Fault(
        "reports",
        "dp-accounting",
        RECENT,
        """
from dp_accounting import NeighboringRelation, RandomizedResponseDpEvent
from dp_accounting.pld import PLDAccountant
accountant = PLDAccountant(NeighboringRelation.REPLACE_ONE)
print(accountant.compose(RandomizedResponseDpEvent(0.5, 3), 10).get_epsilon(1e-3))
""",
        "Epsilon of ten reports: PLDAccountant takes a RandomizedResponseDpEvent once, whatever its count.",
        reports,
    ),
    Fault(
        "phi-function",
        "autodp",
        OLD,
        """
from autodp.mechanism_zoo import GaussianMechanism
print(GaussianMechanism(2.0, phi_off=False).get_approxDP(1e-6))
""",
        "Epsilon of Gaussian noise by its phi-function, with this scipy and a recent one: the search ends at 0. "
        "So it does for whatever has a phi-function, composed by ComposeAFA or not; get_approx_delta does not suffer.",
        one_gaussian,
    ),
    Fault(
        "least-sigma",
        "autodp",
        OLD,
        """
from autodp.calibrator_zoo import ana_gaussian_calibrator
from autodp.mechanism_zoo import ExactGaussianMechanism
print(ana_gaussian_calibrator()(ExactGaussianMechanism, 1.0, 1e-10).params["sigma"])
""",
        "The least sigma for epsilon 1 at delta 1e-10: less noise than it takes.",
        least_sigma,
    ),
    Fault(
        "summed-batches",
        "opacus",
        RECENT,
        """
from types import SimpleNamespace
from benchmarks.peers.tools.opacus import accountants
accountant = accountants().create_accountant("prv")
after_step = accountant.get_optimizer_hook_fn(sample_rate=0.05)
for _ in range(5):
    after_step(SimpleNamespace(noise_multiplier=1.1, accumulated_iterations=4))
print(accountant.get_epsilon(delta=1e-5))
""",
        "Epsilon of 5 steps, each of which sums 4 Poisson batches: the accountant takes them as one batch at 4 times "
        "the rate, but a record may be in several. The truth here is our certified lower end.",
        summed_batches,
    ),
)


def section() -> list[str]:
    """Of the page."""
    said = json.loads(FAULTS.read_text())["faults"]
    lines = ["### Beyond the cases", ""]
    for fault in KNOWN:
        value, truth = float(said[fault.name]["value"]), float(said[fault.name]["truth"])
        lines += wrap(f"**{fault.package}: {value:.10g}, the truth {truth:.10g}.** {fault.why}", COLUMNS)
        lines += ["", "```sh", fault.command, "```", ""]
    return lines


def main() -> None:
    """All of them, into the file."""
    found = {}
    for fault in KNOWN:
        command = [str(HERE.parents[1] / fault.environment / "bin" / "python"), "-W", "ignore", "-c", fault.code]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE.parents[1])
        found[fault.name] = {"value": done.stdout.split()[-1], "truth": fault.truth()}
        print(fault.name, found[fault.name], flush=True)
    rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in found.items())
    FAULTS.write_text('{"command": "python -m benchmarks.peers.faults", "faults": {\n' + rows + "\n}}\n")


if __name__ == "__main__":
    main()
