"""Commands for who keeps a ledger: audit, verification, anchors, backups, and what follows a restore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from .. import InvalidParameter
from ..extend import documents
from ..extend.wording import check_folder
from ..ledger import VerificationFailed, WentBack
from .ledger_options import Access, ledger_options, receipt_lines, with_receipts
from .output import complain, say, spinner

FINDINGS_SHOWN = 50
ANCHOR_OPTION = click.option("--anchor", "anchored", metavar="FILE", help="What tightrope ledger anchor wrote before.")
NEW_FILE = click.argument("place", metavar="FILE")


def read_anchor_file(path: str | None) -> Mapping[str, Any] | None:
    """The anchor in a file; None where none was named."""
    if path is None:
        return None
    from ..extend.ledgers import read_anchor

    return read_anchor(path)


def check_new(path: str, what: str) -> None:
    """InvalidParameter for a file that exists: none is overwritten here."""
    check_folder(path)
    if os.path.lexists(path):
        raise InvalidParameter(f"{path} exists: {what} is a new file, so take another name")


@click.command("audit", short_help="What happened: the lines of a chain.")
@click.argument("root", metavar="ROOT")
@click.option("--after", type=click.IntRange(min=0), default=0, help="Only the lines after this number.")
@ledger_options
def audit(access: Access, root: str, after: int) -> int:
    """What happened to a root budget and all its parts, a line each; _ledger is the chain of tokens.

    With --json every line is an object of its own, with the hash of the line before.

    \b
    tightrope ledger audit census
    tightrope ledger audit census --after 120 --json
    """
    from ..extend.budgets import audit_line

    with access.opened() as ledger:
        for line in ledger.audit(root, after):
            say(documents.write(dict(line)) if access.as_document else audit_line(line))
    return 0


@click.command("verify", short_help="Rebuild everything from the chains, and compare.")
@ANCHOR_OPTION
@click.option("--receipt", "receipts", metavar="TEXT", multiple=True, help="One that was given before; repeated.")
@click.option("--prices", is_flag=True, help="Price every job again, too: none was charged less than it costs.")
@ledger_options
def verify(access: Access, anchored: str | None, receipts: tuple[str, ...], prices: bool) -> int:
    """Reads every chain from its beginning, rebuilds all counters from it, and compares. Exit code 6: it does not hold.

    With an anchor or receipts from before, also that nothing was lost since: a ledger that lacks what its own key
    witnessed is frozen.

    \b
    tightrope ledger verify
    tightrope ledger verify --anchor 2026-11-16.anchor --key-file budget.key
    tightrope ledger verify --receipt census:12:5f0c... --json
    tightrope ledger verify --prices
    """
    with access.opened() as ledger, spinner("reading the chains"):
        anchor = read_anchor_file(anchored)
        try:
            found = {**ledger.verify(anchor, receipts), **(ledger.verify_prices() if prices else {})}
        except VerificationFailed as failed:
            return _failed(access, failed.findings)
        except WentBack as failed:
            return _failed(access, failed.findings, "an old backup was restored, or its audit was cut")
    compared = [f"  compared with {anchored}"] if anchored is not None else []
    counted = ", ".join(f"{found[name]:,} {name}" for name in ("lines", "roots", "reservations"))
    if prices:
        compared.append(f"  prices    {found['priced']:,} again, {found['cheaper']:,} of them are less now")
    if prices and found["unknown"]:
        compared.append(f"  unknown   {found['unknown']:,} older lines do not say with what slack they were priced")
    access.tell({"verified": True, **found}, "\n".join([f"verified: {counted}", *compared]))
    return 0


def _failed(
    access: Access, findings: tuple[str, ...], why: str = "it was edited, or a program wrote it wrongly"
) -> int:
    shown = [f"  {' '.join(finding.split())}" for finding in findings[:FINDINGS_SHOWN]]
    if len(findings) > len(shown):
        shown.append(f"  and {len(findings) - len(shown):,} more")
    access.tell({"verified": False, "findings": list(findings)}, "\n".join(["not verified:", *shown]))
    complain(f"the ledger does not hold: {why}")
    return VerificationFailed.exit


@click.command("anchor", short_help="The heads of all chains, to be kept elsewhere.")
@click.option("-o", "--output", metavar="FILE", help="A new file; default: standard output.")
@ledger_options
def anchor(access: Access, output: str | None) -> int:
    """The heads of all chains with what was used, to be kept elsewhere: it notices a ledger that went back.

    \b
    tightrope ledger anchor -o $(date +%F).anchor --key-file budget.key
    """
    if output is not None:
        check_new(output, "an anchor")
    with access.opened() as ledger:
        found = ledger.anchor()
    from ..extend.ledgers import canonical, own_file

    text = canonical(found)  # as it is signed: with nothing added
    if output is None:
        say(text)
        return 0
    with open(output, "x", encoding="utf-8", opener=own_file) as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    heads = {root: each["seq"] for root, each in found["roots"].items()}
    access.tell(
        {"anchor": output, "heads": heads, "signed": "mac" in found}, f"written: {output}, {len(heads):,} chains"
    )
    return 0


@click.command("backup", short_help="A copy of one moment, made by the database itself.")
@NEW_FILE
@ledger_options
def backup(access: Access, place: str) -> int:
    """A copy of one moment, whole. The file of a ledger copied by other means may lack what was committed last.

    A ledger that comes back from a backup has forgotten charges: docs/ledger.md says what to do then.

    \b
    tightrope ledger backup /backups/budget-$(date +%F).db
    """
    check_new(place, "a backup")
    with access.opened() as ledger, spinner("making the copy"):
        ledger.backup(place)
    access.tell({"backup": place}, f"written: {place}")
    return 0


@click.command("export", short_help="All chains as a file, for another place; here they end.")
@NEW_FILE
@click.option("--again", is_flag=True, help="Also what left before, if that file was lost and imported nowhere.")
@ledger_options
def export(access: Access, place: str, again: bool) -> int:
    """Writes all chains to a new file, from which import rebuilds them elsewhere; here all roots are closed for good.

    \b
    tightrope ledger export ledger.jsonl
    """
    check_new(place, "an export")
    with access.opened() as ledger, spinner("writing the chains"):
        count = ledger.export(place, again=again)
    access.tell({"export": place, "lines": count}, f"written: {place}, {count:,} lines; nothing more is spent here")
    return 0


@click.command("import", short_help="A ledger from what export wrote, in an empty place.")
@NEW_FILE
@ANCHOR_OPTION
@ledger_options
def bring(access: Access, place: str, anchored: str | None) -> int:
    """Rebuilds a ledger in an empty place from what export wrote; every line is verified before any is kept.

    With a key file it must be signed by that key, with an anchor it must have all that this names.

    \b
    TIGHTROPE_LEDGER=postgresql://ledger@db/budgets tightrope ledger import ledger.jsonl
    """
    from .. import ledger

    anchor = read_anchor_file(anchored)
    with (
        spinner("reading the chains"),
        ledger.import_file(access.local, place, key_file=access.key_file, anchor=anchor) as made,
    ):
        found = made.verify()
    access.tell({"import": place, **found}, f"imported {place}: {found['lines']:,} lines, {found['roots']:,} roots")
    return 0


@click.command("migrate", short_help="Bring the tables to this version, with a backup before.")
@click.option("--backup", "copy", metavar="FILE", help="A new file for the backup; default: beside the ledger.")
@ledger_options
def migrate(access: Access, copy: str | None) -> int:
    """Takes the steps that a newer program brings: it verifies, makes a backup, takes them, and verifies again.

    A PostgreSQL ledger is backed up by pg_dump or pg_basebackup before.

    \b
    tightrope ledger migrate --backup before.db
    """
    from .. import ledger

    if copy is not None:
        check_new(copy, "a backup")
    with spinner("verifying"):
        version = ledger.migrate(access.local, backup=copy)
    access.tell({"version": version}, f"the ledger is of version {version}")
    return 0


@click.command("freeze", short_help="Stop a root: nothing more is spent until it is recovered.")
@click.argument("root", metavar="ROOT")
@click.option("--why", metavar="TEXT", required=True, help="It stays in the audit.")
@ledger_options
def freeze(access: Access, root: str, why: str) -> int:
    """Nothing more is spent of this root and its parts until somebody recovers it.

    \b
    tightrope ledger freeze census --why "a backup may have been restored: being looked at"
    """
    with access.opened() as ledger:
        ledger.freeze(root, why)
        state = next(str(budget["state"]) for budget in ledger.budgets() if budget["name"] == root)
        content = {"name": root, "state": state}
        access.tell(with_receipts(ledger, content), "\n".join([f"{root} is {state}", *receipt_lines(ledger)]))
    return 0


@click.command("clock", short_help="Go on from the clock, after one that ran ahead was set right.")
@click.option("--why", metavar="TEXT", required=True, help="It stays in the audit.")
@ledger_options
def clock(access: Access, why: str) -> int:
    """Time never runs backwards in a ledger: after a clock that ran ahead, it stands still until the clock is there.

    This lets it go on from where the clock is now, with a line in every chain. What ended by the wrong clock stays so.

    \b
    tightrope ledger clock --why "the machine woke up in 2031; chrony set it right at 9:40"
    """
    with access.opened() as ledger:
        found = ledger.set_clock(why)
        from ..extend.budgets import moment

        line = f"time goes on from {moment(found['to'])}; it stood at {moment(found['from'])}"
        access.tell(with_receipts(ledger, found), "\n".join([line, *receipt_lines(ledger)]))
    return 0


SYSTEM_CHAIN = "_ledger"


@click.command("recover", short_help="Open a frozen root again, with what was lost counted.")
@click.argument("root", metavar="ROOT")
@click.option("--why", metavar="TEXT", required=True, help="It stays in the audit.")
@ANCHOR_OPTION
@click.option("--complete", is_flag=True, help="The anchor is from after the last charge that anybody made.")
@ledger_options
def recover(access: Access, root: str, why: str, anchored: str | None, complete: bool) -> int:
    """Opens a frozen root after a restore: counters are raised to the anchor's, and all that is left is burnt.

    Nobody knows what was spent after the backup unless the anchor is from after the last charge: say --complete then,
    and only then. The root _ledger is that of tokens: all are revoked, as nobody knows which were.

    \b
    tightrope ledger recover census --why "disk of 16 November" --anchor 2026-11-16.anchor --complete
    tightrope ledger recover census --why "no anchor: what is left is given up"
    """
    with access.opened() as ledger:
        anchor = read_anchor_file(anchored)
        found = ledger.recover(root, why, anchor=anchor, complete=complete)
        rest = "all that was left is burnt" if found["burnt"] else "counters are the anchor's"
        rest = "all tokens are revoked" if root == SYSTEM_CHAIN else rest
        lines = [f"{root} is {found['state']}: {rest}", *receipt_lines(ledger)]
        access.tell(with_receipts(ledger, found), "\n".join(lines))
    return 0
