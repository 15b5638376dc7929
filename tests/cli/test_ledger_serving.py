"""tightrope ledger token and serve: a token is shown once, and nowhere else."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ledger.shell import LedgerShell
from tightrope.version import install_command


def test_a_token_is_shown_once_and_alone(shell: LedgerShell) -> None:
    shell.create()
    made = shell("token", "create", "ana", "--role", "analyst", "--root", "census")
    secret = made.out.strip()
    assert made.code == 0
    assert secret.startswith("trl_")
    assert made.out == f"{secret}\n"
    assert made.err.count("\n") == 1
    assert secret not in made.err
    told = "".join(shell.done(*each).out for each in (["audit", "_ledger"], ["list"], ["audit", "_ledger", "--json"]))
    assert secret not in told
    assert all(secret.encode() not in path.read_bytes() for path in Path().iterdir())
    assert "already" in shell.refused(5, "token", "create", "ana", "--role", "admin")
    found = shell("token", "create", "boss", "--role", "admin", "--days", "1", "--json").document
    assert (found["name"], found["role"], found["token"][:4]) == ("boss", "admin", "trl_")
    assert shell.done("token", "revoke", "ana").out == "revoked ana\n"
    assert shell.refused(2, "token", "revoke", "nobody") == "there is no token for 'nobody'"


@pytest.mark.parametrize(
    "wrong",
    [
        ["ana", "--role", "viewer"],
        ["ana", "--role", "job"],
        ["ana", "--role", "king"],
        ["ana", "--role", "admin", "--days", "0"],
        ["ana", "--role", "admin", "--days", "nan"],
        ["ana", "--role", "viewer", "--root", "nothing"],
        ["a\nb", "--role", "admin"],
    ],
)
def test_tokens_that_are_not_given(shell: LedgerShell, wrong: list[str]) -> None:
    assert shell.refused(2, "token", "create", *wrong).isprintable()


def test_tokens_come_from_files_or_the_environment(shell: LedgerShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with them is said without them."""
    secret = "trl_geheim"
    address = ["--ledger", "http://127.0.0.1:1"]
    Path("two.token").write_text(f"{secret}\n{secret}\n", "utf-8")
    Path("empty.token").write_text("\n", "utf-8")
    for name in ("two.token", "empty.token", "missing.token"):
        line = shell.refused(2, "list", *address, "--token-file", name)
        assert name in line
        assert secret not in line
    monkeypatch.setenv("TIGHTROPE_LEDGER_TOKEN", f"{secret} {secret}")
    found = shell("list", *address)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert secret not in found.err


def test_serve_says_what_is_wrong_before_it_listens(shell: LedgerShell) -> None:
    assert "tightrope ledger init" in shell.refused(2, "serve", "--ledger", "missing.db", "--port", "0")
    shell.refused(2, "serve", "--port", "70000")
    shell.refused(2, "serve", "--host", "no.such.host.invalid")
    shell.create()
    shell.edit("UPDATE axis SET spent = 1")
    shell.refused(6, "serve", "--port", "0", "--processes", "1")


def test_a_missing_extra_takes_one_line() -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; from tightrope.cli.app import run; "
        "sys.exit(run(['ledger', 'serve', '--ledger', 'x.db']))"
    )
    refused = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    line = f"tightrope: the server needs starlette and uvicorn: {install_command('ledger')}\n"
    assert (refused.returncode, refused.stderr) == (2, line)


def test_a_server_answers_command_lines(shell: LedgerShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same commands, through HTTP; an interrupt ends it."""
    shell.create()
    Path("boss.token").write_text(shell("token", "create", "boss", "--role", "admin").out, "utf-8")
    command = [sys.executable, "-m", "tightrope.cli", "ledger", "serve", "--port", "0", "--processes", "1", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().split('"address": "')[1].split('"')[0]
        monkeypatch.setenv("TIGHTROPE_LEDGER", address)
        assert shell.refused(2, "list") != ""
        token = ["--token-file", "boss.token"]
        assert "census" in shell.done("list", *token).out
        identity = shell.done("reserve", "census", "PureDP(epsilon=0.5)", "--key", "one", "--start", *token).out.strip()
        shell.refused(4, "reserve", "census", "PureDP(epsilon=2)", "--key", "two", *token)
        shell.refused(5, "claim", identity, "--claimant", "x", *token)
        assert shell.done("commit", identity, *token).out.startswith(f"committed {identity}\n")
        assert shell.done("verify", *token).out.startswith("verified: ")
        assert shell.done("report", "census", "-o", "census.json", *token).out.endswith("written: census.json\n")
    finally:
        server.send_signal(signal.SIGINT)
        server.stdout.close()
        assert server.wait(600) == 0  # seconds, to end what hangs
