"""tightrope ledger reserve, claim, commit, cancel: a job of a shell, which runs once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ledger.shell import LedgerShell


def units(shell: LedgerShell) -> tuple[int, int]:
    """What is held and spent of epsilon."""
    axis = shell.done("status", "census", "--json").document["axes"][0]
    return axis["held"], axis["spent"]


def test_a_job_from_its_reservation_to_its_end(shell: LedgerShell) -> None:
    shell.create()
    identity = shell.reserve("one", "--note", "table 7", epsilon=0.5)
    assert len(identity) == 32
    assert shell.reserve("one", "--note", "table 7", epsilon=0.5) == identity  # asked again, answered the same
    assert units(shell) == (2**49, 0)
    told = shell.done("claim", identity, "--claimant", "host-1", "--ttl", "60").out
    assert told.startswith(f"running {identity}\n  receipt   census:3:")
    found = shell.done("commit", identity, "--claimant", "host-1", "--json").document
    assert (found["id"], found["state"], found["note"]) == (identity, "committed", "table 7")
    assert (found["replayed"], found["receipts"][0].split(":")[:2]) == (False, ["census", "4"])
    assert units(shell) == (0, 2**49)
    again = shell.done("commit", identity, "--claimant", "host-1", "--json").document
    assert (again["state"], again["replayed"]) == ("committed", True)


def test_a_refusal_is_final_for_its_key(shell: LedgerShell) -> None:
    shell.create()
    first = shell.refused(4, "reserve", "census", "PureDP(epsilon=2)", "--key", "big")
    assert "the refusal is recorded as" in first
    assert shell.refused(4, "reserve", "census", "PureDP(epsilon=2)", "--key", "big") == first
    assert "used for another request" in shell.refused(5, "reserve", "census", "PureDP(epsilon=1)", "--key", "big")
    shell.reserve("small", epsilon=1.0)
    shell.refused(4, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "more")


def test_exit_code_0_lets_a_job_run_once(shell: LedgerShell) -> None:
    """Whoever claims with a text that is always the same is told so."""
    shell.create()
    started = ["reserve", "census", "PureDP(epsilon=0.1)", "--key", "one", "--start"]
    shell.done(*started, "--claimant", "nightly")
    assert "runs once" in shell.refused(5, *started, "--claimant", "nightly")
    assert "runs once" in shell.refused(5, *started, "--claimant", "other")
    identity = shell.reserve("two", "--start")
    assert "runs once" in shell.refused(5, "reserve", "census", "PureDP(epsilon=0.1)", "--key", "two", "--start")
    shell.refused(5, "claim", identity, "--claimant", "nightly")
    later = shell.reserve("three")
    shell.done("claim", later, "--claimant", "nightly")
    assert "runs once" in shell.refused(5, "claim", later, "--claimant", "nightly")
    shell.refused(5, "claim", later, "--claimant", "other")
    both = shell.done(
        "reserve", "census", "PureDP(epsilon=0.1)", "--key", "4", "--start", "--claimant", "x"
    ).out.strip()
    assert "runs once" in shell.refused(5, "claim", both, "--claimant", "x")


def test_what_was_never_read_is_given_back(shell: LedgerShell) -> None:
    shell.create()
    waiting, running = shell.reserve("one"), shell.reserve("two", "--start", "--claimant", "x")
    assert shell.done("cancel", waiting).out.startswith(f"cancelled {waiting}\n")
    assert "expired before it was claimed" in shell.refused(5, "claim", waiting, "--claimant", "x")
    assert "attest" in shell.refused(5, "cancel", running)
    told = shell.done("cancel", running, "--claimant", "x", "--attest", "the disk was missing", "--json").document
    assert told["state"] == "cancelled"
    assert units(shell) == (0, 0)
    assert "attest: the disk was missing" in shell.done("audit", "census").out


def test_the_part_that_ran(shell: LedgerShell) -> None:
    words = ["--kind", "zcdp", "--rho", "1", "--relation", "add_remove", "--unit", "one person"]
    shell.done("create", "models", *words)
    whole = ["reserve", "models", "Gaussian(sigma=2) * 4", "--key", "model-1", "--start", "--claimant", "x"]
    identity = shell.done(*whole).out.strip()
    part = ["commit", identity, "--part", "Gaussian(sigma=2) * 3"]
    assert "another process has claimed" in shell.refused(5, *part)
    assert "no more of them" in shell.refused(2, "commit", identity, "--part", "Gaussian(sigma=2) * 5")
    shell.done(*part, "--claimant", "x")
    rho = shell.done("status", "models", "--json").document["axes"][0]
    assert (rho["held"], rho["spent"]) == (0, 3 * 2**47)
    shell.create()
    basic = shell.reserve("one", "--start", "--claimant", "x")
    assert "whole job" in shell.refused(2, "commit", basic, "--part", "PureDP(epsilon=0.1)", "--claimant", "x")


def test_several_budgets_pay_together_or_none_does(shell: LedgerShell) -> None:
    shell.create()
    shell.create("survey", epsilon="0.2")
    job = "PureDP(epsilon=0.15)"
    shell.done("reserve", "census", job, "survey", job, "--key", "both")
    shell.refused(4, "reserve", "census", job, "survey", job, "--key", "again")
    assert units(shell)[0] == shell.done("status", "survey", "--json").document["axes"][0]["held"] > 0
    assert "followed by its job" in shell.refused(2, "reserve", "census", job, "survey", "--key", "odd")
    assert "named twice" in shell.refused(2, "reserve", "census", job, "census", job, "--key", "twice")


@pytest.mark.parametrize(
    "wrong",
    [
        ["PureDP(epsilon=0.1)"],
        ["PureDP(epsilon=0.1)", "--key", ""],
        ["PureDP(epsilon=0.1)", "--key", "a\nb"],
        ["PureDP(epsilon=0.1)", "--key", "k", "--note", "a\x1b[31mb"],
        ["PureDP(epsilon=0.1)", "--key", "k", "--ttl", "nan"],
        ["PureDP(epsilon=0.1)", "--key", "k", "--claimant", "x"],
        ["PureDP(epsilon=0.1)", "--key", "k", "--start", "--claimant", "x\ny"],
        ["PureDP(epsilon=", "--key", "k"],
        ["Laplace(scale=1) * 10**9", "--key", "k"],
        ["ü\u202e", "--key", "k"],
    ],
)
def test_what_is_wrong_takes_one_line_and_holds_nothing(shell: LedgerShell, wrong: list[str]) -> None:
    shell.create()
    assert shell.refused(2, "reserve", "census", *wrong).isprintable()
    assert units(shell) == (0, 0)


def test_unknown_jobs(shell: LedgerShell) -> None:
    for identity in ("nope", "", "a\nb"):
        assert shell.refused(2, "commit", identity).isprintable()
        assert shell.refused(2, "claim", identity, "--claimant", "x").isprintable()
    assert not Path("nope").exists()
