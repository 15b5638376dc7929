"""The command that finds the least noise, or the largest rate or count, for a target of any reading."""

from __future__ import annotations

import re
import time
from typing import Any

import click

import tightrope as tr

from .. import BracketNotFound, Calibration, Certificate, Direction, InvalidParameter, Target
from ..extend import result
from ..extend.expressions import parse_template
from ..extend.questions import SECONDS, Limits
from ..extend.wording import short, timed
from .knobs import engine_options
from .options import TIME, given_date, json_options
from .output import assured, say, spinner

# Each keyword of a Target as an option.
TARGETS: dict[str, str] = {
    "epsilon": "The most that epsilon may be, 0 or above; with --delta.",
    "delta": "In [0, 1); with --epsilon.",
    "advantage": "The most by which an attacker's true positive rate may exceed the false one.",
    "total_variation": "The same by its other name.",
    "tpr": "The most that a true positive rate may be; with --fpr.",
    "fpr": "The false positive rate; with --tpr or --posterior.",
    "mu": "The most that mu of Gaussian DP may be.",
    "delta_least": "With --mu: only where delta is at least this; default: 0, everywhere.",
    "rho": "The most that rho of zCDP may be.",
    "order_most": "With --rho: only up to this Renyi order; default: inf.",
    "bayes_accuracy": "The most that the share of right guesses may be; with --prior.",
    "prior": "Belief beforehand that the record is in (add: that it is not); with --bayes-accuracy or --posterior.",
    "posterior": "The most that the belief after a positive may be; with --prior and --fpr.",
    "reconstruction": "The most that the success of guessing a record may be; with --baseline.",
    "baseline": "The success of guessing without the answer; with --reconstruction.",
    "mean_loss": "The most that the mean loss (Kullback-Leibler) may be.",
    "renyi": "The most that the Renyi divergence may be; with --order.",
    "order": "The order of it; with --renyi.",
}


def option_of(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def target_options(command: Any) -> Any:
    """One option per keyword of a target, in their order."""
    for name, told in reversed(TARGETS.items()):
        command = click.option(option_of(name), name, type=float, help=told)(command)
    return command


@click.command("calibrate", short_help="The least noise, or the most uses, that meet a target.")
@click.argument("expression", metavar="EXPR")
@target_options
@click.option("--integer", is_flag=True, help="The unknown is a whole number (a batch, a count).")
@click.option("--least", type=float, help="Smallest value of the unknown to look at.")
@click.option("--most", type=float, help="Largest value of the unknown to look at.")
@click.option("--tolerance", type=float, default=1e-6, help="Relative distance to a value that misses; default: 1e-6.")
@click.option("--seconds", type=TIME, default=SECONDS, help="For the whole search; then the best so far. Default: 10.")
@click.option("--proof", is_flag=True, help="Ball arithmetic only: every rounding enclosed.")
@click.option(
    "--direction",
    type=click.Choice([direction.value for direction in Direction]),
    help="One direction only; default: the worse.",
)
@json_options(", with certificates")
@engine_options
def calibrate(expression: str, integer: bool, as_document: bool, **settings: Any) -> int:
    """The least noise, or the largest rate or count, that meets a target; ? marks the unknown in EXPR.

    \b
    A target is one of these:
      --epsilon E --delta D         --advantage A           --total-variation A
      --tpr T --fpr F               --mu M                  --mu M --delta-least D
      --rho R                       --rho R --order-most O  --renyi D --order O
      --bayes-accuracy B --prior P  --mean-loss L           --reconstruction S --baseline B
      --posterior Q --prior P --fpr F
    \b
    tightrope calibrate "Gaussian(sigma=?).poisson(rate=0.01) * 1000" --epsilon 3 --delta 1e-6
    tightrope calibrate "Gaussian(sigma=?).poisson(rate=0.01) * 1000" --tpr 0.05 --fpr 0.01
    tightrope calibrate "Gaussian(sigma=1).poisson(rate=0.01) * ?" --advantage 0.1
    tightrope calibrate "Gaussian(sigma=1).poisson(rate=?/60000) * 100" --integer --epsilon 3 --delta 1e-6
    """
    from ..extend.questions import GIVE_ENDS
    from .app import read

    try:
        target = Target(**{name: settings.pop(name) for name in Limits.__annotations__})
    except InvalidParameter as error:
        raise InvalidParameter(_as_options(str(error))) from None
    template = read(expression, parse_template)
    began = time.perf_counter()
    with spinner(f"the best {template.parameter}"):
        try:
            whole = integer or template.integer
            calibration = tr.calibrate(template, target=target, parameter=template.parameter, integer=whole, **settings)
        except BracketNotFound as error:
            told = str(error).replace(GIVE_ENDS, "give --least and --most")
            raise BracketNotFound(told, error.parameter) from None
    seconds = time.perf_counter() - began
    say(result.calibration(calibration, seconds, given_date()) if as_document else as_text(calibration, seconds))
    return 0


def as_text(answer: Calibration, seconds: float, beside: bool = True) -> str:
    """The value, the mechanism with it (beside the value) and what that reaches; beneath, the value that misses."""
    target = answer.target
    filled = f"{answer.parameter} = {short(answer.value)}{f', {answer.mechanism!r}' if beside else ''}"
    lines = [f"{filled}: {target.title} in {answer.bound} {target.where}".rstrip()]
    if answer.missed is not None:
        lines.append(
            f"  {answer.parameter} = {short(answer.missed.value)} misses it: {target.title} in {answer.missed.bound}, "
            f"above {short(target.limit)}"
        )
    if answer.ended is not None:
        lines.append(
            f"  {'no value was shown to miss it' if answer.missed is None else 'it ended there'}: {answer.ended}"
        )
    lines += assured(answer.bound)
    certificate = answer.bound.certificate
    if certificate is not None and not certificate.tight:
        lines.append(f"  note: {_spoken_of(answer, certificate)}")
    about = [] if certificate is None else [certificate.engine, certificate.arithmetic]
    lines.append(click.style("  " + ", ".join([*about, timed(seconds)]), dim=True))
    return "\n".join(lines)


def _spoken_of(calibration: Calibration, certificate: Certificate) -> str:
    """What the lower ends speak of, where the mechanism is not tight: a search asks the dominating pair alone."""
    if certificate.attained:
        return f"the lower end is {certificate.lower_end}"
    ends = "each end is that of the dominating pair" + (
        ", also of what misses it" if calibration.missed is not None else ""
    )
    real = (
        calibration.mechanism.attained_once if calibration.target.name == "epsilon" else calibration.mechanism.attained
    )
    if not real:
        return f"{ends}; the mechanism itself may lose less"
    return f"{ends}: for what real neighbours lose, ask {calibration.target.title} of the mechanism itself"


def _as_options(message: str) -> str:
    """What a message writes as Target(tpr=..., fpr=0.01), as --tpr ... --fpr 0.01."""

    def options(match: re.Match[str]) -> str:
        given = (word.split("=") for word in match[1].split(", "))
        return " ".join(f"{option_of(name)} {value}" for name, value in given)

    return re.sub(r"Target\(([^)]*)\)", options, message)
