"""What must hold when the killing is over: the spenders' journals beside the ledger, by whoever trusts neither."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pytest

import tightrope.ledger as tl
from tests.ledger.spender import JOBS, TOP, Entry, Journal
from tightrope.ledger.ledger import Ledger


def expect_kept(url: str, journals: Iterable[Journal]) -> None:
    """No overspend; every job that ran is charged; what was acknowledged stands, and chains; keys answer the same."""
    entries = [each for journal in journals for each in journal.entries]
    with tl.open(url) as ledger:
        ledger.verify()
        expect_charged(ledger, entries)
        expect_within(ledger, entries)
        expect_same_answers(ledger, entries)
        ledger.verify()
        assert ledger.quote(TOP, "PureDP(epsilon=0.001)").fits  # and it goes on


def expect_charged(ledger: Ledger, entries: list[Entry]) -> None:
    """Every job that ran did so once, and counts; what was committed before is committed, with all its receipts."""
    ran = [each for each in entries if each["event"] == "ran"]
    assert len({each["key"] for each in ran}) == len(ran)
    for each in ran:
        found = ledger.reservation(each["id"])
        assert found.state in ("running", "committed"), each
        assert found.document["charges"], each
    for each in entries:
        if each["event"] == "committed":
            assert ledger.reservation(each["id"]).document == each["document"]
            ledger.compare(receipts=each["receipts"])


def expect_within(ledger: Ledger, entries: list[Entry]) -> None:
    """The prices of what ran, added up anew, are within what the ledger says is used, which is within each budget."""
    asked = {each["key"]: each for each in entries if each["event"] == "asked"}
    prices = {job: ledger.quote(TOP, job).units for job in JOBS}
    used: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for each in entries:
        if each["event"] == "ran":
            job = asked[each["key"]]
            for axis, units in prices[job["job"]].items():
                assert units is not None
                used[job["budget"]][axis] += units
                used[TOP][axis] += units
    for budget, sums in used.items():
        axes = ledger.status(budget)["axes"]
        for axis in axes:
            assert axis["dead"] or sums[axis["name"]] <= axis["held"] + axis["spent"], (budget, axis)
            assert axis["need"] == "any" or axis["held"] + axis["spent"] <= axis["total"], (budget, axis)
        living = [axis for axis in axes if axis["need"] == "any" and not axis["dead"]]
        assert any(sums[axis["name"]] <= axis["held"] + axis["spent"] <= axis["total"] for axis in living), budget


def expect_same_answers(ledger: Ledger, entries: list[Entry]) -> None:
    """Another process asks with the old keys: nothing runs again, and every answer is the one that was given."""
    asked = {each["key"]: each for each in entries if each["event"] == "asked"}
    for each in entries:
        about = asked[each["key"]]
        jobs, ttl = {about["budget"]: about["job"]}, about["ttl"]
        if each["event"] == "refused":
            with pytest.raises(tl.BudgetExhausted) as refused:
                ledger.reserve(jobs, each["key"], ttl=ttl, start=about["way"] == "spend")
            assert refused.value.reservation == each["id"]
        elif each["event"] == "committed":
            assert ledger.reservation(each["id"]).end().document == each["document"]  # its time may have ended it
        elif each["event"] == "ran":
            expect_claimed(ledger, each, about)


def expect_claimed(ledger: Ledger, ran: Entry, about: Entry) -> None:
    """What ran is found by its key, and begins for nobody else."""
    jobs = {about["budget"]: about["job"]}
    if about["way"] == "spend":
        with pytest.raises(tl.Claimed):
            ledger.reserve(jobs, ran["key"], ttl=about["ttl"], start=True)
        return
    found = ledger.reserve(jobs, ran["key"], ttl=about["ttl"])
    assert found.id == ran["id"]
    with pytest.raises(tl.Claimed):
        found.claim()
