"""A ledger behind a server is the same ledger: one story told by both, and what only a network can do to it."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

import tightrope as tr
import tightrope.ledger as tl
from tests.ledger.server.serving import SECRET, House, housed, serving
from tightrope.core.values.errors import DataError, ExpressionError, InvalidParameter, UnsupportedMechanism
from tightrope.ledger import chain, operations, remote, wire
from tightrope.ledger.database import Database
from tightrope.ledger.ledger import HOLDERS_ONLY, Ledger
from tightrope.ledger.remote import RemoteService, addressed, place
from tightrope.ledger.service import LocalService
from tightrope.ledger.transactions.entry import Actor

JOB = tr.Gaussian(sigma=10.0)
TOKEN = "trl_" + "t" * 43
CHANGING = ("id", "made", "expires", "at", "hash", "prev", "mac", "principal", "actor", "reservation", "claimant",
            "key", "body_hash")  # fmt: skip


@pytest.fixture
def house(ledger_url: str) -> Iterator[House]:
    with housed(ledger_url) as made:
        yield made


def opened(house: House, where: str) -> Ledger:
    token = house.ledger.token(f"someone-{where}", role="admin")
    if where == "local":
        return Ledger(LocalService(Database(house.desk.database.url), Actor(f"someone-{where}"), secret=SECRET))
    return tl.open(house.url, token=token)


def plain(value: Any) -> Any:
    """An answer without what differs from one ledger to the next."""
    if isinstance(value, Mapping):
        return {name: "..." if name in CHANGING else plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, str) and value.startswith("{"):
        return plain(json.loads(value))
    return value


def error_of(call: Callable[[], object]) -> tuple[type[Exception], str]:
    with pytest.raises(tr.TightropeError) as info:
        call()
    return info.type, str(info.value)


def story(ledger: Ledger) -> Iterator[Any]:
    """Every call there is, with what it gives."""
    budget: dict[str, Any] = {"delta": 1e-6, "relation": "add_remove", "unit": "one person"}
    yield ledger.create("team/a", epsilon=2.0, ceiling=3.0, key="é 1", **budget)
    yield ledger.create("team/b", kind="plan", plan={JOB: 3}, **budget)
    yield ledger.create("part", epsilon=1.0, parent="team/a", **budget)
    yield ledger.create("block", epsilon=1.0, parent="team/a", parallel=True, **budget)
    yield ledger.create("o", kind="odometer", orders={4: 0.5, 8: 0.5}, **{**budget, "relation": "replace"})
    yield ledger.create("c", kind="basic", epsilon=4.0, **budget)
    yield ledger.renew("team/a", epsilon=3.0)
    yield ledger.budgets()
    yield str(ledger.quote("part", JOB)), ledger.quote("c", JOB, slack=1e-9).units
    with ledger.spend("part", JOB, key="naïve key: 100%, “quoted”", note="résumé") as job:
        yield job.document, job.state, job.replayed
    yield job.document, job.state
    made = ledger.reserve({"team/a": "Laplace(scale=20)", "team/b": JOB}, " spaces ", ttl=50.0)
    yield made.document, made.replayed
    yield ledger.reserve({"team/a": "Laplace(scale=20)", "team/b": JOB}, " spaces ", ttl=50.0).replayed
    yield made.claim(ttl=70.0).document, made.commit().document, ledger.reservation(made.id).document
    made = ledger.reserve({"team/a": JOB * 4}, "UTF-8''%41", start=True)
    yield made.replayed, made.commit(part=JOB * 3).document
    made = ledger.reserve({"team/a": JOB * 4, "part": JOB}, "parts", start=True)
    yield made.replayed, made.commit(part={"team/a": JOB, "part": JOB}).document
    yield ledger.reserve({"o": "PureDP(epsilon=0.1)"}, "o").cancel().document
    made = ledger.reserve({"team/a": JOB}, "x", start=True)
    yield error_of(made.cancel)
    yield made.cancel("the data were never read").document
    claimed = ledger.as_claimant("shell")
    made = claimed.reserve({"team/a": JOB}, "shell", start=True)
    yield claimed.reserve({"team/a": JOB}, "shell", start=True).replayed
    yield error_of(lambda: ledger.reserve({"team/a": JOB}, "shell", start=True))
    yield ledger.as_claimant("shell").reservation(made.id).commit(part=JOB).document
    for name in ("team/a", "team/b", "part", "block", "o", "c"):
        yield ledger.status(name)
        yield ledger.history(name)
        yield ledger.reservations(name)
    yield ledger.status("c", JOB * 10, slack=1e-9)
    yield ledger.status("team/a", " + ".join(["Gaussian(sigma=10)"] * 900))["more"]
    yield list(ledger.audit("team/a")), list(ledger.audit("team/a", after=3))
    anchor = ledger.anchor()
    yield anchor, "mac" in anchor
    assert set(ledger.verify(anchor, ledger.receipts)) == {"lines", "roots", "reservations"}
    ledger.compare(anchor, ledger.receipts)
    yield [each.split(":")[:2] for each in ledger.receipts]


def mistakes(ledger: Ledger) -> Iterator[Callable[[], object]]:
    """Every kind of refusal."""
    budget: dict[str, Any] = {"delta": 1e-6, "relation": "add_remove", "unit": "one person"}
    yield lambda: ledger.status("nowhere")
    yield lambda: ledger.status("")
    yield lambda: ledger.status("../census")
    yield lambda: ledger.status("census\0")
    yield lambda: ledger.reservation("\0")
    yield lambda: ledger.history("nowhere")
    yield lambda: ledger.reservations("nowhere")
    yield lambda: ledger.reservation("nothing")
    yield lambda: ledger.reservation("a/b?c#d%")
    yield lambda: list(ledger.audit("nowhere"))
    yield lambda: ledger.create("census", epsilon=1.0, **budget)
    yield lambda: ledger.create("no name", epsilon=1.0, **budget)
    yield lambda: ledger.create("x", epsilon=float("nan"), **budget)
    yield lambda: ledger.create("x", epsilon=-1.0, **budget)
    yield lambda: ledger.create("x", epsilon=1.0, colour="red", **budget)
    yield lambda: ledger.create("x", epsilon=1.0, floor=object(), **budget)
    yield lambda: ledger.create("x", epsilon=1.0, **{**budget, "relation": "other"})
    yield lambda: ledger.renew("census", epsilon=9.0)
    yield lambda: ledger.quote("census", "Gaussian(")
    yield lambda: ledger.quote("census", "Gaussian(sigma=1) * 10**300")
    yield lambda: ledger.quote("census", JOB, slack=float("nan"))
    yield lambda: ledger.quote("census", object())  # type: ignore[arg-type]
    yield lambda: ledger.status("census", "Gaussian(")
    yield lambda: ledger.status("census", JOB, slack=True)
    yield lambda: ledger.status("census", JOB, slack=float("inf"))
    yield lambda: ledger.quote("census", JOB.without_replacement(batch=10, records=1000))
    yield lambda: ledger.reserve({"census": JOB * 11}, "too much")
    yield lambda: ledger.reserve({"census": JOB * 11}, "too much")
    yield lambda: ledger.reserve({"census": JOB}, "too much")
    yield lambda: ledger.reserve({"nowhere": JOB}, "k")
    yield lambda: ledger.reserve({}, "k")
    yield lambda: ledger.reserve({"census": JOB}, "k", ttl=-1)
    yield lambda: ledger.reserve({"census": JOB}, "k", note="two\nlines")
    yield lambda: ledger.reserve({"census": JOB}, "k" * 201)
    yield lambda: ledger.reserve({"census": JOB}, "two\nlines")
    yield lambda: ledger.reserve({"census": JOB}, "\ud800")
    yield lambda: ledger.create("x", epsilon=1.0, key="two\nlines", colour="red", **budget)
    yield lambda: list(ledger.audit("census", after=-1))
    yield lambda: ledger.compare(None, ["no receipt"])
    yield lambda: ledger.compare(None, ["census:1:" + "0" * 64 + "\r\nX: y"])
    yield lambda: ledger.compare(None, ["census:99:" + "0" * 64])
    yield lambda: ledger.verify(None, ["census:99:" + "0" * 64])
    yield lambda: ledger.compare({"at": 1, "roots": {"census": {"seq": 99, "hash": "0" * 64, "used": {}, "dead": {}}}})
    yield lambda: ledger.compare({"at": "x"})


def test_the_same_story(ledger_url: str, tmp_path: Path) -> None:
    with housed(ledger_url) as house, opened(house, "remote") as there:
        told = [plain(each) for each in story(there)]
    with housed(f"sqlite:///{tmp_path}/other.db") as house, opened(house, "local") as local:
        expected = [plain(each) for each in story(local)]
    for found, wanted in zip(told, expected, strict=True):
        assert found == wanted


def test_the_same_mistakes(house: House) -> None:
    """The same errors; in the same words, but for what is not even sent."""
    with opened(house, "remote") as there, opened(house, "local") as here:
        for number, (one, other) in enumerate(zip(mistakes(there), mistakes(here), strict=True)):
            found, wanted = error_of(one), error_of(other)
            assert found[0] is wanted[0], (number, found, wanted)


def test_an_exhausted_budget_is_told_with_its_record(house: House) -> None:
    with opened(house, "remote") as ledger:
        with pytest.raises(tl.BudgetExhausted) as info:
            ledger.reserve({"census": JOB * 11}, "k")
        assert ledger.reservation(info.value.reservation).state == "refused"
        with pytest.raises(UnsupportedMechanism, match="no engine can answer for Gaussian"):
            ledger.quote("census", JOB * 10**300)


def test_what_only_the_holder_of_the_database_does(house: House, tmp_path: Path) -> None:
    with opened(house, "remote") as ledger:
        for call in (
            lambda: ledger.token("x", role="admin"),
            lambda: ledger.revoke("x"),
            lambda: ledger.freeze("census", "why"),
            lambda: ledger.recover("census", "why"),
            lambda: ledger.backup(tmp_path / "copy"),
            lambda: ledger.export(tmp_path / "lines"),
            lambda: ledger.migrate(),
            lambda: ledger._ask("expire", {}),
        ):
            assert error_of(call) == (tl.LedgerError, HOLDERS_ONLY)
        assert not list(tmp_path.glob("lines"))
        with pytest.raises(tl.LedgerError, match="at most 65,536 bytes"):
            ledger.reserve({f"b{n}": "Gaussian(sigma=1)" + " " * 9000 for n in range(9)}, "k")


def test_a_body_runs_once_and_never_again(house: House) -> None:
    with opened(house, "remote") as ledger:
        with ledger.spend("census", JOB, key="k"):
            pass
        with pytest.raises(tl.Claimed), ledger.spend("census", JOB, key="k"):
            raise AssertionError
        other: Ledger = pickle.loads(pickle.dumps(ledger))
        with other, pytest.raises(tl.Claimed), other.spend("census", JOB, key="k"):
            raise AssertionError
        with pytest.raises(RuntimeError), ledger.spend("census", JOB, key="crash"):
            raise RuntimeError
        with pytest.raises(tl.Claimed), ledger.spend("census", JOB, key="crash"):
            raise AssertionError
        assert house.ledger.status("census")["jobs"] == {"committed": 1, "running": 1}


def spends(ledger: Ledger, key: str) -> str:
    try:
        with ledger.spend("census", JOB, key=key):
            return "ran"
    except tl.LedgerError as error:
        return type(error).__name__


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_threads_forks_and_workers_share_one_ledger(house: House) -> None:
    keys = [f"job-{number}" for number in range(8)]
    with opened(house, "remote") as ledger:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(spends, [ledger] * 8, [key for key in keys[:4] for _ in range(2)]))
        assert sorted(found) == ["Claimed"] * 4 + ["ran"] * 4
        pipe, theirs = multiprocessing.get_context("fork").Pipe()
        child = multiprocessing.get_context("fork").Process(
            target=lambda: theirs.send([spends(ledger, key) for key in ("job-0", *keys[4:6])])
        )
        child.start()
        assert spends(ledger, "job-6") == "ran"
        assert pipe.recv() == ["Claimed", "ran", "ran"]
        child.join()
        pipe.close()
        theirs.close()
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            assert pool.submit(spends, ledger, "job-7").result() == "ran"
            assert pool.submit(spends, ledger, "job-6").result() == "Claimed"
    assert house.ledger.status("census")["jobs"] == {"committed": 8}


def test_a_server_that_went_back_is_noticed(tmp_path: Path) -> None:
    """By whoever wrote to it, by receipts, by an anchor: an old backup is not spent from again."""
    url, old = f"sqlite:///{tmp_path}/ledger.db", tmp_path / "old.db"
    with housed(url) as house:
        token = house.ledger.token("someone", role="admin")
        house.ledger.backup(old)
        with tl.open(house.url, token=token) as ledger:
            ledger.reserve({"census": JOB}, "k")
            anchor, receipts = ledger.anchor(), ledger.receipts
            keeper = ledger._desk
    (tmp_path / "anchor.json").write_text(json.dumps(anchor))
    desk = LocalService(Database(f"sqlite:///{old}"), Actor("server"), secret=SECRET)
    with serving(desk) as port:
        address = f"http://127.0.0.1:{port}"
        for seen in (anchor, tmp_path / "anchor.json", str(tmp_path / "anchor.json")):
            with pytest.raises(tl.WentBack):
                tl.open(address, token=token, anchor=seen)
        with tl.open(address, token=token) as ledger:
            assert ledger.status("census")["state"] == "open"  # an anchor without its key's proof freezes nothing here
            for call in (lambda: ledger.verify(anchor), lambda: ledger.compare(anchor)):
                with pytest.raises(tl.WentBack):
                    call()
        moved = RemoteService(address, token, keeper._shown())  # type: ignore[attr-defined]
        with Ledger(moved) as ledger, pytest.raises(tl.WentBack):
            ledger.reserve({"census": JOB}, "another")
        with tl.open(address, token=token) as ledger:
            assert ledger.status("census")["state"] == "frozen"
        with pytest.raises(tl.WentBack):
            tl.open(address, token=token, receipts=receipts)
    desk.close()


def test_receipts_are_shown_again_the_last_of_each_root(house: House) -> None:
    with opened(house, "remote") as ledger:
        desk = ledger._desk
        assert isinstance(desk, RemoteService)
        for key in ("a", "b"):
            ledger.reserve({"census": JOB, "poll": JOB}, key)
        ledger.reserve({"census": JOB, "poll": JOB}, "a")  # an old answer, with old receipts
        shown = {each.split(":")[0]: int(each.split(":")[1]) for each in desk._shown()}
        assert shown == {"census": 3, "poll": 3}
        many = [chain.receipt(f"root-{number}", 1, "0" * 64, None) for number in range(100)]
        desk._note(many)
        assert desk._shown() == tuple(many[-64:])


# What only a network does, told by a server that plays a part.


class Part:
    """What a server says to one request after another: a status with headers and a body, or nothing at all."""

    def __init__(self, *answers: tuple[int, Mapping[str, str], bytes] | None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, str]]] = []


@contextmanager
def playing(part: Part, context: ssl.SSLContext | None = None) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            part.asked.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
            said = part.answers.pop(0) if len(part.answers) > 1 else part.answers[0]
            if said is None:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, headers, body = said
            self.send_response(status)
            length = {} if "Transfer-Encoding" in headers else {"Content-Length": str(len(body))}
            for name, value in {**length, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815  # names that the library looks for

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def get_request(self) -> tuple[socket.socket, Any]:
            sock, address = super().get_request()
            return sock if context is None else context.wrap_socket(sock, server_side=True), address

        def handle_error(self, *_: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


PROBLEM = {"Content-Type": "application/problem+json"}
NEW = (201, {"Content-Type": "application/json"}, json.dumps({"id": "x", "state": "running", "receipts": []}).encode())
OLD = (200, *NEW[1:])


def refusing(status: int, kind: str, **headers: str) -> tuple[int, Mapping[str, str], bytes]:
    return status, {**PROBLEM, **headers}, json.dumps({"kind": kind, "detail": "one line", "status": status}).encode()


BUSY = refusing(503, "Unavailable", **{"Retry-After": "0"})


CUT = {"Content-Length": "99", "Connection": "close"}  # the server ends in the middle of its answer


@pytest.mark.parametrize("first", [
    None, BUSY, refusing(429, "Unavailable"), (502, {}, b"<html>"), (504, {}, b""), (503, {}, b"x"), (201, CUT, b""),
    (201, CUT, b'{"id": "y"}'), (409, {**PROBLEM, **CUT}, b'{"kind": "Claimed", "detail": ""}'),
    (201, {"Transfer-Encoding": "chunked", "Connection": "close"}, b'b\r\n{"id": "y"}\r\n'),
])  # fmt: skip
def test_what_got_no_answer_is_asked_again_with_the_same_key(
    first: tuple[int, Mapping[str, str], bytes] | None,
) -> None:
    part = Part(first, first, OLD)
    with playing(part) as url, behind(url) as ledger:
        made = ledger.reserve({"census": JOB}, "k", start=True)
    assert made.state == "running"
    assert not made.replayed  # the process that asked may run it: nobody else was told
    assert len(part.asked) == 3
    assert {asked[2]["idempotency-key"] for asked in part.asked} == {"k"}
    assert len({asked[2]["ledger-process"] for asked in part.asked}) == 1
    assert {asked[2]["authorization"] for asked in part.asked} == {f"Bearer {TOKEN}"}


def behind(url: str, patience: float = 30.0) -> Ledger:  # as a class would be called
    return Ledger(RemoteService(url, TOKEN, patience=patience))


def test_a_write_without_a_key_of_the_callers_has_one_for_all_its_attempts() -> None:
    part = Part(None, BUSY, NEW)
    with playing(part) as url, behind(url) as ledger:
        ledger._ask("create", {"name": "x"})
        ledger._ask("create", {"name": "y"})
    keys = [asked[2]["idempotency-key"] for asked in part.asked]
    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_attempts_have_an_end() -> None:
    with playing(Part(refusing(503, "Unavailable", **{"Retry-After": "60"}))) as url, behind(url) as ledger:
        assert error_of(ledger.budgets) == (tl.Unavailable, "one line")
    with playing(Part(None)) as url, behind(url, 0.1) as ledger:
        assert error_of(ledger.budgets)[0] is tl.Unavailable
    with behind(url, 0.1) as ledger:  # nobody is there any more
        assert "does not answer" in error_of(ledger.budgets)[1]


@pytest.mark.parametrize("first", [None, (502, {}, b""), (504, {}, b"")])
def test_what_is_read_from_a_server_that_is_away_is_given_up_first(
    first: tuple[int, Mapping[str, str], bytes] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write goes on, and so does a read from a server that is there and busy."""
    assert remote.READ_REACH_SECONDS < remote.REACH_SECONDS
    monkeypatch.setattr(remote, "READ_REACH_SECONDS", 0.0)
    for name in ("budgets", "quote"):
        part = Part(first, NEW)
        with playing(part) as url, behind(url) as ledger, pytest.raises(tl.Unavailable):
            ledger._ask(name, {})
        assert len(part.asked) == 1
    part = Part(first, NEW, BUSY, (200, {}, b'{"budgets": []}'))
    with playing(part) as url, behind(url) as ledger:
        ledger.reserve({"census": JOB}, "k")
        assert ledger.budgets() == ()
    assert len(part.asked) == 4


def test_a_body_that_did_not_begin_may_run_when_it_is_asked_for_again() -> None:
    """The first call got no answer to its end; the second one finds what the first one reserved."""
    part = Part(refusing(503, "Unavailable", **{"Retry-After": "99"}), OLD)
    ran = []
    with playing(part) as url, behind(url) as ledger:
        with pytest.raises(tl.Unavailable), ledger.spend("census", JOB, key="k"):
            raise AssertionError
        with ledger.spend("census", JOB, key="k"):
            ran.append(1)
        with pytest.raises(tl.Claimed), ledger.spend("census", JOB, key="k"):
            raise AssertionError
        claimed = ledger.as_claimant("a name that other processes have too")
        with pytest.raises(tl.Claimed), claimed.spend("census", JOB, key="k"):
            raise AssertionError
    assert ran == [1]


@pytest.mark.parametrize(("answer", "kind", "words"), [
    ((302, {"Location": "https://elsewhere.example/"}, b""), tl.LedgerError, "another address"),
    ((307, {"Location": "/v1/budgets/"}, b""), tl.LedgerError, "another address"),
    ((200, {}, b"<html>welcome"), tl.LedgerError, "no ledger"),
    ((200, {}, b"[]"), tl.LedgerError, "no ledger"),
    ((400, {}, b"Bad Request"), tl.Unavailable, "answers 400"),
    ((400, PROBLEM, b"{}"), tl.Unavailable, "answers 400"),
    ((500, {}, b""), tl.Unavailable, "answers 500"),
    (refusing(500, "Unavailable"), tl.Unavailable, "one line"),
    (refusing(401, "Unauthenticated"), tl.Denied, "one line"),
    (refusing(400, "ClassVar"), tl.LedgerError, "one line"),
    (refusing(400, "SystemExit"), tl.LedgerError, "one line"),
    (refusing(400, "DataError"), DataError, "one line"),
    (refusing(400, "ExpressionError"), ExpressionError, "one line"),
    (refusing(412, "WentBack"), tl.WentBack, "one line"),
])  # fmt: skip
def test_what_a_server_says_is_asked_once(
    answer: tuple[int, Mapping[str, str], bytes], kind: type[Exception], words: str
) -> None:
    part = Part(answer)
    with playing(part) as url, behind(url) as ledger:
        found = error_of(ledger.budgets)
    assert found[0] is kind or issubclass(found[0], kind)
    assert words in found[1]
    assert len(part.asked) == 1


def test_a_connection_is_kept_and_a_closed_one_is_replaced() -> None:
    part = Part((200, {}, b'{"budgets": []}'))
    with playing(part) as url, behind(url) as ledger:
        ledger.budgets()
        kept = ledger._desk._idle[0]  # type: ignore[attr-defined]
        ledger.budgets()
        assert list(ledger._desk._idle) == [kept]  # type: ignore[attr-defined]
        kept.sock.shutdown(socket.SHUT_RDWR)
        ledger.budgets()
        assert list(ledger._desk._idle) != [kept]  # type: ignore[attr-defined]
    assert len(part.asked) == 3


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is sent: the token stays here. SSL_CERT_FILE names who vouches."""
    for folder, name in (("mine", "localhost"), ("other", "elsewhere.example")):
        (tmp_path / folder).mkdir()
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key", "-out", "certificate",
                   "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]  # fmt: skip
        subprocess.run(command, cwd=tmp_path / folder, check=True, capture_output=True)
    part = Part((200, {}, b'{"budgets": []}'))
    for folder, trusted in (("mine", False), ("mine", True), ("other", True)):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / folder / "certificate", tmp_path / folder / "key")
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / folder / "certificate"))
        with playing(part, context) as url, behind(url.replace("http://127.0.0.1", "https://localhost")) as ledger:
            if (folder, trusted) == ("mine", True):
                assert ledger.budgets() == ()
                continue
            assert error_of(ledger.budgets)[0] is tl.LedgerError
            assert "does not prove who it is" in error_of(ledger.budgets)[1]
    assert len(part.asked) == 1


def test_who_speaks_no_tls_is_told_nothing() -> None:
    part = Part((200, {}, b'{"budgets": []}'))
    with playing(part) as url, behind(url.replace("http://", "https://"), 0.1) as ledger:
        assert error_of(ledger.budgets)[0] is tl.Unavailable
    assert not part.asked


@pytest.mark.parametrize("url", [
    "http://ledger.example.org", "http://10.0.0.1:8765", "http://localhost.example.org", "https://", "https://:8765",
    "https://user:pass@ledger.example.org", "https://user@ledger.example.org", "https://ledger.example.org?token=x",
    "https://ledger.example.org#x", "https://ledger.example.org:99999", "https://a b", "https://[::1", "http://127.0.0.1.nip.io",
])  # fmt: skip
def test_addresses_that_no_token_goes_to(url: str) -> None:
    with pytest.raises(InvalidParameter) as info:
        tl.open(url, token=TOKEN)
    assert TOKEN not in str(info.value)
    assert "pass" not in str(info.value).replace("password", "")


def test_addresses_that_one_does_go_to() -> None:
    assert place("https://ledger.example.org/team/").shown == "https://ledger.example.org/team"
    assert place("http://localhost:8765").shown == "http://localhost:8765"
    assert place("http://[::1]:8765").shown == "http://[::1]:8765"
    assert place("http://127.0.0.2").shown == "http://127.0.0.2"


@pytest.mark.parametrize("token", [None, "", "two words", "two\nlines", " \n", "é", "x" * 201])
def test_what_is_no_token_is_not_sent(token: str | None) -> None:
    with pytest.raises(InvalidParameter) as info:
        tl.open("http://127.0.0.1:1", token=token)
    assert token is None or not token.strip() or token not in str(info.value)


def test_the_end_of_a_files_line_is_no_part_of_a_token() -> None:
    part = Part((200, {}, b'{"budgets": []}'))
    with playing(part) as url, tl.open(url, token=f" {TOKEN}\r\n"):
        pass
    assert [asked[2]["authorization"] for asked in part.asked] == [f"Bearer {TOKEN}"]


def test_a_token_is_not_shown_and_goes_to_workers() -> None:
    desk = RemoteService("https://ledger.example.org", TOKEN, ["census:3:" + "0" * 64])
    assert TOKEN not in repr(desk) + str(desk) + repr(Ledger(desk))
    again: RemoteService = pickle.loads(pickle.dumps(desk))
    assert again._token == TOKEN
    assert again._shown() == desk._shown()


def test_requests_as_they_are_written() -> None:
    assert addressed("status", {"name": "a/b c", "job": "x+y", "slack": None})[1] == "/v1/budgets/a%2Fb%20c?job=x%2By"
    assert addressed("claim", {"reservation": "1", "ttl": 5})[1:] == ("/v1/reservations/1/claim", b'{"ttl": 5}')
    assert wire.written_key("table 7") == "table 7"
    assert wire.written_key(" x") == "UTF-8''%20x"
    assert wire.written_key("UTF-8''x") == "UTF-8''UTF-8%27%27x"
    assert wire.written_key("é") == "UTF-8''%C3%A9"


@pytest.mark.parametrize("key", ["table 7", " x ", "UTF-8''x", "é", "100%", "𝄞" * 200, "x" * 200])
def test_a_key_is_read_as_it_was_written(key: str) -> None:
    assert wire.read_key(wire.written_key(key)) == key


@pytest.mark.parametrize("key", ["", "x" * 201, "two\nlines", "\ud800", "\x7f"])
def test_what_is_no_key_is_none(key: str) -> None:
    assert wire.read_key(wire.written_key(key)) is None


def test_every_request_has_an_address_but_for_those_of_the_holder() -> None:
    holders = {"freeze", "recover", "export", "token", "tokens", "rotate", "revoke", "expire", "clock"}
    assert set(wire.ADDRESSES) == {*operations.READS, *operations.WRITES} - holders
