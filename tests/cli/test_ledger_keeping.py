"""tightrope ledger audit, verify, anchor, backup, export, import, migrate, freeze, recover."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.ledger.shell import LedgerShell
from tightrope.ledger.chain import AuditLine


@pytest.fixture
def keyed(shell: LedgerShell, monkeypatch: pytest.MonkeyPatch) -> LedgerShell:
    """A ledger with a key of its own, a budget and a job."""
    monkeypatch.setenv("TIGHTROPE_LEDGER_KEY", "budget.key")
    Path("budget.db").unlink()
    shell.done("init")
    shell.create()
    shell.reserve("one", "--note", "table 7")
    return shell


def test_audit_for_people_and_as_json_lines(shell: LedgerShell) -> None:
    shell.create()
    identity = shell.reserve("one", "--note", "table 7")
    told = shell.done("audit", "census").out.splitlines()
    assert [line.split()[2] for line in told] == ["create", "reserve"]
    assert f"{identity} reserved: PureDP(epsilon=0.1) on census (table 7)" in told[1]
    lines = [json.loads(line) for line in shell.done("audit", "census", "--json").out.splitlines()]
    assert [each.pop("schema") for each in lines] == [1, 1]
    first, second = (AuditLine(**each) for each in lines)
    assert first.right
    assert second.right
    assert second.prev == first.hash
    assert len(shell.done("audit", "census", "--after", "1").out.splitlines()) == 1
    assert shell.done("audit", "census", "--after", "2").out == ""
    assert "begin" in shell.done("audit", "_ledger").out
    assert shell.refused(2, "audit", "nothing") == "there is no budget 'nothing'"
    shell.refused(2, "audit", "census", "--after", "-1")


def test_verify_says_what_does_not_hold(shell: LedgerShell) -> None:
    shell.create()
    shell.reserve("one")
    assert shell.done("verify").out == "verified: 3 lines, 1 roots, 1 reservations\n"
    assert shell.done("verify", "--json").document["verified"] is True
    shell.edit("UPDATE axis SET held = 0")
    told = shell("verify")
    assert (told.code, told.err.count("\n")) == (6, 1)
    assert told.out.startswith("not verified:\n  axis census/epsilon: held is 0, and the audit gives ")
    found = shell("verify", "--json")
    assert (found.code, found.document["verified"], len(found.document["findings"])) == (6, False, 1)


def test_an_edited_line_is_found(shell: LedgerShell) -> None:
    shell.create()
    shell.reserve("one")
    shell.edit("UPDATE audit SET actor = 'nobody' WHERE root = 'census' AND seq = 2")
    found = shell("verify", "--json")
    assert (found.code, "census: line 2 is not the one that was written" in found.document["findings"]) == (6, True)


def test_anchors_are_new_files(keyed: LedgerShell) -> None:
    told = keyed.done("anchor", "-o", "anchor.json", "--json").document
    assert told == {"schema": 1, "anchor": "anchor.json", "heads": {"_ledger": 1, "census": 2}, "signed": True}
    before = Path("anchor.json").read_bytes()
    keyed.reserve("two")
    assert "anchor.json exists" in keyed.refused(2, "anchor", "-o", "anchor.json")
    assert Path("anchor.json").read_bytes() == before
    printed = json.loads(keyed.done("anchor").out)
    assert printed["roots"]["census"]["seq"] == 3
    assert keyed.done("verify", "--anchor", "anchor.json").out.splitlines()[1:] == ["  compared with anchor.json"]


def test_an_old_backup_is_noticed_and_recovered_from(keyed: LedgerShell) -> None:
    """Restored, it lacks what the anchor names: it is frozen, and opens with the counters of the anchor."""
    keyed.done("backup", "copy.db")
    assert "copy.db exists" in keyed.refused(2, "backup", "copy.db")
    keyed.reserve("two", "--start", epsilon=0.25)
    keyed.done("anchor", "-o", "anchor.json")
    for suffix in ("-wal", "-shm"):
        Path(f"budget.db{suffix}").unlink(missing_ok=True)
    shutil.copy("copy.db", "budget.db")
    told = keyed("verify", "--anchor", "anchor.json")
    assert (told.code, told.err.count("\n")) == (6, 1)
    assert "an old backup was restored" in told.err
    assert "the anchor of" in told.out
    assert "frozen" in keyed.refused(5, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "three")
    assert "anchor" in keyed.refused(2, "recover", "census", "--why", "disk", "--complete")
    found = keyed.done("recover", "census", "--why", "disk", "--anchor", "anchor.json", "--complete", "--json").document
    assert (found["state"], found["burnt"]) == ("open", False)
    axis = keyed.done("status", "census", "--json").document["axes"][0]
    assert axis["held"] + axis["spent"] >= int(0.35 * 2**50)


def test_receipts_witness_too(keyed: LedgerShell) -> None:
    receipt = keyed.done("reserve", "census", "PureDP(epsilon=0.1)", "--key", "w", "--json").document["receipts"][0]
    keyed.done("verify", "--receipt", receipt)
    forged = keyed("verify", "--receipt", f"census:9:{'0' * 64}")
    assert (forged.code, keyed.done("status", "census", "--json").document["state"]) == (6, "open")
    assert "root:number:hash" in keyed.refused(2, "verify", "--receipt", "a receipt\x1b[31m")


def test_freeze_and_recover_without_an_anchor(shell: LedgerShell) -> None:
    shell.create()
    assert shell.done("freeze", "census", "--why", "being looked at").out.startswith("census is frozen\n")
    shell.refused(5, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "one")
    assert "burnt" in shell.done("recover", "census", "--why", "no anchor").out
    shell.refused(4, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "two")
    assert "frozen root" in shell.refused(5, "recover", "census", "--why", "once more")
    events = [line.split()[2] for line in shell.done("audit", "census").out.splitlines()]
    assert events == ["create", "freeze", "recover", "refuse"]


def test_a_ledger_moves_to_another_place(shell: LedgerShell) -> None:
    shell.create()
    identity = shell.reserve("one")
    assert "nothing more is spent here" in shell.done("export", "ledger.jsonl").out
    assert "ledger.jsonl exists" in shell.refused(2, "export", "ledger.jsonl")
    shell.refused(5, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "two")
    found = shell.done("import", "ledger.jsonl", "--ledger", "new.db", "--json").document
    assert (found["roots"], found["reservations"]) == (1, 1)
    shell.done("claim", identity, "--claimant", "x", "--ledger", "new.db")
    shell.refused(5, "import", "ledger.jsonl", "--ledger", "new.db")


def test_what_is_no_export_leaves_nothing_behind(shell: LedgerShell) -> None:
    shell.create()
    shell.done("export", "ledger.jsonl")
    lines = Path("ledger.jsonl").read_text("utf-8")
    Path("edited").write_text(lines.replace("one person", "one family"), "utf-8")
    Path("binary").write_bytes(b"\xff\xfe\x00" * 9)
    Path("text").write_text("a text", "utf-8")
    assert shell("import", "edited", "--ledger", "new.db").code == 6
    for name in ("binary", "text", "missing"):
        shell.refused(2, "import", name, "--ledger", "new.db")
    assert not Path("new.db").exists()


def test_migrate_reaches_this_version(shell: LedgerShell) -> None:
    assert shell.done("migrate", "--json").document == {"schema": 1, "version": 2}
    assert "tightrope ledger init" in shell.refused(2, "migrate", "--ledger", "missing.db")
    assert "exists" in shell.refused(2, "migrate", "--backup", "budget.db")
    shell.edit("UPDATE ledger_schema SET version = 99")
    assert "update Tightrope" in shell.refused(5, "migrate")
    assert "update Tightrope" in shell.refused(5, "list")


@pytest.mark.parametrize("command", [["init"], ["migrate"], ["import", "x"], ["serve"]])
def test_some_things_are_done_where_the_database_is(shell: LedgerShell, command: list[str]) -> None:
    assert "where the database is" in shell.refused(2, *command, "--ledger", "https://ledger.example")


def test_anchors_that_are_none(shell: LedgerShell) -> None:
    Path("list.json").write_text("[]", "utf-8")
    Path("binary").write_bytes(b"\xff" * 9)
    for name in ("list.json", "binary", "missing", os.curdir):
        assert "anchor" in shell.refused(2, "verify", "--anchor", name)
