"""What becomes of a job: states, keys, claims, time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tightrope import ledger as tl
from tightrope.core.values.errors import ExpressionError, InvalidParameter
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import Ledger
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

ONE, HALF = "PureDP(epsilon=1.0)", "PureDP(epsilon=0.5)"


@pytest.fixture
def clock() -> list[int]:
    """Milliseconds that the database's clock is off."""
    return [0]


@pytest.fixture
def ledger(tmp_path: Path, clock: list[int]) -> Iterator[Ledger]:
    address = f"sqlite:///{tmp_path / 'x.db'}"
    tl.init(address).close()
    with Ledger(LocalService(Database(address, clock=lambda now: now + clock[0]), Actor("ann"))) as found:
        found.create("b", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person", kind="basic")
        yield found
        found.verify()


def other(ledger: Ledger, name: str = "ann") -> Ledger:
    """The same ledger from another process, as far as it can tell."""
    return Ledger(ledger._desk.as_actor(Actor(name)))  # type: ignore[attr-defined]


def used(ledger: Ledger, name: str = "b") -> tuple[float, float]:
    """Held and spent epsilon."""
    axis = next(each for each in ledger.status(name)["axes"] if each["name"] == "epsilon")
    return round(axis["held"] / axis["unit"], 6), round(axis["spent"] / axis["unit"], 6)


def test_what_is_held_counts_as_spent(ledger: Ledger) -> None:
    held = [ledger.reserve({"b": ONE}, f"k{number}", ttl=9) for number in range(3)]
    assert used(ledger) == (3.0, 0.0)
    with pytest.raises(tl.BudgetExhausted, match="is recorded as"):
        ledger.reserve({"b": "PureDP(epsilon=1.1)"}, "late")
    held[0].cancel()
    held[1].claim().commit()
    assert used(ledger) == (1.0, 1.0)
    assert ledger.quote("b", ONE).more == 2


def test_a_key_answers_the_same_also_a_refusal(ledger: Ledger) -> None:
    first = ledger.reserve({"b": ONE}, "k")
    assert ledger.reserve({"b": ONE}, "k").document == first.document
    assert ledger.reserve({"b": ONE}, "k").replayed
    with pytest.raises(tl.KeyReused):
        ledger.reserve({"b": HALF}, "k")
    with pytest.raises(tl.BudgetExhausted) as one:
        ledger.reserve({"b": "PureDP(epsilon=9)"}, "much")
    first.cancel()
    with pytest.raises(tl.BudgetExhausted) as two:
        ledger.reserve({"b": "PureDP(epsilon=9)"}, "much")
    assert str(one.value) == str(two.value)
    assert one.value.reservation == two.value.reservation
    assert other(ledger, "bob").reserve({"b": ONE}, "k").id != first.id
    assert used(ledger) == (1.0, 0.0)


def test_spend_runs_its_body_once(ledger: Ledger) -> None:
    ran = []
    with ledger.spend("b", ONE, "k") as spending:
        ran.append(spending.state)
    assert ran == ["running"]
    assert spending.state == "committed"
    for again in (ledger, other(ledger)):
        with pytest.raises(tl.Claimed), again.spend("b", ONE, "k"):
            ran.append("again")
    assert ran == ["running"]
    assert used(ledger) == (0.0, 1.0)


def test_an_exception_leaves_the_job_running(ledger: Ledger) -> None:
    with pytest.raises(ZeroDivisionError), ledger.spend("b", ONE, "k") as spending:
        raise ZeroDivisionError
    assert ledger.reservation(spending.id).state == "running"
    assert used(ledger) == (1.0, 0.0)


def test_one_process_claims(ledger: Ledger) -> None:
    reserved = ledger.reserve({"b": ONE}, "k")
    late = other(ledger).reservation(reserved.id)
    assert reserved.claim().state == "running"
    for again in (reserved, ledger.reservation(reserved.id), ledger.reserve({"b": ONE}, "k"), late):
        with pytest.raises(tl.Claimed):
            again.claim()
    analyst = Ledger(ledger._desk.as_actor(Actor("ann", "analyst", "b")))  # type: ignore[attr-defined]
    with pytest.raises(tl.Claimed):
        analyst.reservation(reserved.id).cancel(attest="I think that it never ran")
    reserved.commit()
    assert reserved.commit().state == "committed"
    with pytest.raises(tl.WrongState):
        other(ledger, "bob").reservation(reserved.id).commit()


def test_a_started_job_is_not_begun_again_by_another_process(ledger: Ledger) -> None:
    first = ledger.reserve({"b": ONE}, "k", start=True)
    assert ledger.reserve({"b": ONE}, "k", start=True).id == first.id
    with pytest.raises(tl.Claimed):
        other(ledger).reserve({"b": ONE}, "k", start=True)


def test_a_running_job_is_given_back_with_a_statement_only(ledger: Ledger) -> None:
    running = ledger.reserve({"b": ONE}, "k", start=True)
    with pytest.raises(tl.WrongState, match="attest"):
        running.cancel()
    running.cancel(attest="the query failed to parse; no data were read")
    assert used(ledger) == (0.0, 0.0)
    with pytest.raises(tl.Cancelled):
        other(ledger).reservation(running.id).claim()


def test_time_gives_back_what_nobody_claimed_and_spends_what_ran(ledger: Ledger, clock: list[int]) -> None:
    waiting = ledger.reserve({"b": ONE}, "waits", ttl=10)
    running = ledger.reserve({"b": ONE}, "runs", ttl=10, start=True)
    clock[0] = 9_000
    ledger.reserve({"b": HALF}, "early", ttl=1000)
    assert used(ledger) == (2.5, 0.0)
    clock[0] = 11_000
    with pytest.raises(tl.Cancelled):
        waiting.claim()
    ledger.reserve({"b": HALF}, "later", ttl=1000)
    assert used(ledger) == (1.0, 1.0)
    assert ledger.reservation(running.id).state == "committed"
    assert ledger.reservation(waiting.id).state == "cancelled"
    clock[0] = -(10**9)  # a clock that is set back revives nothing
    with pytest.raises(tl.Cancelled):
        other(ledger).reservation(waiting.id).claim()


def test_the_part_that_ran_is_charged_alone_where_costs_add_up(ledger: Ledger) -> None:
    ledger.create("z", epsilon=8.0, delta=1e-6, relation="add_remove", unit="one person", kind="zcdp")
    run = ledger.reserve({"z": "Gaussian(sigma=10.0) * 100"}, "train", start=True)
    whole = run.document["charges"]["z"]["rho"]
    with pytest.raises(InvalidParameter, match="no more of them: 100"):
        run.commit(part="Gaussian(sigma=10.0) * 101")
    with pytest.raises(InvalidParameter, match="no more of them: 0"):
        run.commit(part="Gaussian(sigma=11.0)")
    with pytest.raises(tl.Claimed, match="attest"):
        other(ledger).reservation(run.id).commit(part="Gaussian(sigma=10.0) * 25")
    run.commit(part="Gaussian(sigma=10.0) * 25")
    assert run.document["charges"]["z"]["rho"] == -(-whole // 4)
    assert used_rho(ledger) == (0, -(-whole // 4))


def test_a_part_is_charged_by_one_vector(ledger: Ledger) -> None:
    """The whole takes a large slot and its part a small one: the smaller of each axis would be nothing at all."""
    plan = {"Gaussian(sigma=4.0) * 10": 1, "Gaussian(sigma=4.0) * 2": 1}
    ledger.create("p", delta=1e-6, relation="add_remove", unit="one person", kind="plan", plan=plan)
    run = ledger.reserve({"p": "Gaussian(sigma=4.0) * 10"}, "run", start=True)
    before = run.document["charges"]["p"]
    run.commit(part="Gaussian(sigma=4.0) * 2")
    assert run.document["charges"]["p"] == before
    assert sum(before.values()) >= 1


def used_rho(ledger: Ledger) -> tuple[int, int]:
    axis = next(each for each in ledger.status("z")["axes"] if each["name"] == "rho")
    return axis["held"], axis["spent"]


def test_no_part_is_given_back_where_costs_do_not_add_up(ledger: Ledger) -> None:
    run = ledger.reserve({"b": "PureDP(epsilon=0.5) * 4"}, "k", start=True)
    with pytest.raises(tl.NotAdditive):
        run.commit(part=HALF)
    run.commit()
    assert used(ledger) == (0.0, 2.0)


def test_several_budgets_are_charged_all_or_none(ledger: Ledger) -> None:
    ledger.create("c", epsilon=1.0, delta=1e-6, relation="add_remove", unit="one person", kind="basic")
    with pytest.raises(tl.BudgetExhausted, match="'c'"):
        ledger.reserve({"b": ONE, "c": "PureDP(epsilon=1.5)"}, "k")
    assert used(ledger) == used(ledger, "c") == (0.0, 0.0)
    both = ledger.reserve({"b": ONE, "c": HALF}, "k2")
    assert used(ledger) == (1.0, 0.0)
    assert used(ledger, "c") == (0.5, 0.0)
    both.claim().commit()
    assert used(ledger, "c") == (0.0, 0.5)
    assert ledger.reserve({"b": ONE, "c": HALF}, "k2").document["state"] == "reserved"  # as it was answered


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), 1e18, "60", True])
def test_nonsense_for_a_time_is_refused(ledger: Ledger, ttl: object) -> None:
    with pytest.raises(InvalidParameter, match="ttl"):
        ledger.reserve({"b": ONE}, "k", ttl=ttl)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", 7])
def test_nonsense_for_a_key_is_refused(ledger: Ledger, key: object) -> None:
    with pytest.raises(InvalidParameter, match="key"):
        ledger.reserve({"b": ONE}, key)  # type: ignore[arg-type]


def test_what_is_not_there_is_said_to_be(ledger: Ledger) -> None:
    with pytest.raises(tl.NotFound):
        ledger.reserve({"nobody": ONE}, "k")
    with pytest.raises(tl.NotFound):
        ledger.reservation("nothing")
    with pytest.raises(ExpressionError):
        ledger.reserve({"b": "Gaussian("}, "k")
    with pytest.raises(InvalidParameter):
        ledger.reserve({}, "k")


def lost_replies(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The first answer to a request of this name is lost on its way back, and asked for again."""
    desk = ledger._desk
    ask = desk.ask
    lost: list[object] = []

    def losing(asked: str, body: Mapping[str, Any], key: str | None = None, nonce: str = "") -> Any:
        reply = ask(asked, body, key, nonce)
        if asked == name and not lost:
            lost.append(reply)
            return ask(asked, body, key, nonce)
        return reply

    monkeypatch.setattr(desk, "ask", losing)


def test_a_job_whose_answer_was_lost_runs_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    lost_replies(ledger, monkeypatch, "reserve")
    ran = []
    with ledger.spend("b", ONE, "k"):
        ran.append("k")
    with pytest.raises(tl.Claimed), ledger.spend("b", ONE, "k"):
        ran.append("again")
    assert ran == ["k"]
    assert used(ledger) == (0.0, 1.0)


def test_a_job_that_was_started_by_hand_is_not_run_by_spend(ledger: Ledger) -> None:
    ledger.reserve({"b": ONE}, "k", start=True)
    with pytest.raises(tl.Claimed), ledger.spend("b", ONE, "k"):
        raise AssertionError
    named = ledger.as_claimant("run-1")
    assert not named.reserve({"b": ONE}, "named", start=True).replayed
    assert named.reserve({"b": ONE}, "named", start=True).replayed  # by whatever process has that name


def test_a_job_that_was_cancelled_since_does_not_run(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer that began it was lost, somebody gave it back, and the same process asks again."""
    desk = ledger._desk
    assert isinstance(desk, LocalService)
    ask = desk.ask

    def lost(*given: Any) -> Any:
        ask(*given)
        raise tl.Unavailable("the answer was lost")

    monkeypatch.setattr(desk, "ask", lost)
    with pytest.raises(tl.Unavailable), ledger.spend("b", ONE, "k"):
        raise AssertionError
    monkeypatch.setattr(desk, "ask", ask)
    waiting = ledger.reservations("b")[0]["id"]
    other(ledger).reservation(waiting).cancel(attest="nobody has it")
    with pytest.raises(tl.Cancelled), ledger.spend("b", ONE, "k"):
        raise AssertionError
    reserved = ledger.reserve({"b": ONE}, "two").claim()
    reserved.cancel(attest="never read")
    with pytest.raises(tl.Cancelled):
        ledger.reserve({"b": ONE}, "two").claim()
    assert used(ledger) == (0.0, 0.0)


def test_threads_run_a_job_once(ledger: Ledger) -> None:
    ran = []

    def spends(_: int) -> str:
        try:
            with ledger.spend("b", ONE, "k"):
                ran.append("k")
        except tl.Claimed:
            return "claimed"
        return "ran"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(spends, range(8))) == ["claimed"] * 7 + ["ran"]
    assert ran == ["k"]


def test_a_job_that_took_longer_than_its_time_is_spent(ledger: Ledger, clock: list[int]) -> None:
    with ledger.spend("b", ONE, "k", ttl=10) as spending:
        clock[0] += 60_000
        ledger.reserve({"b": HALF}, "other").cancel()
    assert spending.state == "committed"
    assert used(ledger) == (0.0, 1.0)
