"""What one token does slows no other down: prices have threads of their own, and a minute has so much for each."""

from __future__ import annotations

import socket
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from tests.ledger.server.serving import JOB, PATIENCE, Answer, Client, all_of, housed, serving
from tightrope.ledger.filters import kind_of
from tightrope.ledger.filters.base import Price
from tightrope.ledger.pricing import PriceHere, price_seconds, read_job
from tightrope.ledger.server import app, guard, quotas, serve
from tightrope.ledger.server.problems import HttpProblem
from tightrope.ledger.server.quotas import PRICING, READING, SHARES, THREADS, Quotas, Usage


class Stuck(PriceHere):
    """Prices of Laplace noise that are found when they are let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()
        self.asked = threading.Semaphore(0)
        self.at_once = self.most = 0

    def _found(self, kind: str, shared: Mapping[str, Any], expression: str, slack: float | None) -> Price:
        if expression.startswith("Laplace"):
            with self._guard:
                self.at_once += 1
                self.most = max(self.most, self.at_once)
            self.asked.release()
            assert self.let.wait(PATIENCE)
            with self._guard:
                self.at_once -= 1
        return kind_of(kind).price(shared, read_job(expression), slack)


def test_who_waits_for_prices_holds_nobody_up(sqlite_url: str) -> None:
    """Fifty reserves of an analyst made a colleague's status take 20 seconds."""
    pricer = Stuck()
    with housed(sqlite_url, pricer=pricer) as house:
        ana, bo = house.client("analyst"), house.client("analyst")
        answers: list[Answer] = []

        def ask(number: int) -> None:
            answers.append(ana.reserve(f"k{number}", job=f"Laplace(scale={1000 + number}.0)"))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(guard.AT_A_TIME)]
        for thread in threads:
            thread.start()
        for _ in range(SHARES[PRICING]):
            assert pricer.asked.acquire(timeout=PATIENCE)
        assert bo.get("/v1/budgets/census").status == 200
        reserved = bo.reserve("mine")  # its price waits for none of them
        assert reserved.status == 201
        identity = reserved.document["id"]
        for step in ("claim", "commit"):
            assert bo.post(f"/v1/reservations/{identity}/{step}", {}).status == 201
        assert ana.get("/v1/budgets/census").status in (200, 429)  # all its places may be taken
        assert answers == []
        pricer.let.set()
        for thread in threads:
            thread.join()
        assert {answer.status for answer in answers} <= {201, 409}
        assert pricer.most == SHARES[PRICING]


def test_no_share_is_the_whole() -> None:
    assert all(SHARES[kind] < count for kind, count in THREADS.items())
    assert THREADS.keys() == SHARES.keys()
    assert READING in THREADS


def test_amounts_of_a_minute() -> None:
    now = [0.0]
    usage = Usage(Quotas(requests=60.0, price_seconds=30.0), clock=lambda: now[0])
    for _ in range(60):
        usage.check("ana", "requests")
        usage.take("ana", "requests", 1.0)
    with pytest.raises(HttpProblem, match="60 requests of a minute: ask again in 1 s"):
        usage.check("ana", "requests")
    usage.check("bo", "requests")
    now[0] += 1.5
    usage.check("ana", "requests")
    usage.take("ana", "price_seconds", 90.0)  # one price may take more than a minute's: it is paid for afterwards
    with pytest.raises(HttpProblem) as refused:
        usage.check("ana", "price_seconds")
    assert refused.value.status == 429
    assert refused.value.headers["retry-after"] == "120"
    now[0] += 121.0
    usage.check("ana", "price_seconds")


def test_usage_remembers_so_many_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "TOKENS_KNOWN", 3)
    usage = Usage(Quotas())
    for number in range(10):
        usage.take(str(number), "requests", 1.0)
    assert len(usage._used) == 3


def test_a_token_that_has_had_its_share_is_told_when_to_ask_again(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with housed(sqlite_url) as house:
        few = Quotas(requests=5.0, price_seconds=1e-9, refusals=1.0)
        with monkeypatch.context() as patch:
            patch.setattr(app.application, "__kwdefaults__", {"fault": None, "quotas": few})
            with serving(house.desk) as port:
                token = house.token("analyst")
                client, other = Client(port, token), Client(port, house.token("analyst"))
                assert client.reserve("too much", job="Gaussian(sigma=0.1)").status == 409
                answer = client.reserve("more", job=JOB)
                assert (answer.status, answer.urn) == (429, "too-many-requests")
                assert int(answer.headers["retry-after"]) >= 1
                assert client.get("/v1/budgets/census").status == 200  # what needs no price
                assert 429 in (client.get("/v1/budgets").status for _ in range(10_000))
                assert other.get("/v1/budgets").status == 200


def test_prices_that_are_kept_take_no_seconds() -> None:
    pricer, shared = PriceHere(), {"relation": "add_remove"}
    with price_seconds() as first:
        pricer.price("zcdp", shared, "Gaussian(sigma=3.0)", None)
    with price_seconds() as second:
        pricer.price("zcdp", shared, "Gaussian(sigma=3.0)", None)
    assert first.seconds > 0.0
    assert second.seconds == 0.0


# Connections.


@pytest.mark.parametrize("begun", [b"", b"GET /v1/budgets HTTP/1.1\r\nHost: x\r\n"])
def test_who_says_nothing_loses_its_place(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    """A thousand that had no token made the server say 503 to everybody."""
    monkeypatch.setattr(serve, "HEAD_SECONDS", 0.2)
    with housed(sqlite_url) as house:
        idle = [socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) for _ in range(20)]
        for sock in idle:
            with sock:
                sock.sendall(begun)
                assert all_of(sock) == b""
        assert house.client("viewer").get("/v1/budgets").status == 200


def test_a_head_after_an_answer_has_its_seconds_too(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "HEAD_SECONDS", 0.2)
    with housed(sqlite_url) as house, socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as sock:
        sock.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200 OK" in sock.recv(65536)
        sock.sendall(b"GET /v1/health HTTP/1.1\r\n")
        all_of(sock)  # it ends


def test_one_address_has_so_many_connections(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "ADDRESS_CONNECTIONS", 5)
    with housed(sqlite_url) as house:
        idle = [socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) for _ in range(5)]
        with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as sock:
            assert all_of(sock) == b""
        for sock in idle:
            sock.close()
        while serve.QuietProtocol._open:
            pass
        assert house.client("viewer").get("/v1/budgets").status == 200
