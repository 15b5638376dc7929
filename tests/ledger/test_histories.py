"""Any history of requests, on both databases, is answered as the model says, and every counter is the model's."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from tests.ledger import cluster, stub
from tests.ledger.conftest import DATABASES
from tests.ledger.full import amount
from tests.ledger.model import Model, No
from tightrope.core.values.errors import TightropeError
from tightrope.ledger import maintenance, tables
from tightrope.ledger.database import Database
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

ACTORS = {"ann": Actor("ann"), "bob": Actor("bob", "analyst")}
START = 4_000_000_000_000  # later than any clock that a database has here
which_one, some = st.integers(0, 10**6), st.integers(0, 24)
actors, nonces = st.sampled_from(sorted(ACTORS)), st.sampled_from(("p1", "p2"))


class Histories(RuleBasedStateMachine):
    """Budgets in trees with several roots, jobs in all states, a clock that moves both ways."""

    url = ""  # of an empty database

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.model = Model()
        self.ids: dict[int, str] = {}
        self.asked: list[tuple[str, Mapping[str, Any], str, str, str]] = []
        self.url = self.place()
        self.database = Database(self.url, clock=lambda _: self.now)
        self.desk = LocalService(self.database, ACTORS["ann"], pricer=stub.Given())
        maintenance.begin(self.desk)

    def place(self) -> str:
        self.folder = tempfile.mkdtemp(prefix="tr-ledger-")
        return f"sqlite:///{self.folder}/ledger.db"

    def gone(self) -> None:
        shutil.rmtree(self.folder)

    def teardown(self) -> None:
        try:
            with self.database.read() as connection:
                maintenance.verify(connection)
        finally:
            self.desk.close()
            self.gone()

    # One request to both.

    def both(self, name: str, body: Mapping[str, Any], key: str, actor: str = "ann", nonce: str = "p1") -> None:
        self.asked.append((name, body, key, actor, nonce))
        try:
            expected: int | str | None = self.model.ask(name, body, key, actor, nonce, self.now)
            about = expected
        except No as refused:
            expected, about = refused.name, refused.number
        try:
            reply = self.desk.as_actor(ACTORS[actor]).ask(name, self.written(name, body), key, nonce).content
            found: int | str | None = self.number(reply.get("id"), about)
        except TightropeError as error:
            found = type(error).__name__
            self.number(getattr(error, "reservation", None), about)
        assert found == expected, f"{name} {body}: {found}, not {expected}"

    def number(self, identity: str | None, about: object) -> int | None:
        """The model's number of a reservation; what is new is the one that this request was about."""
        if identity and isinstance(about, int) and about not in self.ids:
            assert identity not in self.ids.values(), "the same reservation, answered to another request"
            self.ids[about] = identity
        return next((known for known, each in self.ids.items() if each == identity), None)

    def written(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request as a desk reads it."""
        found = {each: value for each, value in body.items() if value is not None}
        if name == "reserve":
            found["jobs"] = {each: stub.job(*job) for each, job in body["jobs"].items()}
        if name == "create":
            found |= {"relation": "add_remove", "unit": "one person"}
        if name in ("freeze", "recover"):
            found["why"] = "a test"
        if name == "recover":
            found["at"] = 1 << 60  # the witnesses know all that was spent
        if "job" in found:
            job = found.pop("job")
            found["reservation"] = self.ids[job]
            if body.get("part") is not None:
                wanted = self.model.world.jobs[job].wanted
                found["part"] = {each: stub.job(which, body["part"]) for each, (which, _) in wanted.items()}
        return found

    def key(self) -> str:
        return f"k{len(self.asked)}"

    def budget(self, which: int) -> str:
        return sorted(self.model.world.budgets)[which % len(self.model.world.budgets)]

    def job(self, which: int) -> int:
        return sorted(self.ids)[which % len(self.ids)]

    # Rules.

    @initialize(kind=st.sampled_from(sorted(stub.AXES)), epsilon=some, more=st.integers(0, 9), parallel=st.booleans())
    def begin(self, kind: str, epsilon: int, more: int, parallel: bool) -> None:
        self.root(kind, epsilon, more, parallel)

    @precondition(lambda self: len(self.model.world.budgets) < 8)
    @rule(kind=st.sampled_from(sorted(stub.AXES)), epsilon=some, more=st.integers(0, 9), parallel=st.booleans())
    def root(self, kind: str, epsilon: int, more: int, parallel: bool) -> None:
        if kind == "rdp":
            epsilon = max(epsilon, 1)
        body = {"name": f"b{len(self.asked)}", "kind": kind, "epsilon": epsilon, "ceiling": epsilon + more}
        self.both("create", {**body, "parent": None, "parallel": parallel}, self.key())

    @precondition(lambda self: len(self.model.world.budgets) < 10)
    @rule(above=which_one, epsilon=some, more=st.integers(0, 3), parallel=st.booleans(), same=st.integers(0, 9))
    def part(self, above: int, epsilon: int, more: int, parallel: bool, same: int) -> None:
        parent = self.model.world.budgets[self.budget(above)]
        kind = parent.kind if same else "basic"
        body = {"name": f"b{len(self.asked)}" if same < 9 else parent.name, "kind": kind, "epsilon": epsilon}
        body |= {"ceiling": epsilon + more, "parent": parent.name, "parallel": parallel and epsilon < 12}
        self.both("create", body, self.key())

    @rule(which=which_one, epsilon=some)
    def renew(self, which: int, epsilon: int) -> None:
        self.both("renew", {"name": self.budget(which), "epsilon": epsilon}, self.key())

    @rule(which=which_one, rarely=st.integers(0, 5))
    def freeze(self, which: int, rarely: int) -> None:
        if rarely == 0:
            self.both("freeze", {"root": self.budget(which)}, self.key())

    @precondition(lambda self: self.model.world.frozen)
    @rule(burn=st.booleans(), which=which_one)
    def recover(self, burn: bool, which: int) -> None:
        frozen = sorted(self.model.world.frozen)
        self.both("recover", {"root": frozen[which % len(frozen)], "burn": burn}, self.key())

    @rule(
        places=st.lists(which_one, min_size=1, max_size=2),
        which=st.tuples(st.integers(0, 7), st.integers(1, 3)),
        ttl=st.integers(1, 40),
        start=st.booleans(),
        who=st.tuples(actors, nonces),
    )
    def reserve(self, places: list[int], which: tuple[int, int], ttl: int, start: bool, who: tuple[str, str]) -> None:
        jobs = dict.fromkeys(map(self.budget, places), which)
        self.both("reserve", {"jobs": jobs, "ttl": ttl, "start": start}, self.key(), *who)

    @precondition(lambda self: self.ids)
    @rule(which=which_one, ttl=st.none() | st.integers(1, 40), who=st.tuples(actors, nonces))
    def claim(self, which: int, ttl: int | None, who: tuple[str, str]) -> None:
        self.both("claim", {"job": self.job(which), "ttl": ttl}, self.key(), *who)

    @precondition(lambda self: self.ids)
    @rule(
        which=which_one,
        part=st.none() | st.integers(1, 3),
        attest=st.none() | st.just("seen"),
        who=st.tuples(actors, nonces),
    )
    def commit(self, which: int, part: int | None, attest: str | None, who: tuple[str, str]) -> None:
        self.both("commit", {"job": self.job(which), "part": part, "attest": attest}, self.key(), *who)

    @precondition(lambda self: self.ids)
    @rule(which=which_one, attest=st.none() | st.just("never read"), who=st.tuples(actors, nonces))
    def cancel(self, which: int, attest: str | None, who: tuple[str, str]) -> None:
        self.both("cancel", {"job": self.job(which), "attest": attest}, self.key(), *who)

    @rule(seconds=st.integers(-10, 25))
    def pass_time(self, seconds: int) -> None:
        self.now += 1000 * seconds

    @rule(which=which_one, nonce=nonces)
    def ask_again(self, which: int, nonce: str) -> None:
        """The same key and body, perhaps by another process."""
        name, body, key, actor, _ = self.asked[which % len(self.asked)]
        self.both(name, body, key, actor, nonce)

    @rule(which=which_one, other=which_one)
    def reuse_a_key(self, which: int, other: int) -> None:
        name, body, _, actor, nonce = self.asked[which % len(self.asked)]
        self.both(name, body, self.asked[other % len(self.asked)][2], actor, nonce)

    # What must hold after every step.

    @invariant()
    def counters_are_those_of_the_model(self) -> None:
        with self.database.read() as connection:
            axes = connection.execute(select(tables.axis)).all()
            charges = connection.execute(select(tables.charge)).all()
            states = {row.id: row.state for row in connection.execute(select(tables.reservation))}
        known = {identity: job for job, identity in self.ids.items()}
        for row in axes:
            expected = self.model.world.budgets[row.budget].axes[row.name]
            held, spent = self.model.counter((row.budget, row.name))
            found = (row.held, row.spent, row.total, row.ceiling, bool(row.dead))
            assert found == (held, spent, expected.total, expected.ceiling, expected.ended is not None), row
            most = row.total if row.need == "all" else row.ceiling
            assert 0 <= row.held <= row.held + row.spent <= most
        assert {job: states[identity] for job, identity in self.ids.items()} == {
            job: self.model.world.jobs[job].state for job in self.ids
        }
        for job in self.ids:
            mine = {(row.budget, row.name): row.units for row in charges if known.get(row.reservation) == job}
            assert mine == self.model.world.jobs[job].charges


class PostgresHistories(Histories):
    def place(self) -> str:
        return cluster.fresh(os.environ[cluster.ADDRESS])

    def gone(self) -> None:
        cluster.drop(os.environ[cluster.ADDRESS], self.url)


MACHINES = {"sqlite": Histories, "postgresql": PostgresHistories}


@pytest.mark.parametrize("database", DATABASES)
def test_every_history_is_answered_as_the_model_says(database: str) -> None:
    run_state_machine_as_test(
        MACHINES[database],
        settings=settings(
            max_examples=amount(20, 40, 300),
            stateful_step_count=amount(30, 50, 50),
            suppress_health_check=list(HealthCheck),
        ),
    )
