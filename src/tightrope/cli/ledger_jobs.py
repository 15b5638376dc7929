"""Commands about jobs: held, claimed, committed, given back.

A job of a shell is several processes, so a text stands for the one that runs it: --claimant, another for every run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .. import InvalidParameter
from ..ledger import Claimed
from .ledger_options import SLACK_OPTION, Access, ledger_options, receipt_lines, with_receipts
from .output import spinner

if TYPE_CHECKING:
    from ..ledger import Ledger, Reservation

IDENTITY = click.argument("identity", metavar="ID")
CLAIMANT_HELP = "Of this run of the job, such as $HOSTNAME-$$: another run needs another."
# Exit code 0 lets a script run the job: once, whatever the script claims it with.
BEGUN = "the job {} was begun before, and runs once: reserve anew for another run, with a new key"
STATES = ("reserved", "running", "committed", "cancelled")
TTL_HELP = "Seconds after which it ends by itself: given back if it was never claimed, else spent."


@click.command("reserve", short_help="Hold what a job costs, and print the id.")
@click.argument("pairs", metavar="NAME EXPR [NAME EXPR ...]", nargs=-1, required=True)
@click.option("--key", metavar="TEXT", required=True, help="Of this request: asked again, it is answered the same.")
@click.option("--ttl", type=float, default=3600.0, help=f"{TTL_HELP} Default: 3600.")
@click.option("--start", is_flag=True, help="Claim it at once: the job runs next.")
@click.option("--claimant", metavar="TEXT", help=f"With --start. {CLAIMANT_HELP}")
@click.option("--note", metavar="TEXT", default="", help="What it is for; it stays in the audit.")
@click.option("--worse", is_flag=True, help="Consent to the upper end of a price that work ended early.")
@SLACK_OPTION
@ledger_options
def reserve(access: Access, pairs: tuple[str, ...], key: str, claimant: str | None, **settings: Any) -> int:
    """Holds what a job costs, on its budget and on all above it, and prints the id by which it is known.

    What is held counts as spent. Exit code 4: it does not fit, which is recorded, and final for this key. Several
    budgets pay for one job together, or none does.

    \b
    id=$(tightrope ledger reserve census "Gaussian(sigma=10)" --key table-7) || exit
    tightrope ledger reserve census "Gaussian(sigma=10)" --key table-8 --start --claimant "$HOSTNAME-$$"
    tightrope ledger reserve census "Laplace(scale=10)" survey "Laplace(scale=10)" --key both-1 --json
    """
    if claimant is not None and not settings["start"]:
        raise InvalidParameter("--claimant is for --start here: a job that is claimed later names it then")
    jobs = _jobs(pairs)
    with access.opened(claimant) as ledger:
        with spinner("what it costs"):
            reservation = ledger.reserve(jobs, key, **settings)
        if settings["start"] and reservation.replayed:
            raise Claimed(BEGUN.format(reservation.id))
        access.tell(_told(ledger, reservation), reservation.id)
    return 0


def _jobs(pairs: tuple[str, ...]) -> dict[str, str]:
    """Budgets and the jobs that they pay for, one after the other."""
    if len(pairs) % 2:
        raise InvalidParameter(
            f"each budget is followed by its job, as in census 'Laplace(scale=10)': {pairs[-1]!r:.80}"
        )
    found = dict(zip(pairs[::2], pairs[1::2], strict=True))
    if 2 * len(found) < len(pairs):
        raise InvalidParameter("a budget is named twice: add up its jobs with +")
    return found


def _told(ledger: Ledger, reservation: Reservation) -> dict[str, object]:
    return with_receipts(ledger, {**reservation.document, "replayed": reservation.replayed})


def _tell(access: Access, ledger: Ledger, reservation: Reservation) -> int:
    access.tell(
        _told(ledger, reservation), "\n".join([f"{reservation.state} {reservation.id}", *receipt_lines(ledger)])
    )
    return 0


@click.command("claim", short_help="A job begins: this run of it, and no other.")
@IDENTITY
@click.option("--claimant", metavar="TEXT", required=True, help=CLAIMANT_HELP)
@click.option("--ttl", type=float, help="Seconds from now after which it counts as done.")
@ledger_options
def claim(access: Access, identity: str, claimant: str, ttl: float | None) -> int:
    """A job that was reserved begins. It runs once: exit code 5 where it was claimed before, or was given back.

    \b
    tightrope ledger claim "$id" --claimant "$HOSTNAME-$$"
    """
    with access.opened(claimant) as ledger:
        reservation = ledger.reservation(identity)
        running = reservation.state == "running"
        reservation.claim(ttl=ttl)
        if running or reservation.replayed:
            raise Claimed(BEGUN.format(reservation.id))
        return _tell(access, ledger, reservation)


@click.command("commit", short_help="A job ran: what was held is spent.")
@IDENTITY
@click.option("--claimant", metavar="TEXT", help="The one that claimed it; needed with --part.")
@click.option("--part", metavar="EXPR", help="The steps that ran, where costs add up step by step.")
@click.option("--attest", metavar="TEXT", help="For administrators: what is known of a job that another one claimed.")
@ledger_options
def commit(access: Access, identity: str, claimant: str | None, part: str | None, attest: str | None) -> int:
    """A job ran, and what was held for it is spent: all of it, or the part that ran.

    \b
    tightrope ledger commit "$id" --claimant "$HOSTNAME-$$"
    tightrope ledger commit "$id" --claimant "$HOSTNAME-$$" --part "Gaussian(sigma=1).poisson(rate=0.01) * 400"
    """
    with access.opened(claimant) as ledger:
        with spinner("what the part costs"):
            reservation = ledger.reservation(identity).commit(part, attest=attest)
        return _tell(access, ledger, reservation)


@click.command("cancel", short_help="A job does not run: what was held is free again.")
@IDENTITY
@click.option("--claimant", metavar="TEXT", help="The one that claimed it, if it was claimed.")
@click.option("--attest", metavar="TEXT", help="Of a job that was claimed: that the data were never read, and why.")
@ledger_options
def cancel(access: Access, identity: str, claimant: str | None, attest: str | None) -> int:
    """A job does not run, and what was held for it is free again.

    Once it was claimed somebody has to attest that the data were never read: a crash that depends on data is an
    answer.

    \b
    tightrope ledger cancel "$id"
    tightrope ledger cancel "$id" --claimant "$HOSTNAME-$$" --attest "the data base was down: no row was read"
    """
    with access.opened(claimant) as ledger:
        return _tell(access, ledger, ledger.reservation(identity).cancel(attest))


@click.command("jobs", short_help="The jobs of a budget: who holds what, and since when.")
@click.argument("name")
@click.option("--state", type=click.Choice(STATES), help="Only these: running ones may have crashed.")
@click.option("--most", type=click.IntRange(min=1), default=1000, help="No more than so many; default: 1000.")
@ledger_options
def listing(access: Access, name: str, state: str | None, most: int) -> int:
    """Jobs that were charged to a budget or to a part of it, the newest first; with a token, one's own.

    \b
    tightrope ledger jobs census --state running
    """
    from ..extend.budgets import moment
    from ..extend.tables import aligned

    with access.opened() as ledger:
        found = list(ledger.reservations(name, state=state, most=most))
    rows = [("id", "state", "made", "ends", "who", "job")]
    for each in found:
        ends = moment(each["expires"]) if each["state"] in ("reserved", "running") else ""
        jobs = "; ".join(each["jobs"].values())
        rows.append((each["id"], each["state"], moment(each["made"]), ends, each["principal"], jobs))
    access.tell({"jobs": found}, "\n".join(aligned(rows) if found else ["none"]))
    return 0
