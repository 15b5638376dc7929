"""tightrope ledger: budgets, as text, as JSON and as a picture; what is wrong takes one line and its own exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ledger.shell import LedgerShell
from tightrope.cli.app import run
from tightrope.cli.ledger import PARTS
from tightrope.ledger import MISSING

COMMANDS = (
    *(
        "init",
        "create",
        "renew",
        "quote",
        "reserve",
        "claim",
        "commit",
        "cancel",
        "jobs",
        "status",
        "list",
        "audit",
        "verify",
    ),
    *("anchor", "backup", "export", "import", "migrate", "token", "freeze", "recover", "clock", "serve", "report"),
)
SECRET = "geheim-7"
WITHOUT = """
import sys
from tightrope.cli.app import run
print([each for each in sys.modules if "sqlalchemy" in each])
sys.modules["sqlalchemy"] = None
for words in (
    "init --ledger x.db", "list --ledger x.db", "list --ledger https://x.invalid", "verify --anchor a --ledger x.db",
    "import a --ledger x.db", "migrate --ledger x.db", "report a --ledger x.db",
    "recover a --why b --anchor c --ledger x.db",
):
    print(run(["ledger", *words.split()]), end=" ")
print()
"""


def test_help_lists_every_command_with_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "\n  ledger " in capsys.readouterr().out
    assert run(["ledger"]) == 0
    told = capsys.readouterr().out
    assert [name for name in COMMANDS if f"\n  {name} " not in told] == []
    assert {str(each.name) for commands in PARTS.values() for each in commands} == set(COMMANDS)
    for name in (*COMMANDS, "token create", "token revoke"):
        assert run(["ledger", *name.split(), "--help"]) == 0
        page = capsys.readouterr().out
        assert name == "token" or (f"tightrope ledger {name}" in page and "--json" in page), name


def test_the_command_line_loads_no_database_and_says_that_one_is_missing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == f"[]\n{'2 ' * 8}\n"
    assert done.stderr == f"tightrope: {MISSING}\n" * 8
    assert not list(tmp_path.iterdir())


def test_init_makes_a_ledger_and_its_key_once(shell: LedgerShell) -> None:
    assert shell.refused(5, "init").startswith("there is a ledger at ")
    found = shell.done("init", "--ledger", "other.db", "--key-file", "other.key", "--json").document
    assert found == {"schema": 1, "ledger": "sqlite:///other.db", "key_file": "other.key", "key_made": True}
    assert os.stat("other.key").st_mode & 0o777 == 0o600
    before = Path("other.key").read_bytes()
    assert shell("init", "--ledger", "third.db", "--key-file", "other.key").code == 0
    assert Path("other.key").read_bytes() == before
    shell.refused(5, "init", "--key-file", "new.key")
    assert not Path("new.key").exists()  # no ledger was made, so no key is left behind


def test_where_the_ledger_is_has_to_be_said(shell: LedgerShell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.create()
    monkeypatch.delenv("TIGHTROPE_LEDGER")
    assert "TIGHTROPE_LEDGER" in shell.refused(2, "list")
    assert "census" in shell.done("list", "--ledger", "budget.db").out
    assert "census" in shell.done("list", "--ledger", f"sqlite:///{shell.folder / 'budget.db'}").out
    monkeypatch.setenv("TIGHTROPE_LEDGER_KEY", "missing.key")
    assert "missing.key" in shell.refused(2, "list", "--ledger", "budget.db")


def test_create_says_what_is_promised_and_gives_a_receipt(shell: LedgerShell) -> None:
    words = ["--epsilon", "1", "--delta", "1e-6", "--relation", "add_remove", "--unit", "one person"]
    told = shell.done("create", "census", *words).out
    assert told.startswith("census: (1, 1e-06)-DP for one person, when one record is added or removed\n")
    assert "least used" in told
    assert "\n  receipt   census:1:" in told
    part = shell.done("create", "census/ana", "--parent", "census", "--epsilon", "0.5", "--delta", "1e-6", "--json")
    assert (part.document["kind"], part.document["unit"], part.document["parent"]) == ("rdp", "one person", "census")
    assert part.document["receipts"][0].startswith("census:2:")
    assert shell.refused(5, "create", "census", *words).startswith("there is a budget 'census' already")
    listed = shell.done("list").out
    assert [line.split()[0] for line in listed.splitlines()] == ["budget", "census", "census/ana"]
    assert listed.splitlines()[2].startswith("  census/ana")
    assert [each["name"] for each in shell.done("list", "--json").document["budgets"]] == ["census", "census/ana"]


def test_a_plan_by_its_jobs(shell: LedgerShell) -> None:
    words = ["--kind", "plan", "--delta", "1e-6", "--relation", "add_remove", "--unit", "one person"]
    told = shell.done("create", "planned", *words, "--plan", "Gaussian(sigma=4)", "3")
    assert "slot 1: Gaussian(sigma=4.0)" in told.out
    twice = ["--plan", "Gaussian(sigma=4)", "1", "--plan", "Gaussian(sigma=4)", "2"]
    assert "twice" in shell.refused(2, "create", "other", *words, *twice)


def test_quote_and_status_say_how_many_more(shell: LedgerShell) -> None:
    shell.create()
    job = "PureDP(epsilon=0.25)"
    assert shell.done("quote", "census", job).out.startswith(f"how many more like this: 4 ({job})\n")
    assert shell.done("quote", "census", job, "--json").document["more"] == 4
    told = shell("quote", "census", "PureDP(epsilon=2)")
    assert (told.code, told.err) == (4, "")
    assert "how many more like this: 0" in told.out
    assert not shell("quote", "census", "PureDP(epsilon=2)", "--json").document["fits"]
    shell.reserve("one", epsilon=0.5)
    text = shell.done("status", "census", "--job", job).out
    assert "how many more like this: 2" in text
    assert "epsilon  all" in text
    found = shell.done("status", "census", "--job", job, "--json").document
    epsilon = found["axes"][0]
    assert (epsilon["held"], epsilon["spent"], epsilon["left"]) == (2**49, 0, 2**49)
    assert (found["more"]["more"], found["jobs"], found["odometer"]["epsilon"]) == (2, {"reserved": 1}, 0.5)


def test_status_draws(shell: LedgerShell) -> None:
    shell.create()
    told = shell.done("status", "census", "--plot", "census.svg")
    assert told.out.endswith("  drawn     census.svg\n")
    assert "no jobs yet" in Path("census.svg").read_text("utf-8")
    assert "png, pdf, svg" in shell.refused(2, "status", "census", "--plot", "census.txt")


def test_renewals_go_up_to_the_ceiling(shell: LedgerShell) -> None:
    shell.create(ceiling="2")
    assert "tightrope ledger renew raises them" in shell.done("status", "census").out
    found = shell.done("renew", "census", "--epsilon", "1.5", "--json").document
    assert (found["axes"][0]["total"], found["promise"]["ceiling"]) == (3 * 2**49, 2.0)
    assert "a new budget promises anew" in shell.refused(2, "renew", "census", "--epsilon", "3")


def test_report_writes_the_document_that_is_filed(shell: LedgerShell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.create("census/a")
    shell.reserve("one", "--note", "<b>table & 7</b>", name="census/a")
    asked = ["report", "census/a", "--date", "2026-11-16", "--author", "A. Ngo"]
    told = shell.done(*asked)
    assert told.out.splitlines()[-2:] == ["  verified", "written: census-a.html"]
    page = Path("census-a.html").read_text("utf-8")
    assert "&lt;b&gt;table &amp; 7&lt;/b&gt;" in page
    assert "<b>table" not in page
    shell.done(*asked, "-o", "again.html")
    assert Path("again.html").read_bytes() == Path("census-a.html").read_bytes()
    found = shell.done(*asked, "--json").document
    shell.done(*asked, "-o", "filed.json")
    assert json.loads(Path("filed.json").read_text("utf-8")) == found
    assert (found["verified"], found["chain"]["seq"], found["jobs"][0]["principal"] != "") == (True, 2, True)
    for wrong in (["-o", "a.txt"], ["-o", "nowhere/a.html"], ["--date", "soon"], ["--title", "a\nb"]):
        shell.refused(2, *asked[:2], *wrong)


def test_a_report_of_what_does_not_hold_says_so(shell: LedgerShell) -> None:
    shell.create()
    shell.reserve("one")
    shell.edit("UPDATE axis SET held = 0")
    told = shell("report", "census", "-o", "census.html")
    assert (told.code, told.err) == (6, "")
    assert "NOT VERIFIED: axis census/epsilon: held is 0, and the audit gives " in told.out
    assert "This ledger does not hold together" in Path("census.html").read_text("utf-8")


@pytest.mark.parametrize(
    "name", ["", "a b", "a\nb", "\x1b[31m", "ü", "../x", "/x", "x" * 101, "a:b", "a\u202eb", "census\x00"]
)
def test_names_that_are_none(shell: LedgerShell, name: str) -> None:
    """Nothing that somebody typed reaches the terminal as it is."""
    words = ["--epsilon", "1", "--delta", "1e-6", "--relation", "replace", "--unit", "one person"]
    line = shell.refused(2, "create", name, *words)
    assert line.isprintable()
    assert shell.refused(2, "status", name).isprintable()
    assert "there are no budgets yet" in shell.done("list").out


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ledger:{SECRET}@127.0.0.1:1/budgets?connect_timeout=1",
        f"postgresql://ledger:{SECRET}@127.0.0.1:{SECRET}/budgets",
        f"mysql://ledger:{SECRET}@127.0.0.1/budgets",
        f"://ledger:{SECRET}@127.0.0.1/budgets",
        f"sqlite://ledger:{SECRET}@x/",
    ],
)
def test_no_password_is_ever_shown(shell: LedgerShell, address: str) -> None:
    found = shell("list", "--ledger", address)
    assert found.code in (2, 5)
    assert SECRET not in found.out + found.err
    assert found.err.count("\n") == 1


def test_files_that_are_no_ledger(shell: LedgerShell) -> None:
    Path("text.db").write_text("no ledger, but a text\n" * 500, "utf-8")
    assert "file is not a database" in shell.refused(2, "list", "--ledger", "text.db")
    assert "file is not a database" in shell.refused(2, "init", "--ledger", "text.db")
    assert "tightrope ledger init makes one" in shell.refused(2, "list", "--ledger", "missing.db")
    assert "there is no folder" in shell.refused(2, "init", "--ledger", "nowhere/x.db")
    shell.refused(2, "list", "--ledger", "a?b.db")
    shell.refused(2, "list", "--ledger", "a\nb.db")
