"""Loaded before any spender is: it spends once, so that all that a life needs is in memory when it begins."""

from __future__ import annotations

import tempfile

import tightrope.ledger as tl
from tests.ledger import spender

with tempfile.TemporaryDirectory() as folder:
    address = f"sqlite:///{folder}/warm.db"
    spender.begun(address)
    with tl.open(address) as ledger:
        for number, job in enumerate(spender.JOBS):
            with ledger.spend(spender.TOP, job, f"warm-{number}"):
                pass
