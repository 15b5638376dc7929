"""One key is one request, however many ask, and whatever is lost on the way."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.ledger.server.serving import JOB, NONCE, PATIENCE, House, housed
from tightrope.ledger.pricing import PriceHere

CLIENTS = 32


def test_many_clients_with_one_key_make_one_reservation(house: House) -> None:
    """One is told that it is new; all others are given the same answer, or that another process has the job."""
    analyst, together = house.client("analyst"), threading.Barrier(CLIENTS)

    def ask(number: int) -> tuple[int, str]:
        together.wait(PATIENCE)
        same = number % 2 == 0
        body = {"jobs": {"census": JOB}, "start": True}
        nonce = NONCE if same else f"{NONCE}-{number}"
        answer = analyst.post("/v1/reservations", body, idempotency_key="one", ledger_process=nonce)
        return answer.status, answer.document.get("id", answer.document.get("kind"))

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(ask, range(CLIENTS)))
    made = [identity for status, identity in found if status == 201]
    assert len(made) == 1
    assert {each for each in found if each[0] != 201} <= {(200, made[0]), (409, "Claimed")}
    assert house.ledger.status("census")["jobs"] == {"running": 1}


def test_many_clients_never_overspend(house: House) -> None:
    """Ten of these jobs fit: so many are told so, and every other one that they do not."""
    analysts = [house.client("analyst") for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda n: analysts[n % 4].reserve(f"job-{n}").status, range(32)))
    assert sorted(found) == [201] * 10 + [409] * 22
    assert house.ledger.status("census")["jobs"]["reserved"] == 10


def test_a_lost_answer_is_given_again(sqlite_url: str) -> None:
    """Whoever goes away before the answer finds it by the key."""
    reached, go = threading.Event(), threading.Event()

    def fault(point: str) -> None:
        if point == "before-reply" and armed:
            reached.set()
            assert go.wait(PATIENCE)

    armed: list[bool] = []
    with housed(sqlite_url, pricer=PriceHere(), fault=fault) as house:
        analyst = house.client("analyst")
        armed.append(True)
        with ThreadPoolExecutor(1) as pool:
            lost = pool.submit(analyst.reserve, "k")
            assert reached.wait(PATIENCE)
            armed.clear()
            found = analyst.reserve("k")
            go.set()
            assert found.status == 200
            assert lost.result().status == 201
            assert lost.result().document == found.document
        house.ledger.verify()


@pytest.mark.parametrize("moves", [("claim", "claim"), ("claim", "cancel"), ("cancel", "claim")])
def test_moves_at_the_same_time_have_one_order(house: House, moves: tuple[str, str]) -> None:
    analyst = house.client("analyst")
    here = f"/v1/reservations/{analyst.reserve('k').document['id']}"

    def ask(at: int) -> int:
        return analyst.post(f"{here}/{moves[at]}", {}, ledger_process=f"{NONCE}-{at}").status

    with ThreadPoolExecutor(2) as pool:
        found = sorted(pool.map(ask, range(2)))
    assert found[0] == 201
    assert found[1] in (409, 410)
