"""Requests as no friend would send them: each is answered in one line, and others go on being answered."""

from __future__ import annotations

import json
import socket

import pytest

from tests.ledger.server.serving import JOB, PATIENCE, Client, House, all_of, raw
from tightrope.ledger.server import guard
from tightrope.ledger.service import REQUEST_BYTES

GOOD = {"jobs": {"census": JOB}}


NO_REQUESTS = (
    b"", b"{", b"[]", b"null", b'"text"', b"7", b"{}x", b'{"a":1,"a":2}', b'{"jobs":{"census":"a","census":"b"}}',
    b'{"ttl":NaN}', b'{"ttl":Infinity}', b'{"ttl":-Infinity}', b'{"ttl":1e999}', b'{"ttl":' + b"9" * 5000 + b"}",
    b"[" * 30_000, b'{"a":' * 10_000 + b"1" + b"}" * 10_000, b'{"a":' * 9 + b"1" + b"}" * 9, b"\xff\xfe{}",
    b'{"a":"\xff"}',
    b'{"jobs":{"census":"\\ud800"}}', b'{"jobs":{"census":"\\u0000"}}', b"{'jobs':{}}", b'{"jobs":{},}', b"// x\n{}",
    b'{"jobs":' + json.dumps({f"b{n}": JOB for n in range(21)}).encode() + b"}", b'{"jobs":{}}', b'{"jobs":[]}',
    b'{"jobs":{"census":"Gaussian(sigma=1)"},"note":"a\\nb"}', b'{"jobs":{"census":"Gaussian(sigma=1)"},"ttl":true}',
)  # fmt: skip


def test_what_is_no_request_is_refused_in_one_line(house: House) -> None:
    analyst = house.client("analyst")
    for body in NO_REQUESTS:
        answer = analyst.post("/v1/reservations", body)
        assert (answer.status, answer.urn) == (400, "invalid"), (body, answer.text)
        assert len(answer.document["detail"].splitlines()) == 1
    assert house.ledger.status("census")["jobs"] == {}


def test_413_a_request_has_so_many_bytes(house: House) -> None:
    analyst = house.client("analyst")
    body = json.dumps(GOOD).encode()
    assert analyst.post("/v1/reservations", body.ljust(REQUEST_BYTES)).status == 201
    large = analyst.post("/v1/reservations", body.ljust(REQUEST_BYTES + 1))
    assert (large.status, large.urn, large.headers["connection"]) == (413, "too-large", "close")
    head = request(analyst, "POST /v1/reservations", "Content-Length: 9999999999999999999")
    assert raw(house.port, head).startswith(b"HTTP/1.1 413 ")
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    found = raw(house.port, request(analyst, "POST /v1/reservations", "Transfer-Encoding: chunked") + chunk * 2)
    assert found.startswith(b"HTTP/1.1 413 ")


def request(client: Client, line: str, *headers: str) -> bytes:
    always = ("Host: x", f"Authorization: Bearer {client.token}", "Content-Type: application/json",
              "Connection: close", "Idempotency-Key: raw", "Ledger-Process: a-process-of-the-tests")  # fmt: skip
    return "\r\n".join((f"{line} HTTP/1.1", *always, *headers, "", "")).encode("latin-1")


def test_two_lengths_of_one_body_are_refused(house: House) -> None:
    """A proxy that believes the other one would let a second request through as part of the first."""
    analyst = house.client("analyst")
    inner = request(analyst, "GET /v1/budgets/census")
    body = b"0\r\n\r\n" + inner
    both = request(analyst, "POST /v1/quotes", f"Content-Length: {len(body)}", "Transfer-Encoding: chunked") + body
    found = raw(house.port, both)
    assert found.startswith(b"HTTP/1.1 400 ")
    assert found.count(b"HTTP/1.1 ") == 1
    for lines in (
        ("Content-Length: 5", "Content-Length: 2"),
        ("Content-Length: +2",),
        ("Content-Length: 0x2",),
        ("Content-Length: -1",),
        ("Transfer-Encoding: xchunked",),
        ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
        ("Content-Length: 2", "Idempotency-Key: two"),
        ("Content-Length: 2", "Ledger-Process: a-second-process-name"),
        ("Content-Length: 2", "X: a\rb"),
        ("Content-Length: 2", "X : a"),
        ("Content-Length: 2", "X: a\0b"),
    ):
        found = raw(house.port, request(analyst, "POST /v1/reservations", *lines) + b"{}")
        assert found.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 501 ")), (lines, found)
        assert found.count(b"HTTP/1.1 ") == 1
    double = request(analyst, "GET /v1/budgets", f"Authorization: Bearer {analyst.token}")
    assert raw(house.port, double).startswith(b"HTTP/1.1 401 ")
    assert house.ledger.status("census")["jobs"] == {}


def test_addresses_are_read_as_they_are_written(house: House) -> None:
    viewer = house.client("viewer")
    for path in ("/v1/budgets/../budgets", "http://elsewhere/v1/budgets", "/v1/%62udgets", "/v1/budgets%2Fcensus",
                 "/v1/budgets/census%00", "/v1/budgets/%2e%2e", "/v1/budgets/%ED%A0%80",
                 "/v1/reservations/%00"):  # fmt: skip
        found = raw(house.port, request(viewer, f"GET {path}"))
        assert found.startswith(b"HTTP/1.1 404 "), (path, found)
    for name in ("\ud800", "\0", "é", "x" * 1000):
        assert viewer.post("/v1/quotes", {"budget": name, "job": JOB}).status == 404
    auditor = house.client("admin", None)
    for query in ("%00", "%ED%A0%80", "%C3%A9"):
        assert auditor.get(f"/v1/audit?root={query}").status == 404


def test_answers_are_kept_by_nobody_and_shown_by_no_browser(house: House) -> None:
    for answer in (house.client("viewer").get("/v1/budgets"), Client(house.port, None).get("/v1/budgets"),
                   Client(house.port, None).get("/v1/health")):  # fmt: skip
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "server" not in answer.headers
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_slow_body_is_waited_for_and_nobody_waits_with_it(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    analyst, other = house.client("analyst"), house.client("analyst")
    body = json.dumps(GOOD).encode()
    head = request(analyst, "POST /v1/reservations", f"Content-Length: {len(body)}")
    monkeypatch.setattr(guard, "BODY_SECONDS", PATIENCE)
    with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as slow:
        slow.sendall(head)
        for at in range(len(body) - 1):
            slow.sendall(body[at : at + 1])
            if at % 10 == 0:
                assert other.get("/v1/budgets").status == 200
        slow.sendall(body[-1:])
        assert slow.recv(12) == b"HTTP/1.1 201"
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.1)
    with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as slow:
        slow.sendall(head + body[:-1])
        found = all_of(slow)
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b"too-slow" in found
    with socket.create_connection(("127.0.0.1", house.port), timeout=PATIENCE) as gone:
        gone.sendall(head + body[:-1])
    assert other.get("/v1/budgets").status == 200
    assert house.ledger.status("census")["jobs"] == {"reserved": 1}


def test_websockets_are_not_spoken(house: House) -> None:
    upgrade = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
    found = raw(house.port, request(house.client("viewer"), "GET /v1/budgets", *upgrade, "Sec-WebSocket-Version: 13"))
    assert found.startswith(b"HTTP/1.1 200 ")
