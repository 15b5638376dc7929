"""Every code of an answer, with the type of its problem."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socket import create_connection

import pytest

from tests.ledger.server.serving import JOB, NONCE, PATIENCE, SECRET, Answer, Client, House, housed
from tightrope.ledger import chain
from tightrope.ledger.errors import LedgerError, Unavailable, VerificationFailed
from tightrope.ledger.filters.base import Price
from tightrope.ledger.pricing import PriceHere
from tightrope.ledger.server import guard
from tightrope.ledger.server.problems import described


def expect(answer: Answer, status: int, urn: str) -> None:
    """A problem as RFC 9457 has it: its code, its type, one line that says what to change."""
    assert (answer.status, answer.urn) == (status, urn)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.document["status"] == status
    assert answer.document["title"] == urn.replace("-", " ")
    assert len(answer.document["detail"].splitlines()) == 1
    assert ("retry-after" in answer.headers) == (status in (429, 503))


def test_a_job_from_its_reservation_to_its_end(house: House) -> None:
    analyst = house.client("analyst")
    made = analyst.reserve("first", ttl=100, note="table 7")
    assert made.status == 201
    assert made.document["state"] == "reserved"
    assert made.headers["ledger-receipt"] == ", ".join(made.document["receipts"])
    again = analyst.reserve("first", ttl=100, note="table 7")
    assert again.status == 200
    assert again.document == made.document
    here = f"/v1/reservations/{made.document['id']}"
    claimed = analyst.post(f"{here}/claim", {}, idempotency_key="c")
    assert (claimed.status, claimed.document["state"]) == (201, "running")
    committed = analyst.post(f"{here}/commit", {}, idempotency_key="d")
    assert (committed.status, committed.document["state"]) == (201, "committed")
    assert analyst.post(f"{here}/commit", {}, idempotency_key="d").status == 200
    found = analyst.get(here)
    assert found.status == 200
    assert found.document["state"] == "committed"
    assert found.document["charges"] == made.document["charges"]
    assert analyst.get("/v1/budgets/census").document["jobs"] == {"committed": 1}


def test_all_addresses_that_read(house: House) -> None:
    admin = house.client("admin", None)
    wanted = {
        "kind": "basic",
        "epsilon": 1.0,
        "delta": 1e-6,
        "ceiling": 2.0,
        "relation": "replace",
        "unit": "one person",
    }
    assert admin.post("/v1/budgets", {"name": "a/b", **wanted}).status == 201
    assert admin.post("/v1/budgets/a%2Fb/renew", {"epsilon": 2.0}).status == 201
    quoted = admin.post("/v1/quotes", {"budget": "a/b", "job": "PureDP(epsilon=0.5)"}, idempotency_key=None)
    assert (quoted.status, quoted.document["more"]) == (200, 4)
    status = admin.get("/v1/budgets/a%2Fb?job=PureDP(epsilon%3D0.5)&slack=1e-9")
    assert (status.status, status.document["name"], status.document["more"]["fits"]) == (200, "a/b", True)
    names = [each["name"] for each in admin.get("/v1/budgets").document["budgets"]]
    assert names == ["a/b", "census", "poll"]
    assert len(admin.get("/v1/budgets/a%2Fb/history").document["moments"]) == 2
    assert admin.get("/v1/budgets/a%2Fb/reservations").document == {"reservations": [], "next": None}
    assert [line["seq"] for line in admin.get("/v1/audit?root=a/b&after=1").document["lines"]] == [2]
    anchor = admin.get("/v1/anchor").document
    assert set(anchor["roots"]) == {"_ledger", "a/b", "census", "poll"}
    assert anchor["mac"]
    assert set(Client(house.port, None).get("/v1/health").document) == {"version"}


def test_400(house: House) -> None:
    analyst = house.client("analyst")
    expect(analyst.post("/v1/reservations", {"jobs": {"census": JOB}}, idempotency_key=None), 400, "invalid")
    for key in ("", " ", "x" * 201, "é", "UTF-8''%FF", "UTF-8''", "UTF-8''%0A", "UTF-8''" + "%C3%A9" * 201):
        expect(analyst.post("/v1/reservations", {"jobs": {"census": JOB}}, idempotency_key=key), 400, "invalid")
    begins = {"jobs": {"census": JOB}, "start": True}
    for process in (None, "", "short", "x" * 129, "sixteen letters!"):
        expect(analyst.post("/v1/reservations", begins, ledger_process=process), 400, "invalid")
    expect(analyst.post("/v1/reservations", {"jobs": {"census": "Gaussian("}}), 400, "invalid")
    expect(analyst.post("/v1/reservations", {"jobs": {"census": 5}}), 400, "invalid")
    expect(analyst.post("/v1/reservations", {"jobs": {"census": JOB}, "cost": 1}), 400, "invalid")
    expect(analyst.post("/v1/reservations", {"jobs": {"census": JOB}, "units": {"rho": 1}}), 400, "invalid")
    expect(analyst.post("/v1/reservations/x/commit", {"reservation": "y"}), 400, "invalid")
    for query in ("job=1&job=2", "cost=1", f"job={JOB}&slack=nan", f"job={JOB}&slack=x", f"job={JOB}&slack=1e999"):
        expect(analyst.get(f"/v1/budgets/census?{query}"), 400, "invalid")
    for query in ("", "?root=census&after=-1", "?root=census&after=x", "?root=census&after=" + "9" * 30):
        expect(house.client("auditor").get(f"/v1/audit{query}"), 400, "invalid")
    expect(analyst.get("/v1/budgets", ledger_at_least="no receipt"), 400, "invalid")
    expect(analyst.get("/v1/budgets", ledger_at_least=", ".join(["census:1:" + "0" * 64] * 65)), 400, "invalid")
    assert house.ledger.status("census")["jobs"] == {}


def test_415(house: House) -> None:
    analyst = house.client("analyst")
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        expect(analyst.post("/v1/quotes", {}, content_type=kind), 415, "not-json")
    expect(analyst.post("/v1/quotes", {}, content_encoding="gzip"), 415, "not-json")
    kept = analyst.post("/v1/quotes", {"budget": "census", "job": JOB}, content_type="application/json; charset=utf-8")
    assert kept.status == 200


def test_404_and_405(house: House) -> None:
    admin = house.client("admin", None)
    for path in ("/", "/v1", "/v1/", "/v1/budgets/", "/v1/nothing", "/v2/budgets", "/v1/budgets/a/b", "//v1/budgets",
                 "/v1/budgets/nowhere", "/v1/reservations/0", "/v1/budgets/%FF", "/v1/audit?root=nowhere"):  # fmt: skip
        expect(admin.get(path), 404, "not-found")
    expect(admin.reserve("k", "nowhere"), 404, "not-found")
    wrong = admin.ask("DELETE", "/v1/budgets")
    assert (wrong.status, wrong.urn) == (405, "method-not-allowed")
    assert wrong.headers["allow"]


def test_409_exhausted_is_final_and_names_its_record(house: House) -> None:
    analyst = house.client("analyst")
    refused = analyst.reserve("all", job=f"{JOB} * 11")
    expect(refused, 409, "budget-exhausted")
    record = analyst.get(f"/v1/reservations/{refused.document['reservation']}")
    assert record.document["state"] == "refused"
    again = analyst.reserve("all", job=f"{JOB} * 11")
    assert again.document == refused.document


def test_409_wrong_state_and_410(house: House) -> None:
    analyst = house.client("analyst")
    here = f"/v1/reservations/{analyst.reserve('a').document['id']}"
    expect(analyst.post(f"{here}/commit", {}), 409, "wrong-state")
    assert analyst.post(f"{here}/cancel", {}).status == 201
    expect(analyst.post(f"{here}/cancel", {}), 409, "wrong-state")
    expect(analyst.post(f"{here}/claim", {}), 410, "reservation-cancelled")
    expect(analyst.post(f"{here}/commit", {}), 410, "reservation-cancelled")
    here = f"/v1/reservations/{analyst.reserve('b', start=True).document['id']}"
    expect(analyst.post(f"{here}/cancel", {}), 409, "wrong-state")
    assert analyst.post(f"{here}/cancel", {"attest": "the data were never read"}).document["state"] == "cancelled"


def test_409_claimed(house: House) -> None:
    analyst = house.client("analyst")
    other = "another-process-" + NONCE
    body = {"jobs": {"census": JOB}, "start": True}
    assert analyst.post("/v1/reservations", body, idempotency_key="k").status == 201
    assert analyst.post("/v1/reservations", body, idempotency_key="k").status == 200
    expect(analyst.post("/v1/reservations", body, idempotency_key="k", ledger_process=other), 409, "claimed")
    here = f"/v1/reservations/{analyst.reserve('j').document['id']}"
    assert analyst.post(f"{here}/claim", {}, idempotency_key="c").status == 201
    expect(analyst.post(f"{here}/claim", {}, idempotency_key="c", ledger_process=other), 409, "claimed")
    expect(analyst.post(f"{here}/claim", {}, ledger_process=other), 409, "claimed")
    expect(analyst.post(f"{here}/commit", {"part": JOB}, ledger_process=other), 409, "claimed")


def test_409_frozen(house: House) -> None:
    analyst = house.client("analyst")
    house.ledger.freeze("census", "somebody looks at it")
    expect(analyst.reserve("k"), 409, "frozen")
    assert analyst.get("/v1/budgets/census").document["state"] == "frozen"
    house.ledger.recover("census", "looked at")


def test_409_names_that_are_taken(house: House) -> None:
    admin = house.client("admin", None)
    expect(admin.post("/v1/budgets", {"name": "poll", "kind": "basic", "epsilon": 1.0, "unit": "one person",
                                      "relation": "replace"}), 409, "conflict")  # fmt: skip


def test_412_a_receipt_of_a_line_that_is_missing(house: House) -> None:
    """An authentic one freezes its root, a forged one does not, and other roots are no business of this token."""
    analyst, admin = house.client("analyst"), house.client("admin", None)
    receipt = analyst.reserve("k").headers["ledger-receipt"]
    assert analyst.get("/v1/budgets", ledger_at_least=receipt).status == 200
    lost = f"census:99:{'0' * 64}"
    for each in (lost, f"{lost}:{'f' * 32}", f"{lost}:", chain.receipt("census", 99, "0" * 64, b"another key")):
        expect(analyst.get("/v1/budgets", ledger_at_least=each), 412, "ledger-went-back")
        body = {"jobs": {"census": JOB}}
        expect(analyst.post("/v1/reservations", body, ledger_at_least=each), 412, "ledger-went-back")
    other = chain.receipt("poll", 99, "0" * 64, SECRET)
    assert analyst.get("/v1/budgets", ledger_at_least=other).status == 200
    assert admin.get("/v1/budgets/poll").document["state"] == "open"
    assert admin.get("/v1/budgets/census").document["state"] == "open"
    assert house.ledger.status("census")["jobs"] == {"reserved": 1}
    authentic = chain.receipt("census", 99, "0" * 64, SECRET)
    expect(analyst.get("/v1/budgets", ledger_at_least=f"{receipt}, {authentic}"), 412, "ledger-went-back")
    assert admin.get("/v1/budgets/census").document["state"] == "frozen"
    expect(analyst.reserve("next"), 409, "frozen")
    expect(admin.get("/v1/budgets", ledger_at_least=other), 412, "ledger-went-back")
    assert admin.get("/v1/budgets/poll").document["state"] == "frozen"


def test_422_keys_are_for_one_request(house: House) -> None:
    analyst = house.client("analyst")
    made = analyst.reserve("k")
    expect(analyst.reserve("k", job=f"{JOB} * 2"), 422, "key-reused")
    expect(analyst.reserve("k", ttl=5), 422, "key-reused")
    here = f"/v1/reservations/{made.document['id']}/cancel"
    expect(analyst.post(here, {}, idempotency_key="k"), 422, "key-reused")
    assert house.client("analyst").reserve("k").status == 201  # another one's keys are their own
    assert house.ledger.status("census")["jobs"] == {"reserved": 2}


def test_keys_in_any_letters(house: House) -> None:
    analyst = house.client("analyst")
    assert analyst.reserve("UTF-8''caf%C3%A9%20%F0%9F%8C%B1").status == 201
    assert [line["body"] for line in house.ledger.audit("census")][-1].find('"key":"caf\\u00e9 ') > 0
    assert analyst.reserve("100%25").status == 201
    assert analyst.reserve("100%").status == 201


def test_422_jobs_that_have_no_price(house: House) -> None:
    analyst = house.client("analyst")
    expect(analyst.reserve("a", job="Gaussian(sigma=1.0) * 10**300"), 422, "unsupported-mechanism")
    job = "Gaussian(sigma=1.0).without_replacement(batch=10, records=1000)"
    expect(analyst.reserve("c", job=job), 422, "relation-mismatch")


def test_422_not_additive(house: House) -> None:
    house.ledger.create("whole", kind="gdp", epsilon=4.0, delta=1e-6, relation="add_remove", unit="one person")
    analyst = house.client("analyst", "whole")
    job = "Laplace(scale=10.0)"
    made = analyst.reserve("k", "whole", f"{job} * 2", start=True)
    assert made.status == 201, made.text
    here = f"/v1/reservations/{made.document['id']}/commit"
    expect(analyst.post(here, {"part": job}), 422, "not-additive")
    assert analyst.post(here, {}).status == 201


def test_429_one_token_has_so_many_requests_at_a_time(house: House) -> None:
    mine, other = house.client("analyst"), house.client("analyst")
    head = (
        f"POST /v1/quotes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {mine.token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 10\r\n\r\n"
    )
    with ExitStack() as open_ones:
        socks = [
            open_ones.enter_context(create_connection(("127.0.0.1", house.port), timeout=PATIENCE))
            for _ in range(guard.AT_A_TIME)
        ]
        for sock in socks:
            sock.sendall(head.encode())
        while (answer := mine.get("/v1/budgets")).status == 200:  # until all of them have come in
            pass
        expect(answer, 429, "too-many-requests")
        assert other.get("/v1/budgets").status == 200
        socks[0].sendall(b'{"a": 1}  ')
        assert socks[0].recv(12) == b"HTTP/1.1 404"
        while (answer := mine.get("/v1/budgets")).status == 429:  # its place is free a moment later
            pass
        assert answer.status == 200


class Held(PriceHere):
    """Begins a price and waits."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def _found(self, *asked: object) -> Price:
        self.begun.set()
        assert self.go.wait(PATIENCE)
        raise Unavailable("all processes that work out prices are busy: ask again in a moment")


def test_503_says_when_to_ask_again(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "AT_A_TIME_ALL", 1)
    held = Held()
    with housed(sqlite_url, pricer=held) as house:
        answers: list[Answer] = []
        asking = house.client("analyst")
        body = {"budget": "census", "job": JOB}
        thread = threading.Thread(target=lambda: answers.append(asking.post("/v1/quotes", body)))
        thread.start()
        assert held.begun.wait(PATIENCE)
        expect(house.client("viewer").get("/v1/budgets"), 503, "unavailable")
        assert Client(house.port, None).get("/v1/health").status == 200
        held.go.set()
        thread.join()
        expect(answers[0], 503, "unavailable")
        assert house.client("viewer").get("/v1/budgets").status == 200


def test_500_tells_nothing_but_where_to_look(house: House, monkeypatch: pytest.MonkeyPatch,
                                             caplog: pytest.LogCaptureFixture) -> None:  # fmt: skip
    secret = "".join(("sword", "fish"))  # not as a line of this file, which a traceback may show

    def broken(*_: object) -> None:
        raise RuntimeError(secret)

    monkeypatch.setattr(house.desk.pricer, "price", broken)
    answer = house.client("analyst").post("/v1/quotes", {"budget": "census", "job": JOB})
    expect(answer, 500, "fault")
    assert secret not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text


def errors_below(kind: type[LedgerError]) -> Iterator[type[LedgerError]]:
    for each in kind.__subclasses__():
        if each.__module__ == LedgerError.__module__:
            yield each
            yield from errors_below(each)


@pytest.mark.parametrize("kind", [*errors_below(LedgerError)])
def test_every_error_of_a_ledger_has_its_code(kind: type[LedgerError]) -> None:
    error = VerificationFailed(("one", "two")) if kind is VerificationFailed else kind("why")
    status, document, headers = described(error)
    assert (status, document["type"]) == (kind.code, f"urn:tightrope:{kind.urn}")
    assert document["kind"] == kind.__name__
    assert ("retry-after" in headers) == (status == 503)
    assert ("www-authenticate" in headers) == (status == 401)


def test_the_database_is_away(sqlite_url: str, tmp_path: Path) -> None:
    with housed(sqlite_url) as house:
        viewer = house.client("viewer")
        assert viewer.get("/v1/budgets").status == 200
        house.desk.close()
        (tmp_path / "ledger.db").rename(tmp_path / "elsewhere.db")
        (tmp_path / "ledger.db").mkdir()
        expect(viewer.get("/v1/budgets"), 503, "unavailable")
